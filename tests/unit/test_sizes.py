"""Sizes as a person writes them, in the sense of QEMU."""

from __future__ import annotations

import pytest

from firstlight.errors import UsageError
from firstlight.quantities import parse_size

MIB = 1 << 20


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512 * MIB), ("512M", 512 * MIB), ("512MiB", 512 * MIB), ("1.5G", 1536 * MIB), ("1T", 1 << 40),
     ("1048576B", MIB), ("1048576b", MIB), ("64k", 64 << 10), (" 2 GB ", 2048 * MIB)],
)  # fmt: skip
def test_a_bare_number_is_mebibytes_and_units_are_powers_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_bytes_without_their_unit_are_not_taken_for_mebibytes() -> None:
    with pytest.raises(UsageError, match="a bare number is MiB") as error:
        parse_size("536870912")
    assert error.value.hint == "`536870912B` is bytes"


@pytest.mark.parametrize("text", ["", "lots", "-1M", "0", "0M", "1X", "M", "1e9", "iB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)

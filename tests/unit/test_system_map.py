"""A kernel that does not tell its symbols: its System.map does, when it is this kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.kernel.system_map import chosen_symbols, has_addresses, system_map
from invented_image import elf

BANNER = 0xFFFFFFFF81000100
MAP = "".join(f"{0xFFFFFFFF81000000 + 16 * each:016x} T function_{each}\n" for each in range(200))
OWN = f"{MAP}{BANNER:016x} R linux_banner\n".encode()


def kernel(folder: Path, release: str = "6.1.0-test") -> Kernel:
    """A kernel whose image has its banner where the map says."""
    path = folder / "vmlinux"
    path.write_bytes(elf({BANNER: b"Linux version 6.1.0-test (somebody) #1\0"}))
    return Kernel(path, "digest", release, None, None, is_elf=True)


@pytest.mark.parametrize("name", ["System.map", "System.map-6.1.0-test"])
def test_the_map_beside_a_kernel_is_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(OWN)
    assert system_map(kernel(tmp_path)) == OWN


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ffffffffffffffff B The real System.map is in the linux-image-dbg package\n",
        MAP.encode(),
        OWN.replace(f"{BANNER:016x}".encode(), f"{BANNER + 1:016x}".encode()),
        OWN.replace(f"{BANNER:016x}".encode(), b"no number here!!"),
    ],
)
def test_a_map_that_is_not_this_kernels_is_not_taken(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "System.map").write_bytes(content)
    assert system_map(kernel(tmp_path)) is None


@pytest.mark.parametrize("start", ["_text", "_start"])
def test_the_map_beside_an_image_that_is_not_packed_is_taken(tmp_path: Path, start: str) -> None:
    path = tmp_path / "Image"
    path.write_bytes(bytes(0x100) + b"Linux version 6.1.0-test (somebody) #1\0" + bytes(0x1000))
    image = Kernel(path, "digest", "6.1.0-test", None, None)
    own = OWN + f"{BANNER - 0x100:016x} T {start}\n".encode()
    (tmp_path / "System.map").write_bytes(own)
    assert system_map(image) == own
    for other in (OWN, own.replace(f"{BANNER:016x}".encode(), f"{BANNER + 8:016x}".encode())):
        (tmp_path / "System.map").write_bytes(other)
        assert system_map(image) is None


def test_a_map_of_another_release_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "System.map").write_bytes(OWN)
    assert system_map(kernel(tmp_path, release="6.1.0-other")) is None


def test_symbols_without_addresses_are_none() -> None:
    assert has_addresses(OWN)
    assert not has_addresses(b"".join(b"0" * 16 + line[16:] for line in OWN.splitlines(keepends=True)))


BOUNDS = b"ffffffff81000000 T _stext\nffffffff82000000 D _etext\n"


def test_symbols_that_do_not_say_where_the_code_begins_are_replaced_by_the_map_beside_the_kernel(
    tmp_path: Path,
) -> None:
    assert chosen_symbols(kernel(tmp_path), MAP.encode() + BOUNDS) == MAP.encode() + BOUNDS
    (tmp_path / "System.map").write_bytes(OWN + BOUNDS)
    for printed in (b"", MAP.encode()):
        assert chosen_symbols(kernel(tmp_path), printed) == OWN + BOUNDS


def test_symbols_without_bounds_of_the_code_are_an_error_with_the_remedy(tmp_path: Path) -> None:
    assert chosen_symbols(kernel(tmp_path), b"") is None
    with pytest.raises(LabError, match="do not say where its code begins and ends: they lack `_stext`") as caught:
        chosen_symbols(kernel(tmp_path), MAP.encode())
    assert caught.value.hint == "put the kernel's own complete `System.map` next to it, or record with `--no-profile`"
    (tmp_path / "System.map").write_bytes(OWN + BOUNDS.splitlines(keepends=True)[0])
    with pytest.raises(LabError, match="do not say where its code begins and ends"):
        chosen_symbols(kernel(tmp_path), b"")

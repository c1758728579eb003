"""Boots of one recipe, file by file."""

from __future__ import annotations

import filecmp
from pathlib import Path

from firstlight.lab.run.table_diff import first_difference

#: What the guest itself printed and reported.
OF_GUEST = ("raw/console.log", "raw/report.bin")


def assert_equal(one: Path, other: Path) -> None:
    """All tables, the manifest, the console and the report of two bundles are the same bytes."""
    _same(one, other, [*(file.name for file in one.glob("*.parquet")), "manifest.json", *OF_GUEST])


def assert_undisturbed(one: Path, other: Path) -> None:
    """The guest saw and said the same in two bundles, whatever was recorded of it."""
    _same(one, other, list(OF_GUEST))


def _same(one: Path, other: Path, files: list[str]) -> None:
    _, different, missing = filecmp.cmpfiles(one, other, files, shallow=False)
    said = [_difference(one, other, name) for name in different] + [f"{name} is missing" for name in missing]
    assert not said, f"{one} and {other} differ:\n" + "\n".join(said)


def _difference(one: Path, other: Path, name: str) -> str:
    """The first thing that differs, so that a failure that never comes again can be understood."""
    if name.endswith(".parquet"):
        found = first_difference(one, other, name.removesuffix(".parquet"))
        return f"{name}: {'other bytes of equal rows' if found is None else found.describe()}"
    first, second = (folder / name for folder in (one, other))
    rows = [file.read_bytes().split(b"\n") for file in (first, second)]
    number = next((index for index, pair in enumerate(zip(*rows, strict=False)) if pair[0] != pair[1]), None)
    if number is None:
        longer = max(rows, key=len)
        number = min(map(len, rows))
        return f"{name}: {len(rows[0])} and {len(rows[1])} lines; the first more is {longer[number]!r}"
    return f"{name}: line {number + 1}: {rows[0][number][:500]!r} and {rows[1][number][:500]!r}"

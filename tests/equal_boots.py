"""Boots of one recipe, file by file."""

from __future__ import annotations

import filecmp
from pathlib import Path

#: What the guest itself printed and reported.
OF_GUEST = ("raw/console.log", "raw/report.bin")


def assert_equal(one: Path, other: Path) -> None:
    """All tables, the manifest, the console and the report of two bundles are the same bytes."""
    _same(one, other, [*(file.name for file in one.glob("*.parquet")), "manifest.json", *OF_GUEST])


def assert_undisturbed(one: Path, other: Path) -> None:
    """The guest saw and said the same in two bundles, whatever was recorded of it."""
    _same(one, other, list(OF_GUEST))


def _same(one: Path, other: Path, files: list[str]) -> None:
    assert filecmp.cmpfiles(one, other, files, shallow=False) == (files, [], [])

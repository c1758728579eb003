"""The boots that a person names: bundles, or directories of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.boot.boot import Boot
from firstlight.boot.open import open as open_boot


def open_all(paths: Sequence[Path]) -> list[Boot]:
    """Open bundles; a directory that is no bundle stands for those right below it, in the order of their names.

    :raises BundleError: when something is no bundle, or is damaged.

    >>> len(open_all([bundle])), len(open_all([bundle.parent])) >= 1
    (1, True)
    """
    boots = []
    for path in paths:
        inside = [] if (path / "manifest.json").exists() or not path.is_dir() else _bundles(path)
        boots += [open_boot(each) for each in inside or [path]]
    return boots


def _bundles(directory: Path) -> list[Path]:
    """Hidden ones are still being written."""
    return sorted(each for each in directory.glob("*.boot") if each.is_dir() and not each.name.startswith("."))

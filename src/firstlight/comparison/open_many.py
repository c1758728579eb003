"""The boots that the user names: bundles, or directories of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.sides.input_changes import recipe_changes
from firstlight.errors import UsageError
from firstlight.quantities import joined
from firstlight.recipe.mode import RecordMode


def open_all(paths: Sequence[Path]) -> list[Boot]:
    """Open bundles; a directory that is not a bundle stands for those right below it, in the order of their names.

    :raises BundleError: when something is not a bundle, or is damaged.

    >>> len(open_all([bundle])), len(open_all([bundle.parent])) >= 1
    (1, True)
    """
    boots = []
    for path in paths:
        inside = [] if (path / "manifest.json").exists() or not path.is_dir() else _bundles(path)
        boots += [open_boot(each) for each in inside or [path]]
    return boots


def check_one_recipe(first: Boot, other: Boot, hint: str) -> None:
    """Check that two boots are of one recipe: the inputs were not recorded of what was imported, all else says.

    :raises UsageError: naming every input in which they differ.

    >>> boot = open_boot(bundle)
    >>> check_one_recipe(boot, boot, "")
    """
    if first.manifest.mode == other.manifest.mode == RecordMode.IMPORTED:
        return
    if changes := recipe_changes(first.manifest, other.manifest):
        names = joined([f"`{each.name}`" + (f" ({each.detail})" if each.detail else "") for each in changes], 5)
        message = f"not of the same recipe as `{first.directory.name}`: they differ in {names}"
        raise UsageError(message, where=str(other.directory), hint=hint)


def _bundles(directory: Path) -> list[Path]:
    """Hidden ones are still being written."""
    return sorted(each for each in directory.glob("*.boot") if each.is_dir() and not each.name.startswith("."))

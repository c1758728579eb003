"""Programs and libraries that a guest executed, taken from what it was booted from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from firstlight import _core
from firstlight.debug_files import DebugFiles, debug_files
from firstlight.errors import LabError
from firstlight.lab.rootfs.archive_members import initramfs_members
from firstlight.lab.rootfs.ext4 import copy_out, is_ext
from firstlight.recipe.recipe import Recipe


@dataclass(frozen=True)
class GuestCode:
    """The files of one recording; the engine asks for them."""

    files: dict[tuple[str, int], Path]
    debug: DebugFiles

    def file(self, path: str, size: int) -> str | None:
        """A file of the guest by its path and size."""
        found = self.files.get((path, size))
        return None if found is None else str(found)

    def debug_file(self, path: str, build_id: str) -> str | None:
        """The file with the symbols of another one."""
        found = self.debug.find(path, build_id)
        return None if found is None else str(found)


@contextmanager
def guest_code(recipe: Recipe, profile: Path) -> Iterator[GuestCode | None]:
    """The files that the user code of a profile stands in, from the guest's root file system and initramfs.

    A file counts as the one that was executed when path and size are equal. Where user code was not followed there is
    nothing to look for.

    :raises FirstlightError: when the profile is damaged.
    """
    if not recipe.chosen.user_functions:
        yield None
        return
    wanted = dict(_core.code_files(str(profile)))
    with tempfile.TemporaryDirectory(prefix="firstlight-code-") as name:
        folder = Path(name)
        found: dict[tuple[str, int], Path] = {}
        for copied in _copies(recipe, sorted(wanted), folder):
            for path, file in copied.items():
                if file.stat().st_size == wanted[path]:
                    found.setdefault((path, wanted[path]), file)
        yield GuestCode(found, debug_files(recipe.chosen.symbols))


def _copies(recipe: Recipe, paths: list[str], folder: Path) -> Iterator[dict[str, Path]]:
    image = recipe.image
    try:
        if image is not None and is_ext(image.path):
            (folder / "image").mkdir()
            yield copy_out(image.path, paths, folder / "image")
    except LabError:
        # Functions of its files stay without names.
        pass
    if recipe.files.initrd is not None:
        (folder / "initramfs").mkdir()
        yield initramfs_members(recipe.files.initrd, paths, folder / "initramfs")

"""Files that a plan changes in the guest, as a directory that is laid over it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from firstlight.cache import digest_of, entry, file_digest
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.experiment.change import FileChange
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.lab.rootfs.overlay import WHITEOUT
from firstlight.lab.rootfs.tree import tree_digest

_VERSION = "1"


def overlay_for(files: Mapping[str, FileChange], folder: Path) -> Path | None:
    """The directory that makes these changes when it is laid over a guest; `None` when there are none.

    The same changes have the same directory, in the cache: all its times are those of the guest's clock.

    :param files: changes by the path in the guest.
    :param folder: where the plan is: its relative paths begin there.
    :raises LabError: when a file that is to be copied cannot be read, or two changes are in each other's way.
    """
    if not files:
        return None
    parts = [_VERSION]
    for path, change in sorted(files.items()):
        parts += [path, change.model_dump_json(), _digest(change, folder)]
    made = entry("overlays", digest_of(*parts), lambda directory: _make(files, folder, directory / "overlay"))
    return made / "overlay"


def _digest(change: FileChange, folder: Path) -> str:
    if change.source is None:
        return ""
    source = folder / change.source
    if source.is_dir():
        return tree_digest(source)
    if not source.is_file():
        what = "not a regular file" if source.exists() else "there is no such file"
        raise LabError(what, where=str(source), exit_code=MISSING_INPUT)
    return file_digest(source) + oct(source.stat().st_mode)


def _make(files: Mapping[str, FileChange], folder: Path, overlay: Path) -> None:
    overlay.mkdir()
    for path, change in sorted(files.items()):
        place = overlay / path.lstrip("/")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _put(change, folder, place)
        except OSError as error:
            raise LabError(f"two changes of files conflict: {error.strerror}", where=path) from error
    for path_ in [*overlay.rglob("*"), overlay]:
        os.utime(path_, (EPOCH, EPOCH), follow_symlinks=False)


def _put(change: FileChange, folder: Path, place: Path) -> None:
    if change.remove:
        place.with_name(f"{WHITEOUT}{place.name}").touch()
    elif change.link is not None:
        place.symlink_to(change.link)
    elif change.text is not None:
        place.write_text(change.text, encoding="utf-8")
        place.chmod(0o644)
    elif change.source is not None:
        source = folder / change.source
        if source.is_dir():
            shutil.copytree(source, place, symlinks=True)
        else:
            shutil.copyfile(source, place)
            place.chmod(source.stat().st_mode & 0o777)
    if change.mode is not None:
        place.chmod(int(change.mode, 8))

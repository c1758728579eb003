"""Files laid over those of a guest: a directory, in which `.wh.NAME` removes NAME.

The names of removed files are those of the container images' layers (OCI image specification, "Whiteouts").
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.lab.rootfs.newc import Archive

WHITEOUT = ".wh."
_LINKS_AT_MOST = 40
_TEXT_BYTES = 1 << 20
_TEXTS_BYTES = 16 << 20


def check_overlay(overlay: Path) -> None:
    """Check that an overlay is a directory of files, directories and links.

    :raises LabError: when it is none, or holds something else.
    """
    if not overlay.is_dir():
        what = "not a directory" if overlay.exists() else "there is no such directory"
        raise LabError(what, where=str(overlay), hint="an overlay is a directory", exit_code=MISSING_INPUT)
    for path in _members(overlay):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            raise LabError("an overlay holds files, directories and links only", where=str(path))
        if path.name in (WHITEOUT, f"{WHITEOUT}.", f"{WHITEOUT}.."):
            raise LabError("the name of a removed file is missing", where=str(path))


def texts(overlay: Path) -> str:
    """What the files of an overlay say, of at most 1 MiB each and 16 MiB together; larger ones are no scripts."""
    found, left = [], _TEXTS_BYTES
    for path in _members(overlay):
        if path.is_symlink() or not path.is_file() or (size := path.stat().st_size) > min(_TEXT_BYTES, left):
            continue
        left -= size
        found.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(found)


def settle(overlay: Path) -> None:
    """Give everything in an overlay that was just written the date of all that Firstlight makes, and usual rights.

    Both come into the guest, so that the same files of another day, or under another umask, would be another image.
    """
    for path in sorted(overlay.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def apply_overlay(overlay: Path, tree: Path) -> None:
    """Lay an overlay over a tree, which is changed; what it holds then belongs to root.

    A link of the tree is followed as the guest would follow it: nothing outside of the tree is reached.

    :raises LabError: when something is in the way, or what is to be removed is not there.
    """
    for path in _members(overlay):
        shown = path.relative_to(overlay)
        place = _inside(tree, shown.parent) / shown.name
        if path.name.startswith(WHITEOUT):
            _remove(place.with_name(path.name.removeprefix(WHITEOUT)), path)
        elif path.is_symlink():
            _clear(place, path)
            place.symlink_to(path.readlink())
            _own(place, path)
        elif path.is_dir():
            place = _inside(tree, shown)
            if not place.is_dir():
                _clear(place, path)
                place.mkdir()
                place.chmod(stat.S_IMODE(path.stat().st_mode))
                _own(place, path)
        else:
            _clear(place, path)
            shutil.copyfile(path, place)
            place.chmod(stat.S_IMODE(path.stat().st_mode))
            _own(place, path)
        # That something was written below it is not a date of the guest's.
        os.utime(place.parent, (EPOCH, EPOCH))


def add_overlay(overlay: Path, archive: Archive) -> None:
    """Put an overlay into an initramfs of ours.

    :raises LabError: when it would replace or remove what Firstlight put there.
    """
    for path in _members(overlay):
        name = str(path.relative_to(overlay))
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.name.startswith(WHITEOUT):
            hint = "pass a root file system with `--rootfs` to remove files from"
            raise LabError("nothing can be removed from Firstlight's minimal guest", where=str(path), hint=hint)
        try:
            if path.is_symlink():
                archive.link(name, str(path.readlink()))
            elif not path.is_dir():
                archive.file(name, path.read_bytes(), mode)
            elif name not in archive.paths():
                archive.directory(name, mode)
        except ValueError as error:
            raise LabError(f"this cannot be put into the minimal guest: {error}", where=str(path)) from error


def _members(overlay: Path) -> Iterator[Path]:
    """Everything in an overlay, sorted, directories before what is in them."""
    for folder, directories, files in os.walk(overlay):
        directories.sort()
        links = [name for name in directories if (Path(folder) / name).is_symlink()]
        directories[:] = [name for name in directories if name not in links]
        for name in sorted((*directories, *files, *links)):
            yield Path(folder) / name


def _inside(tree: Path, path: Path) -> Path:
    """Where a path of the guest is in a tree on the host; a link that leads out of the tree leads to its top."""
    parts = list(path.parts)
    current = tree
    followed = 0
    while parts:
        part = parts.pop(0)
        if part in ("", ".", "/"):
            continue
        if part == "..":
            current = current.parent if current != tree else tree
            continue
        below = current / part
        if below.is_symlink():
            followed += 1
            if followed > _LINKS_AT_MOST:
                raise LabError("links that lead in a circle", where=str(path))
            target = below.readlink()
            current = tree if target.is_absolute() else current
            parts[:0] = target.parts
            continue
        current = below
    return current


def _remove(place: Path, path: Path) -> None:
    if not os.path.lexists(place):
        raise LabError(f"`{place.name}` cannot be removed: it does not exist", where=str(path))
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def _clear(place: Path, path: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        raise LabError("the guest has a directory here", where=str(path), hint="remove it with a `.wh.` file first")
    if os.path.lexists(place):
        place.unlink()


def _own(place: Path, path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(place, 0, 0, follow_symlinks=False)
    time = int(path.lstat().st_mtime)
    os.utime(place, (time, time), follow_symlinks=False)

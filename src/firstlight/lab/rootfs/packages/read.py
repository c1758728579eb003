"""Finds the package database of a root file system: a directory, a tar or an ext2, ext3 or ext4 image."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.rootfs.archive import copy_members, is_archive
from firstlight.lab.rootfs.ext4 import check_image, copy_files
from firstlight.lab.rootfs.packages.owners import Owners
from firstlight.lab.rootfs.packages.rpm import rpm
from firstlight.lab.rootfs.packages.text_databases import apk, dpkg, opkg, pacman


class _Database(NamedTuple):
    """Where a package manager has its database."""

    place: str
    folders: tuple[str, ...]
    """What of it is read: the files in these folders of it."""
    depth: int
    read: Callable[[Path], Owners]


_DATABASES = (
    _Database("var/lib/dpkg", ("", "info"), 1, dpkg),
    _Database("usr/lib/sysimage/rpm", ("",), 1, rpm),
    _Database("var/lib/rpm", ("",), 1, rpm),
    _Database("usr/lib/apk/db", ("",), 1, apk),
    _Database("lib/apk/db", ("",), 1, apk),
    _Database("usr/lib/opkg", ("", "info"), 1, opkg),
    _Database("var/lib/opkg", ("", "info"), 1, opkg),
    _Database("var/lib/pacman", ("local",), 2, pacman),
)


def package_owners(root: Path) -> Owners | None:
    """The owners of a root's files; nothing where it has no package database that is known.

    :param root: a directory, a tar, or an ext2, ext3 or ext4 image.
    :raises LabError: when it cannot be read, or is something else.
    """
    if root.is_dir():
        inside = root.resolve()
        places = ((each, (inside / each.place).resolve()) for each in _DATABASES)
        return _first((each, place) for each, place in places if place.is_relative_to(inside))
    if not root.is_file():
        raise LabError("there is no such root file system", where=str(root), exit_code=MISSING_INPUT)
    with tempfile.TemporaryDirectory(prefix="firstlight-packages-") as folder:
        copied = Path(folder)
        if is_archive(root):
            copy_members(root, [each.place for each in _DATABASES], copied)
            return _first((each, copied / each.place) for each in _DATABASES)
        check_image(root)
        return _first(_from_image(root, copied))


def _first(places: Iterable[tuple[_Database, Path]]) -> Owners | None:
    for database, place in places:
        if place.is_dir() and (owners := database.read(place)).files:
            return owners.without_folders()
    return None


def _from_image(image: Path, to: Path) -> Iterator[tuple[_Database, Path]]:
    for database in _DATABASES:
        for folder in database.folders:
            target = to / database.place / folder
            target.mkdir(parents=True, exist_ok=True)
            copy_files(image, str(PurePosixPath("/", database.place, folder)), target, database.depth)
        yield database, to / database.place

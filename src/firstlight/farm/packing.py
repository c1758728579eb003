"""A directory as one tar file with the same bytes on every machine, and the safe way back."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from firstlight.errors import LabError

_MOST_FILES = 500_000
_MOST_BYTES = 16 << 30


def pack(directory: Path, target: Path) -> None:
    """Write a directory as a tar file: sorted, without owners and times.

    :raises LabError: when it contains anything but files, directories and symbolic links.
    :raises OSError: when it cannot be read or written.
    """
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in _below(directory):
            status = path.lstat()
            member = tarfile.TarInfo(path.relative_to(directory).as_posix())
            member.mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                member.type, member.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(member)
            elif stat.S_ISDIR(status.st_mode):
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            elif stat.S_ISREG(status.st_mode):
                member.size = status.st_size
                with path.open("rb") as file:
                    archive.addfile(member, file)
            else:
                raise LabError("this is not a file, directory or symbolic link", where=str(path))


def unpack(archive: Path, directory: Path) -> None:
    """Unpack a tar file of :func:`pack` into a directory; nothing is written outside it.

    :param directory: is made.
    :raises LabError: for an archive that is damaged, too large, or has paths outside the directory.
    """
    directory.mkdir(mode=0o700)
    made, links, total = {"": 0o700}, [], 0
    try:
        with tarfile.open(archive, "r:") as packed:
            for number, member in enumerate(packed):
                parts = member.name.split("/")
                above = "/".join(parts[:-1])
                total += member.size
                if number >= _MOST_FILES or total > _MOST_BYTES:
                    raise LabError("this archive is too large", where=str(archive))
                # Every directory on the way was made here: none is a link.
                if above not in made or not all(each not in ("", ".", "..") and "\0" not in each for each in parts):
                    raise LabError(f"this archive has a path outside it: `{member.name}`", where=str(archive))
                path = directory / member.name
                if member.isdir():
                    path.mkdir(mode=0o700)
                    made[member.name] = member.mode
                elif member.issym():
                    links.append((path, member.linkname))
                elif member.isreg():
                    _extract(packed, member, path)
                else:
                    raise LabError(
                        f"this is not a file, directory or link: `{member.name}`",
                        where=str(archive),
                    )
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise LabError(f"this archive is damaged: {error}", where=str(archive)) from error
    for path, linked in links:
        path.symlink_to(linked)
    for name, mode in sorted(made.items(), reverse=True):
        (directory / name).chmod(mode & 0o7777 if name else 0o700)


def _extract(packed: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = packed.extractfile(member)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if source is not None:
            shutil.copyfileobj(source, file, 1 << 20)
        os.fchmod(descriptor, member.mode & 0o7777)


def _below(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir(), key=lambda each: os.fsencode(each.name)):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)

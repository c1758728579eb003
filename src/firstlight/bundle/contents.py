"""What lies in a bundle: regular files and directories, and nothing that leads elsewhere."""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path

from firstlight.errors import BundleError

_MOST_FILES = 200_000
_DEEPEST = 64
#: Bytes of a manifest, and of a table, beyond which it is none.
LARGEST_MANIFEST = 256 << 20
LARGEST_TABLE = 8 << 30

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_contents(bundle: Path) -> None:
    """Make sure that whatever is opened below a bundle lies in it: a link could lead to any file, a pipe keeps its
    reader waiting, and a device may do anything when it is read.

    :raises BundleError: naming what is not a regular file, or too large for a table.

    >>> check_contents(bundle)
    """
    directories = [(str(bundle), 0)]
    count = 0
    while directories:
        directory, depth = directories.pop()
        if depth > _DEEPEST:
            raise _refused(directory, "its directories are nested too deeply")
        for entry, status in _entries(directory):
            count += 1
            if count > _MOST_FILES:
                raise _refused(bundle, f"it holds more than {_MOST_FILES:,} files")
            kind = stat.S_IFMT(status.st_mode)
            if kind == stat.S_IFDIR:
                directories.append((entry.path, depth + 1))
            elif kind in _KINDS:
                raise _refused(entry.path, f"this is {_KINDS[kind]}, but a bundle holds only regular files")
            elif status.st_size > LARGEST_TABLE and entry.name.endswith(".parquet"):
                raise _refused(entry.path, f"{status.st_size:,} bytes are too many for a table")


def read_regular(path: Path, largest: int) -> bytes:
    """Read a file of a bundle as a whole.

    :param largest: bytes; what is larger is not read.
    :raises BundleError: when it is not a regular file, or too large.
    :raises OSError: when it cannot be opened.
    """
    # A link is not followed, and a pipe not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(path, "this is not a regular file")
        if status.st_size > largest:
            raise _refused(path, f"{status.st_size:,} bytes are too many")
        # Asked for more, Python would make room for all of it first.
        return file.read(status.st_size)


def _entries(directory: str) -> list[tuple[os.DirEntry[str], os.stat_result]]:
    """What lies in a directory. Paths are texts here: an object for each takes longer than all else."""
    try:
        with os.scandir(directory) as entries:
            return [(entry, entry.stat(follow_symlinks=False)) for entry in itertools.islice(entries, _MOST_FILES + 1)]
    except OSError as error:
        raise BundleError(f"cannot be read: {error.strerror}", where=directory) from error


def _refused(path: str | os.PathLike[str], why: str) -> BundleError:
    hint = "no recording writes this: check where the bundle comes from"
    return BundleError(why, where=str(path), hint=hint)

"""Private copies of what is given, with their digests."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from firstlight.errors import is_full
from firstlight.ingest.files.limits import IngestError
from firstlight.ingest.files.names import readable

_CHUNK = 1 << 20
_FICLONE = 0x40049409
"""The ioctl that shares a file's blocks (Btrfs, XFS): a copy that costs nothing, and stays when the other changes."""


class Readable(Protocol):
    """Whatever gives bytes until it gives none."""

    def read(self, size: int = -1, /) -> bytes:
        """Some bytes; none at the end."""


@dataclass(frozen=True)
class Kept:
    """A file of which a copy was made."""

    path: Path
    sha256: str
    size_bytes: int


def keep_file(source: Path, target: Path) -> Kept:
    """Copy a file: its blocks are shared where the file system can, else they are copied. It is never linked, because
    what is linked changes with the other.

    :raises IngestError: when it cannot be read.
    """
    try:
        # Opening a pipe without a writer would block. Files of other kinds were rejected before.
        with os.fdopen(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as given:
            return keep_stream(given, target, clone=True)
    except OSError as error:
        if is_full(error):
            raise
        raise IngestError(
            f"cannot read: {error.strerror or error}", where=readable(str(source)), exit_code=2
        ) from error


def keep_stream(
    given: Readable, target: Path, *, clone: bool = False, check: Callable[[int], None] | None = None
) -> Kept:
    """Copy all that a stream gives.

    :param clone: the stream is a file, whose blocks may be shared.
    :param check: called with the size so far, to end what grows too far.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with target.open("xb") as copy:
        shared = clone and isinstance(given, io.IOBase) and _share(given, copy)
        while chunk := given.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if check is not None:
                check(size)
            if not shared:
                copy.write(chunk)
    return Kept(target, digest.hexdigest(), size)


def _share(given: io.IOBase, copy: IO[bytes]) -> bool:
    try:
        fcntl.ioctl(copy.fileno(), _FICLONE, given.fileno())
    except OSError:
        return False
    return True

"""The members of a tar, those behind a damaged header, too."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from firstlight.ingest.files.collected import LeftOut
from firstlight.ingest.files.copy import Readable
from firstlight.ingest.files.limits import Budget
from firstlight.ingest.files.names import readable, safe_name
from firstlight.ingest.unpack.salvage import CutOffError, Salvaged
from firstlight.ingest.unpack.tar_header import BLOCK, damaged_at, sound_header

#: Behind so many damaged places nothing more is looked for: to get over each takes time.
_MOST = 100


class _Stretch:
    """Members that follow one another, from *begin* to the end or to a header that cannot be read."""

    def __init__(self, file: IO[bytes], begin: int) -> None:
        self._file = file
        self.end = begin
        """Behind the last member that was read."""

    def members(self) -> Iterator[tuple[tarfile.TarInfo, Callable[[], Readable]]]:
        """Each member, and what opens it."""
        self._file.seek(self.end)
        try:
            with tarfile.open(fileobj=self._file, mode="r:", encoding="utf-8", errors="surrogateescape") as archive:
                while (member := archive.next()) is not None and member.size >= 0 and archive.offset > self.end:
                    self.end = archive.offset
                    yield member, self._opener(archive, member)
        except (tarfile.TarError, ValueError, OverflowError):
            # Of the header after the last member, or of one that belongs to it: its block shows what it is.
            return

    def _opener(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[], Readable]:
        def opened() -> Readable:
            sparse = archive.extractfile(member) if member.issparse() else None
            return sparse or _Content(self._file, member.offset_data, member.size)

        return opened


class _Content:
    """A member that stands in one piece."""

    def __init__(self, file: IO[bytes], at: int, size: int) -> None:
        self._file, self._at, self._end = file, at, at + size

    def read(self, size: int = -1, /) -> bytes:
        left = self._end - self._at
        self._file.seek(self._at)
        piece = self._file.read(left if size < 0 else min(size, left))
        if left and not piece:
            raise CutOffError("it is cut off")
        self._at += len(piece)
        return piece


def tar_members(path: Path, where: str, budget: Budget, left: LeftOut) -> Iterator[tuple[str, Salvaged]]:
    """The regular files of an uncompressed tar, one after the other; what is none, or points outside, is reported.

    Behind a damaged header it goes on with the next sound one. Of a member that is cut off the beginning is given.

    :param where: what an error names.
    :raises tarfile.ReadError: at the end, when something of it is damaged or missing.
    """
    size, begin, damaged = path.stat().st_size, 0, 0
    with path.open("rb") as file:
        while True:
            stretch = _Stretch(file, begin)
            for member, opened in stretch.members():
                # Before anything of it is looked at: a tar may name millions of nothing.
                budget.file(where)
                name = safe_name(member.name)
                if not member.isreg():
                    _leave_out(member, left)
                elif name is None:
                    left.outside(readable(member.name))
                else:
                    yield name, Salvaged(opened)
                if member.isreg() and not member.issparse() and member.offset_data + member.size > size:
                    raise tarfile.ReadError(f"it is truncated in `{readable(member.name)}`")
            if not damaged_at(file, stretch.end, budget, where):
                break
            damaged += 1
            sound = sound_header(file, stretch.end, budget, where) if damaged < _MOST else None
            if sound is None:
                raise tarfile.ReadError(f"{_damage(damaged)}: nothing after {'it' if damaged == 1 else 'them'} is read")
            begin = sound
    if damaged:
        raise tarfile.ReadError(f"{_damage(damaged)}: the content up to the next intact header is lost")
    # Behind the last member stands an empty block.
    if size < stretch.end + BLOCK:
        raise tarfile.ReadError("its end is missing, so there may have been more files")


def _damage(places: int) -> str:
    return "a header in it is damaged" if places == 1 else f"headers are damaged at {places} places"


def _leave_out(member: tarfile.TarInfo, left: LeftOut) -> None:
    """Tell of what holds no evidence; a hard link is another name of a member that is read."""
    if not member.isdir():
        kind = "is a link" if member.issym() or member.islnk() else "is not a regular file"
        left.nothing(readable(member.name), f"it {kind}")

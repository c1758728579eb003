"""The members of a zip whose directory, which stands at its end, is missing."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from firstlight.ingest.files.copy import Readable
from firstlight.ingest.unpack.salvage import CutOffError

_HEADER = struct.Struct("<4s5H3I2H")
_LOCAL = b"PK\x03\x04"
#: What stands behind the last member: the directory, and what belongs to it.
_BEHIND = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x08")
_STORED, _DEFLATED = 0, 8
_SIZE_FOLLOWS, _ENCRYPTED = 8, 1
_CHUNK = 1 << 16


@dataclass(frozen=True)
class ZipMember:
    """A member, by the directory, or by the header before it."""

    name: str
    encrypted: bool
    opened: Callable[[], Readable] | None
    """Opens its content; none when that cannot be read."""
    crc: int | None
    """None where it stands behind the content."""
    regular: bool = True


class _Content:
    """One member's content, read front to back; it ends where it says so, or where its length does."""

    def __init__(self, file: IO[bytes], begin: int, method: int, size: int) -> None:
        self._file, self._at, self._left = file, begin, size
        self._decoder = zlib.decompressobj(-15) if method == _DEFLATED else None
        self.end: int | None = None
        """Where what is packed ends, once all of it was read."""

    def read(self, size: int = -1, /) -> bytes:
        limit = _CHUNK if size < 0 else size
        if self._decoder is None:
            piece = self._packed(min(limit, self._left))
            self._left -= len(piece)
            if not piece and self._left:
                raise CutOffError("it is cut off")
            self.end = None if self._left else self._at
            return piece
        while self.end is None:
            given = self._decoder.unconsumed_tail or self._packed(1 << 13 if limit > 1 else 1)
            out = self._decoder.decompress(given, limit)
            if self._decoder.eof:
                self.end = self._at - len(self._decoder.unused_data)
            if out:
                return out
            if not given:
                raise CutOffError("it is cut off")
        return b""

    def _packed(self, size: int) -> bytes:
        self._file.seek(self._at)
        piece = self._file.read(size)
        self._at += len(piece)
        return piece


def torn_members(path: Path) -> Iterator[ZipMember]:
    """The members, folders among them, by the headers before each; the last may be cut.

    Where a member's length is unknown, and behind damage, the search continues at the next header.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        at: int | None = 0
        while at is not None:
            file.seek(at)
            head = file.read(_HEADER.size)
            if len(head) < _HEADER.size or head.startswith(_BEHIND):
                return
            magic, _, flags, method, _, _, crc, packed, _, name_bytes, extra_bytes = _HEADER.unpack(head)
            name = file.read(name_bytes)
            if magic != _LOCAL or len(name) < name_bytes:
                at = _next_header(file, at + 1)
                continue
            begin, has_sizes = at + _HEADER.size + name_bytes + extra_bytes, not flags & _SIZE_FOLLOWS
            contents: list[_Content] = []
            known = method == _DEFLATED or (method == _STORED and has_sizes)
            yield ZipMember(
                name=name.decode("utf-8", "surrogateescape"), encrypted=bool(flags & _ENCRYPTED),
                opened=_opener(contents, file, begin, method, packed) if known else None,
                crc=crc if has_sizes else None,
            )  # fmt: skip
            ends = [content.end for content in contents if content.end is not None]
            if has_sizes and begin + packed <= size:
                at = begin + packed
            elif ends:
                at = _behind_sizes(file, ends[0]) if not has_sizes else ends[0]
            else:
                at = _next_header(file, begin)


def _opener(opened: list[_Content], file: IO[bytes], begin: int, method: int, size: int) -> Callable[[], Readable]:
    def content() -> Readable:
        opened.append(_Content(file, begin, method, size))
        return opened[-1]

    return content


def _next_header(file: IO[bytes], at: int) -> int | None:
    """Where the next header may stand."""
    file.seek(at)
    before = b""
    while chunk := file.read(_CHUNK):
        found = (before + chunk).find(_LOCAL)
        if found >= 0:
            return at - len(before) + found
        at += len(chunk)
        before = (before + chunk)[-len(_LOCAL) + 1 :]
    return None


def _behind_sizes(file: IO[bytes], at: int) -> int:
    """Behind the check sum and lengths that follow a member; their mark may be left out."""
    file.seek(at)
    return at + (16 if file.read(4) == b"PK\x07\x08" else 12)

"""The members of a zip whose directory, which stands at its end, is missing."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from firstlight.intake.keep import Readable

_HEADER = struct.Struct("<4s5H3I2H")
_LOCAL = b"PK\x03\x04"
_STORED, _DEFLATED = 0, 8
_SIZE_FOLLOWS, _ENCRYPTED = 8, 1


class _Member:
    """One member's content, read front to back as far as it goes."""

    def __init__(self, file: IO[bytes], method: int, size: int) -> None:
        self._file, self._left = file, size
        self._decoder = zlib.decompressobj(-15) if method == _DEFLATED else None
        self.whole = False

    def read(self, size: int = -1) -> bytes:
        limit = 1 << 20 if size < 0 else size
        while not self.whole:
            if self._decoder is None:
                piece = self._file.read(min(limit, self._left))
                self._left -= len(piece)
                self.whole = self._left == 0
                return piece
            given = self._decoder.unconsumed_tail or self._file.read(1 << 16)
            if not given:
                return b""
            try:
                out = self._decoder.decompress(given, limit)
            except zlib.error:
                return b""
            if self._decoder.eof:
                self.whole = True
                self._file.seek(-len(self._decoder.unused_data), io.SEEK_CUR)
            if out:
                return out
        return b""


def torn_members(path: Path) -> Iterator[tuple[str, Readable]]:
    """Names and contents of the members, by the headers before each; the last may be cut.

    Ends where a header is damaged, where a member's length is told nowhere, and at a member that is encrypted.
    """
    with path.open("rb") as file:
        while len(head := file.read(_HEADER.size)) == _HEADER.size:
            magic, _, flags, method, _, _, _, packed, _, name_bytes, extra_bytes = _HEADER.unpack(head)
            name = file.read(name_bytes)
            file.seek(extra_bytes, io.SEEK_CUR)
            unknown = method not in (_STORED, _DEFLATED) or (method == _STORED and flags & _SIZE_FOLLOWS)
            if magic != _LOCAL or len(name) < name_bytes or flags & _ENCRYPTED or unknown:
                return
            begin = file.tell()
            if not name.endswith(b"/"):
                member = _Member(file, method, packed)
                yield name.decode("utf-8", "replace"), member
                if not member.whole:
                    return
            if not flags & _SIZE_FOLLOWS:
                file.seek(begin + packed)
            else:
                _skip_sizes(file)


def _skip_sizes(file: IO[bytes]) -> None:
    """Go over the check sum and lengths behind a member; their mark may be left out."""
    at = file.tell()
    file.seek(at + (16 if file.read(4) == b"PK\x07\x08" else 12))

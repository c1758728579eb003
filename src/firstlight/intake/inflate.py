"""Compressed files as far as they go: what is cut or damaged gives what comes before, and says so."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Any

import zstandard

#: What the libraries raise over damaged content.
_DAMAGE = (EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError, OSError, ValueError)
#: Compressed bytes that are looked at in one go: zstd cannot be told how much to give, and 1 KiB may become 32 MiB.
_PIECE = {"zst": 1 << 10}
_MOST = 1 << 20


def _decoders() -> dict[str, Callable[[], Any]]:
    return {
        "gz": lambda: zlib.decompressobj(31),
        "xz": lzma.LZMADecompressor,
        "bz2": bz2.BZ2Decompressor,
        "zst": lambda: zstandard.ZstdDecompressor().decompressobj(),
    }


class Inflating:
    """The content of a compressed file, as a stream for :func:`firstlight.intake.keep.keep_stream`.

    Streams that follow one another (as `cat a.gz b.gz` makes them) are one content.

    >>> import gzip, io
    >>> packed = io.BytesIO(gzip.compress(b"one line\\n" * 9)[:-8])
    >>> stream = Inflating(packed, "gz")
    >>> stream.read(100)[:9], stream.read(100), stream.damage
    (b'one line\\n', b'', 'it is cut off')
    """

    def __init__(self, packed: IO[bytes], kind: str) -> None:
        self.damage: str | None = None
        """What ended the content before its time; none while all is well."""
        self._packed, self._kind = packed, kind
        self._new = _decoders()[kind]
        self._decoder = self._new()
        self._rest, self._begun, self._over = b"", False, False

    def read(self, size: int = -1) -> bytes:
        """Some of the content; none at its end. At most *size* bytes, but for zstd."""
        limit = _MOST if size < 0 else size
        while not self._over:
            given = self._rest or self._packed.read(_PIECE.get(self._kind, 1 << 16))
            self._rest = b""
            if not given and self._hungry():
                self._over = True
                self.damage = "it is cut off" if self._begun else None
                break
            try:
                out = self._feed(given, limit)
            except _DAMAGE as error:
                self._over, self.damage = True, f"{error}"
                break
            if out:
                return out
        return b""

    def _hungry(self) -> bool:
        """Whether the decoder has nothing more to give of what it holds."""
        return bool(getattr(self._decoder, "needs_input", True))

    def _feed(self, given: bytes, limit: int) -> bytes:
        if not self._begun:
            # Between two streams padding may stand.
            given = given.lstrip(b"\0")
            if not given:
                return b""
            self._begun = True
        out = self._decoder.decompress(given) if self._kind == "zst" else self._decoder.decompress(given, limit)
        if self._decoder.eof:
            self._rest = self._decoder.unused_data
            self._decoder, self._begun = self._new(), False
        elif self._kind == "gz":
            self._rest = self._decoder.unconsumed_tail
        return bytes(out)

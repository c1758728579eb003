"""Compressed files as streams: their content, up to where they are cut or damaged."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Any

from firstlight.ingest.unpack.salvage import CutOffError
from firstlight.zstd import ZstdDecompressor

#: Compressed bytes that are read at once.
_PIECE = 1 << 13
_MOST = 1 << 20


def _decoders() -> dict[str, Callable[[], Any]]:
    return {
        "gz": lambda: zlib.decompressobj(31),
        "xz": lzma.LZMADecompressor,
        "bz2": bz2.BZ2Decompressor,
        "zst": ZstdDecompressor,
    }


class Inflating:
    """The content of a compressed file, as a stream for :class:`firstlight.ingest.unpack.salvage.Salvaged`.

    Streams that follow one another (as `cat a.gz b.gz` makes them) are one content.

    >>> import gzip, io
    >>> stream = Inflating(io.BytesIO(gzip.compress(b"one line\\n" * 9)[:-8]), "gz")
    >>> stream.read(100)[:9]
    b'one line\\n'
    >>> stream.read(100)
    Traceback (most recent call last):
    firstlight.ingest.unpack.salvage.CutOffError: it is cut off
    """

    def __init__(self, packed: IO[bytes], kind: str) -> None:
        self._packed, self._kind = packed, kind
        self._new = _decoders()[kind]
        self._decoder = self._new()
        self._rest, self._begun = b"", False

    def read(self, size: int = -1, /) -> bytes:
        """Some of the content; none at its end. At most *size* bytes.

        :raises CutOffError: when the file ends before its content.
        :raises Exception: one of `DAMAGE`, when it is damaged; what it gave of this piece is lost then.
        """
        limit = _MOST if size < 0 else size
        while True:
            given, asked = self._rest, not self._rest and self._hungry()
            if asked:
                # Who wants a single byte looks for where damage begins.
                given = self._packed.read(_PIECE if limit > 1 else 1)
            out = self._feed(given, limit)
            if out:
                return out
            if asked and not given:
                if self._begun:
                    raise CutOffError("it is cut off")
                return b""

    def _hungry(self) -> bool:
        """Whether the decoder takes more, because it has nothing left to give of what it holds."""
        return bool(getattr(self._decoder, "needs_input", True))

    def _feed(self, given: bytes, limit: int) -> bytes:
        self._rest = b""
        if not self._begun:
            # Between two streams padding may stand.
            given = given.lstrip(b"\0")
            if not given:
                return b""
            self._begun = True
        out = self._decoder.decompress(given, limit)
        if self._decoder.eof:
            self._rest = self._decoder.unused_data
            self._decoder, self._begun = self._new(), False
        elif self._kind == "gz":
            self._rest = self._decoder.unconsumed_tail
        return bytes(out)

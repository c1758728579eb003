"""Streams that may be damaged, read as far as they go."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from firstlight.ingest.files.copy import Readable
from firstlight.ingest.unpack.compression import DAMAGE

_STEPS = (1 << 14, 1 << 7, 1)
"""Bytes asked for in one go. A library gives nothing at all of a piece with damage in it: that is read again in smaller
ones, by way of a middle size, because a hostile input may be damaged at thousands of places.
"""


class CutOffError(EOFError):
    """The stream ends too early; all before was given."""


class Salvaged:
    """A stream that ends where it is damaged, instead of raising, and says why.

    Where damage is met the stream is opened again, and the last piece taken byte by byte: so nothing sound is lost.

    :param opened: opens it, from its beginning; the same bytes each time.
    :param crc: the CRC-32 that its content should have, when that is known.

    >>> import io
    >>> stream = Salvaged(lambda: io.BytesIO(b"a line"), crc=1)
    >>> stream.read(), stream.read(), stream.damage
    (b'a line', b'', 'its check sum is wrong')
    """

    def __init__(self, opened: Callable[[], Readable], crc: int | None = None) -> None:
        self.damage: str | None = None
        """What ended the content before its time; none while all is well."""
        self._opened, self._expected = opened, crc
        self._stream: Readable | None = None
        self._given, self._crc = 0, 0
        self._steps, self._over = list(_STEPS), False

    def read(self, size: int = -1, /) -> bytes:
        """Some of the content; none at its end."""
        while not self._over:
            try:
                if self._stream is None:
                    self._stream = self._opened()
                    self._skip(self._stream)
                out = self._stream.read(self._steps[0] if size < 0 else min(self._steps[0], size))
            except DAMAGE as error:
                self._damaged(error)
                continue
            if out:
                self._given += len(out)
                if self._expected is not None:
                    self._crc = zlib.crc32(out, self._crc)
                return out
            self._over = True
            if self.damage is None and self._expected not in (None, self._crc):
                self.damage = "its check sum is wrong"
        return b""

    def _damaged(self, error: BaseException) -> None:
        if self.damage is None:
            self.damage = f"{error}" or type(error).__name__
        # What cannot even be opened, and what was taken byte by byte already, has nothing more to give.
        self._over = isinstance(error, CutOffError) or self._stream is None or len(self._steps) == 1
        self._stream = None
        if not self._over:
            del self._steps[0]

    def _skip(self, stream: Readable) -> None:
        """Go over what was given before the damage: in the same steps, so that the library does the same again."""
        left = self._given
        while left > 0:
            piece = stream.read(min(_STEPS[0], left))
            if not piece:
                raise EOFError("it ends earlier when it is read again")
            left -= len(piece)

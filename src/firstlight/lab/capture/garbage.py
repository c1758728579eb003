"""The share of what was read that is not text: much of it means a wrong baud rate."""

from __future__ import annotations

import codecs
import re

_NO_TEXT = re.compile(r"[^\t\n\r\x1b -~\xa0-\ufffc\ufffe-\U0010ffff]")
#: The rate is wrong if, from this many characters on, this share of them is not text.
_SOME = 64
_GARBAGE = 0.3


class Garbage:
    r"""Counts characters that are not text in UTF-8.

    >>> garbage = Garbage()
    >>> garbage.add("│ 欢迎 │\r\n".encode() * 100)
    >>> garbage.warning(115200)
    >>> garbage.add(bytes(range(128, 256)) * 100)
    >>> garbage.warning(115200)
    '94 % of the bytes are garbage: 115200 is probably not the baud rate'
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._characters = self._odd = 0

    def add(self, content: bytes) -> None:
        """Count what was read; a character may be in two pieces."""
        text = self._decoder.decode(content)
        self._characters += len(text)
        self._odd += len(_NO_TEXT.findall(text))

    def warning(self, baud: int | None) -> str | None:
        """What to say of it; nothing where it is text.

        :param baud: the rate of the port.
        """
        if self._characters < _SOME or self._odd <= _GARBAGE * self._characters:
            return None
        share = 100 * self._odd / self._characters
        return f"{share:.0f} % of the bytes are garbage: {baud or 'its rate'} is probably not the baud rate"

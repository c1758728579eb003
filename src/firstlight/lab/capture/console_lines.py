"""The lines of a console while it is read: the awaited one, and where a board starts again."""

from __future__ import annotations

import re

from firstlight._core import Pattern

#: The longest part of a line that is matched.
_MOST_LINE = 1 << 16
_STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?")
#: Terminal escapes (ECMA-48) and NUL bytes: an import takes them out of each line.
_UNSEEN = re.compile(
    rb"\x1b(?:\[[^\x40-\x7e]*[\x40-\x7e]?|[\]PX^_][^\x07\\]*[\x07\\]?|[ -/]+.?|[^\[\]PX^_ -/]|$)|\0", re.DOTALL
)
#: First lines of the stages of a start, in their order.
_STAGES = tuple(
    map(re.compile, (r"U-Boot TPL \d{4}", r"U-Boot SPL \d{4}", r"(?:U-Boot|barebox) \d{4}", r"Linux version \d"))
)
#: What may follow on an unfinished line.
_MORE = ("x~x~x~x~x~x~x~x", " ~ ~ ~ ~ ~ ~ ~ ~")


def seen_text(line: bytes) -> str:
    r"""A line as an import matches it: without terminal escapes, NUL bytes and carriage returns at its ends.

    >>> seen_text(b"\r[\x1b[0;32m  OK  \x1b[0m] Started \0sshd\r\r")
    '[  OK  ] Started sshd'
    """
    if b"\x1b" in line or b"\0" in line:
        line = _UNSEEN.sub(b"", line.rstrip(b"\r"))
    return line.strip(b"\r").decode(errors="replace")


class ConsoleLines:
    r"""Looks for the awaited line, and for starts of the board after the first.

    :param ready: the pattern of the awaited line.

    >>> lines = ConsoleLines(Pattern("ready$"))
    >>> lines.add(0, b"U-Boot 2024.01\napp: ready")
    >>> lines.ready_line is None
    True
    >>> lines.add(1, b"ing up\napp: ready\n")
    >>> lines.ready_line
    3
    """

    def __init__(self, ready: Pattern | None) -> None:
        self._ready = ready
        self.ready_line: int | None = None
        """The number of the awaited line since power-on, from 1."""
        self.restarts_s: list[float] = []
        """When the board started again, in seconds after power-on or the first byte."""
        self._begin_ns: int | None = None
        self._rest = b""
        self._lines = 0
        self._stage = -1

    def begin(self, time_ns: int) -> None:
        """Forget what was printed: the power is switched on at this instant."""
        self.ready_line, self._begin_ns = None, time_ns
        self._rest, self._lines, self._stage = b"", 0, -1

    def add(self, time_ns: int, content: bytes) -> None:
        """Add what was read. Of a line that has not ended, only a match that its rest cannot undo counts."""
        if self._begin_ns is None:
            self._begin_ns = time_ns
        *lines, rest = (self._rest + content).split(b"\n")
        self._rest = rest[:_MOST_LINE]
        for line in lines:
            self._lines += 1
            text = seen_text(line)
            self._find_start(text, time_ns)
            if self.ready_line is None and self._matches(text):
                self.ready_line = self._lines
        if self.ready_line is None and self._rest:
            text = seen_text(self._rest)
            if self._matches(text) and all(self._matches(text + more) for more in _MORE):
                self.ready_line = self._lines + 1

    def settle(self) -> bool:
        """Take the unfinished line as finished; returns whether the awaited line has come."""
        if self.ready_line is None and self._rest and self._matches(seen_text(self._rest)):
            self.ready_line = self._lines + 1
        return self.ready_line is not None

    def restart_texts(self) -> list[str]:
        """A sentence for each time that the board started again; of many, for the first three.

        >>> lines = ConsoleLines(None)
        >>> for second in range(3):
        ...     lines.add(second * 10**9, b"U-Boot SPL 2024.01\\nU-Boot 2024.01\\n")
        >>> lines.restart_texts()
        ['the board started again after 1.0 s', 'the board started again after 2.0 s']
        """
        texts = [f"the board started again after {seconds:.1f} s" for seconds in self.restarts_s[:3]]
        more = len(self.restarts_s) - len(texts)
        return [*texts, *([f"the board started again {more} more time{'s' if more > 1 else ''}"] if more else [])]

    def _find_start(self, text: str, time_ns: int) -> None:
        text = _STAMP.sub("", text)
        stage = next((place for place, first in enumerate(_STAGES) if first.match(text)), None)
        if stage is None:
            return
        if stage <= self._stage:
            self.restarts_s.append((time_ns - (self._begin_ns or 0)) / 1e9)
        self._stage = stage

    def _matches(self, text: str) -> bool:
        """Importing matches lines without the kernel's stamp."""
        if self._ready is None:
            return False
        stamp = _STAMP.match(text)
        return self._ready.matches(text) or (stamp is not None and self._ready.matches(text[stamp.end() :]))

"""The guest's console, read while it grows."""

from __future__ import annotations

import re
from pathlib import Path

PANIC = re.compile(rb"Kernel panic - not syncing")
HALTED = re.compile(rb"reboot: System halted")
"""The last message of a kernel that cannot power the machine off, such as with `acpi=off`."""
_LONGEST_LINE = 1 << 16
"""Bytes of an unfinished line that are looked at; a guest may print megabytes without a line end."""


class Console:
    """Follows the file that the console is written to, and looks for what ends a boot.

    :param path: the file; it need not be there yet.
    :param ready: a pattern on single lines, finished or not.
    """

    def __init__(self, path: Path, ready: str | None = None) -> None:
        self._path = path
        self._ready = re.compile(ready) if ready is not None else None
        self._offset = 0
        self._line = b""
        self.size = 0
        """Bytes so far."""
        self.panicked = False
        self.halted = False
        self.ready_line: str | None = None
        """The line that matched, once one did."""
        self.ready_offset: int | None = None
        """Bytes of console up to the end of that line, as far as it was printed when it was seen."""

    @property
    def at_line_end(self) -> bool:
        """Whether the last line is finished."""
        return not self._line

    def poll(self) -> bool:
        """Read what is new; whether there was anything."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                new = file.read(1 << 22)
        except OSError:
            return False
        if not new:
            return False
        start = self._offset - len(self._line)
        self._offset += len(new)
        self.size = self._offset
        *finished, rest = (self._line + new).split(b"\n")
        for line in finished:
            self.halted = self.halted or HALTED.search(line) is not None
            self._look(line, start + len(line))
            start += len(line) + 1
        self._look(rest, start + len(rest))
        self._line = rest[-_LONGEST_LINE:]
        return True

    def _look(self, line: bytes, end: int) -> None:
        if PANIC.search(line):
            self.panicked = True
        if self._ready is not None and self.ready_line is None:
            text = line.rstrip(b"\r").decode(errors="replace")
            if self._ready.search(text):
                self.ready_line, self.ready_offset = text, end


def panic_line(console: bytes) -> str:
    """The first panic in the last 400 lines of a console, without its timestamp; empty where there is none.

    >>> panic_line(b"[    1.5] Kernel panic - not syncing: no init\\r\\n")
    'Kernel panic - not syncing: no init'
    """
    found = next((line for line in last_lines(console, 400) if PANIC.search(line.encode())), "")
    return found.partition("] ")[2] or found


def last_lines(console: bytes, count: int = 20) -> list[str]:
    """The last lines of a console, without empty ones at the end.

    >>> last_lines(b"a\\r\\nb\\r\\n\\r\\n", 1)
    ['b']
    """
    lines = [line.rstrip("\r") for line in console[-(1 << 20) :].decode(errors="replace").split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines[-count:]

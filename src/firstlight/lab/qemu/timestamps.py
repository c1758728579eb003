"""The guest's output, with the host's time of each arrival."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO


@dataclass
class Line:
    """A line, without its end."""

    time_ns: int
    """When its first byte arrived."""
    text: bytes
    finished: bool = False


@dataclass
class Arrivals:
    """One stream: a named pipe that QEMU writes to, read at once and copied to a file as it came."""

    descriptor: int
    copy: BinaryIO
    origin_ns: int
    first_ns: int | None = None
    """When the first byte arrived."""
    size: int = 0
    lines: list[Line] = field(default_factory=list)

    def read(self) -> list[Line]:
        """Take what has arrived; the lines that grew."""
        try:
            new = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return []
        now = time.monotonic_ns() - self.origin_ns
        if self.first_ns is None:
            self.first_ns = now
        self.copy.write(new)
        self.copy.flush()
        self.size += len(new)
        return self.feed(new, now)

    def feed(self, new: bytes, now: int) -> list[Line]:
        """Split bytes that arrived at *now* (ns) into lines.

        >>> import io
        >>> arrivals = Arrivals(0, io.BytesIO(), 0)
        >>> _ = arrivals.feed(b"one\\r\\ntw", 10), arrivals.feed(b"o", 20)
        >>> [(line.time_ns, line.text, line.finished) for line in arrivals.lines]
        [(10, b'one', True), (10, b'two', False)]
        """
        grown = []
        for piece in _pieces(new):
            if not self.lines or self.lines[-1].finished:
                self.lines.append(Line(now, b""))
            line = self.lines[-1]
            line.finished = piece.endswith(b"\n")
            line.text += piece.rstrip(b"\n") if line.finished else piece
            if line.finished:
                line.text = line.text.rstrip(b"\r")
            grown.append(line)
        return grown


def _pieces(new: bytes) -> list[bytes]:
    *finished, rest = new.split(b"\n")
    return [piece + b"\n" for piece in finished] + ([rest] if rest else [])


@contextmanager
def named_pipe(pipe: Path, copy: Path, origin_ns: int) -> Iterator[Arrivals]:
    """Make a named pipe and read it; it is gone afterwards.

    Opened for reading and writing, so that it never ends while nobody has it open at the other side.
    """
    os.mkfifo(pipe, 0o600)
    descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        with copy.open("wb") as file:
            yield Arrivals(descriptor, file, origin_ns)
    finally:
        os.close(descriptor)
        pipe.unlink(missing_ok=True)

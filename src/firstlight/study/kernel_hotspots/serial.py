"""What a serial line of a stated rate adds to a boot: the emulated port takes every byte at once."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.boot.boot import Boot
from firstlight.study.kernel_hotspots.window import Window

#: What is stated where one rate is: the usual one of boards.
BAUD = 115_200
SLOW_BAUD = 9_600
#: Start bit, eight data bits, stop bit.
BITS = 10


@dataclass(frozen=True)
class Printed:
    """What went out of the console's port."""

    lines: int
    size: int
    """Bytes, line ends and all."""


def on_the_line_ns(size: int, baud: int) -> int:
    """How long so many bytes take on a serial line, in nanoseconds.

    >>> on_the_line_ns(11_520, 115_200)
    1000000000
    """
    return size * BITS * 1_000_000_000 // baud


def printed(boot: Boot, window: Window) -> Printed:
    """What was printed between the two marks, byte for byte.

    The bundle has the instant at which each line's first byte left; the bytes are those of the console as it was.
    """
    lines = (boot.path / "raw" / "console.log").read_bytes().splitlines(keepends=True)
    times = dict(boot.log().filter(boot.log()["source"] == "console").select("line", "time_ns").iter_rows())
    inside = [
        len(line)
        for number, line in enumerate(lines)
        if (time := times.get(number)) is not None and window.start_ns <= time < window.end_ns
    ]
    return Printed(len(inside), sum(inside))

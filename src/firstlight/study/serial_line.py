"""A serial line of a stated rate: the emulated port takes every byte at once, a real one does not."""

from __future__ import annotations

#: What is stated where one rate is: the usual one of boards.
BAUD = 115_200
SLOW_BAUD = 9_600
#: Start bit, eight data bits, stop bit.
BITS = 10


def on_the_line_ns(size: int, baud: int) -> int:
    """How long so many bytes take on a serial line, in nanoseconds.

    >>> on_the_line_ns(11_520, 115_200)
    1000000000
    """
    return size * BITS * 1_000_000_000 // baud

"""What devices cost that a kernel makes ahead of any need: the same kernel with more and fewer of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Population:
    """A kind of device, and the word that says how many there shall be."""

    key: str
    title: str
    word: str
    usual: int
    """As the lab's kernel has it."""
    counts: tuple[int, ...]
    """Tried beside it."""
    quick: tuple[int, ...]

    def arm(self, count: int) -> str:
        """The name of the arm with so many.

        >>> POPULATIONS[0].arm(64)
        'brd-64'
        """
        return f"{self.key}-{count}"

    def chosen(self, *, quick: bool) -> tuple[int, ...]:
        """The numbers that are tried."""
        return self.quick if quick else self.counts


#: As the lab's kernel is configured. A legacy terminal is a pair of devices.
POPULATIONS = (
    Population("brd", "RAM disks", "brd.rd_nr", 16, (0, 64, 256), ()),
    Population("loop", "loop devices", "loop.max_loop", 8, (1, 64, 128), ()),
    Population("uarts", "serial ports", "8250.nr_uarts", 4, (2, 16, 32), ()),
    Population("pty", "legacy pseudo-terminals", "pty.legacy_count", 0, (16, 64, 256), ()),
)

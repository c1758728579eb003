"""Bars, tracks of bars, and how bars that overlap are packed into lanes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from heapq import heappop, heappush
from typing import NamedTuple


class Look(IntEnum):
    """The colour and pattern of a bar; the values below :attr:`LIFE` are a series, by phase or by level."""

    LIFE = 8
    WORK = 9
    DEFERRED = 10
    WAITING = 11
    RUNNING = 12
    SYSTEM_CALL = 13
    OTHER = 14
    ARTEFACT = 15


#: How many looks the series of phases and levels has.
SERIES = 8


class Sign(IntFlag):
    """What a bar is marked with, in addition to its look."""

    NONE = 0
    CRITICAL = 16
    """It is on the critical path."""
    OPEN = 32
    """It did not end."""


class Bar(NamedTuple):
    """One span as it is drawn: times in nanoseconds of the boot's clock."""

    start_ns: int
    end_ns: int
    name: str
    look: int
    """A look, with signs added."""


@dataclass
class Track:
    """Bars under one label. The bars of a lane do not overlap."""

    group: str
    label: str
    lanes: list[list[Bar]]
    role: str = ""
    """What the page draws in its own way: `path`, `process`, `calls`, `queue`, `load`, `waits`."""
    parent: str | None = None
    """The label of the track that this one details. Its bars are not counted again."""
    note: str = ""
    """A figure next to the label."""
    left_out: int = 0
    """Bars that are too many for a page."""
    left_out_ns: int = 0
    beside: bool = False
    """Whether the lanes have space for labels beside short bars."""
    heights: list[int] = field(default_factory=list)
    """Of a queue, what each bar of its lane counts: the highest fills the lane. Of a load, the percentage: 100 does."""
    unsure: list[tuple[int, int]] = field(default_factory=list)
    """Instants between which a bar begins and the one before it ends, where records do not show when."""
    earlier: list[tuple[int, str]] = field(default_factory=list)
    """Of a process or thread, until when it had another name."""
    key: int | None = field(default=None, compare=False)
    """The number of the process."""


def packed(bars: Iterable[Bar], gap: int = 0) -> list[list[Bar]]:
    """Bars in as few lanes as they need. Each takes the first lane that is free.

    :param gap: time that a lane stays free behind a bar, in nanoseconds: space for its label.

    >>> a, b, c = Bar(0, 5, "a", 0), Bar(3, 9, "b", 0), Bar(6, 7, "c", 0)
    >>> [[bar.name for bar in lane] for lane in packed([c, b, a])]
    [['a', 'c'], ['b']]
    """
    lanes: list[list[Bar]] = []
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    for bar in sorted(bars):
        while busy and busy[0][0] <= bar.start_ns:
            heappush(free, heappop(busy)[1])
        if not free:
            lanes.append([])
            heappush(free, len(lanes) - 1)
        lane = heappop(free)
        lanes[lane].append(bar)
        heappush(busy, (bar.end_ns + gap, lane))
    return lanes

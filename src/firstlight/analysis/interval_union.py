"""Lengths of intervals that may overlap: what ran side by side counts once."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[int, int]
"""Start and end in nanoseconds."""


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The union of intervals as intervals apart from one another, in order; those that end before they start are left.

    >>> merged([(5, 9), (0, 2), (1, 3), (3, 4)])
    [(0, 4), (5, 9)]
    """
    union: list[Interval] = []
    for start, end in sorted(interval for interval in intervals if interval[1] >= interval[0]):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((start, end))
    return union


def union_ns(intervals: Iterable[Interval]) -> int:
    """The length of the union of intervals, in nanoseconds.

    >>> union_ns([(0, 10), (5, 20), (30, 31)])
    21
    """
    return sum(end - start for start, end in merged(intervals))


def clipped(intervals: Iterable[Interval], start: int, end: int) -> list[Interval]:
    """What of the intervals lies between two instants.

    >>> clipped([(0, 10), (20, 30)], 5, 22)
    [(5, 10), (20, 22)]
    """
    parts = ((max(begin, start), min(finish, end)) for begin, finish in intervals)
    return [part for part in parts if part[1] > part[0]]


def most_at_once(intervals: Iterable[Interval]) -> int:
    """How many intervals lie over one another at most; one that ends when another starts makes room for it.

    >>> most_at_once([(0, 10), (5, 20), (10, 12)])
    2
    """
    steps = sorted(step for start, end in intervals if end > start for step in ((start, 1), (end, -1)))
    most = now = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most

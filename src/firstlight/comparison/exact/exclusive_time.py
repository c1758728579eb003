"""Time of intervals that may overlap, each instant given to one owner: what is shared out so adds up."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise

from firstlight.analysis.interval_union import Interval


def exclusive_ns(intervals: Sequence[Interval]) -> list[int]:
    """What each interval owns, in nanoseconds: an instant belongs to the one that began last, of these to the shortest.

    What is called from within owns its time, and its caller the rest. The sum is the length of the union.

    :param intervals: start and end of each; one that ends before it starts owns nothing.

    >>> exclusive_ns([(0, 10), (2, 5), (4, 12), (20, 30), (7, 3)])
    [2, 2, 8, 10, 0]
    """
    owned = [0] * len(intervals)
    order = sorted(range(len(intervals)), key=lambda number: intervals[number])
    instants = sorted({instant for interval in intervals for instant in interval})
    running: list[tuple[int, int, int]] = []
    place = 0
    for at, until in pairwise(instants):
        while place < len(order) and intervals[order[place]][0] <= at:
            start, end = intervals[order[place]]
            heappush(running, (-start, end, order[place]))
            place += 1
        while running and running[0][1] <= at:
            heappop(running)
        if running:
            owned[running[0][2]] += until - at
    return owned

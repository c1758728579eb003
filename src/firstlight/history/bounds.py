"""Points and changes of a phase whose begin or end no record shows: a time is then known within bounds alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstlight.stats.change_points import ChangePoint


@dataclass(frozen=True)
class Point:
    """One commit or label, with its boots in nanoseconds."""

    at: str
    samples: tuple[int, ...]
    exact: bool = False
    anchored: bool = False
    """Recorded on another testbed, and scaled by the ratio of an anchor."""
    unsure: tuple[int, ...] = ()
    """How far each of the samples may be off, in nanoseconds; empty where all of them are known."""

    @property
    def level(self) -> int:
        """What the point took: of exact boots the last one's time, which some boot took; else the median.

        >>> Point("v1", (100, 110), exact=True).level, Point("v1", (100, 110)).level
        (110, 105)
        """
        return self.samples[-1] if self.exact else round(median(self.samples))

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which times the level lies.

        >>> Point("v1", (100, 110, 120), unsure=(0, 8, 50)).bounds
        (100, 118)
        """
        unsure = self.unsure or (0,) * len(self.samples)
        ends = [[max(0, ns + sign * off) for ns, off in zip(self.samples, unsure, strict=True)] for sign in (-1, 1)]
        low, high = (median(end) if not self.exact else end[-1] for end in ends)
        return low, high


def split_changes(
    points: Sequence[Point], changes: Sequence[ChangePoint]
) -> tuple[tuple[ChangePoint, ...], tuple[ChangePoint, ...]]:
    """The changes that hold wherever the phase began and ended within its bounds, and those that do not.

    A step or a creep holds where the bounds of both levels have no time in common. A change of the spread or of the
    slow mode is one of single boots, and holds only where every one is known.

    >>> from firstlight.stats.change_points import change_points
    >>> def held(off):
    ...     points = [Point(str(at), (ns,), unsure=(off,)) for at, ns in enumerate([100, 101, 99, 150, 151, 149])]
    ...     found = change_points([point.samples for point in points], exact=True)
    ...     return [len(each) for each in split_changes(points, found)]
    >>> held(0), held(30)
    ([1, 0], [0, 1])
    """
    edges = [0, *sorted({change.place for change in changes}), len(points)]
    sure: list[ChangePoint] = []
    unsure: list[ChangePoint] = []
    for change in changes:
        place = edges.index(change.place)
        before, after = points[edges[place - 1] : change.place], points[change.place : edges[place + 1]]
        (sure if _holds(change, before, after) else unsure).append(change)
    return tuple(sure), tuple(unsure)


def _holds(change: ChangePoint, before: Sequence[Point], after: Sequence[Point]) -> bool:
    if not any(any(point.unsure) for point in (*before, *after)):
        return True
    if change.kind not in ("step", "creep") or not before or not after:
        return False
    lows, highs = ([median(point.bounds[end] for point in arm) for arm in (before, after)] for end in (0, 1))
    return lows[1] > highs[0] or highs[1] < lows[0]

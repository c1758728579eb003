"""Change points: every change of an exact series, the confirmed ones of a noisy series."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

import numpy as np

Size = Literal["very small", "small", "medium", "large", "very large"]

_SIZES: tuple[Size, ...] = ("very small", "small", "medium", "large", "very large")

#: A change is significant beyond the fence: from so many earlier changes on theirs, else this share.
FENCE_CHANGES = 30
DEFAULT_FENCE = 0.002

#: Below it a change is very small whatever the fence.
_SMALLEST = 0.0001

#: Of noisy series: a split is confirmed below this probability, and above this share.
_CONFIRMED = 0.001
_FLOOR = 0.002


@dataclass(frozen=True)
class ChangePoint:
    """At one place of a series its level changed. Levels are nanoseconds."""

    place: int
    """Of the first point of the new level."""
    before: int
    after: int
    relative: float
    significant: bool
    """Beyond the fence (exact), or confirmed by a test (noisy)."""
    size: Size
    points: int
    """How many points the new level has lasted."""
    text: str
    """How it is known, in words."""

    @property
    def status(self) -> str:
        """How far to trust it: two points of a level are an alert, one is a note.

        >>> ChangePoint(1, 10, 20, 1.0, True, "large", 1, "").status
        'one point'
        """
        return "not confirmed" if not self.significant else "lasts" if self.points > 1 else "one point"


def exact_changes(values: Sequence[int]) -> list[ChangePoint]:
    """Every change of an exact series, classified by its size.

    Source: the fence of rustc-perf: third quartile and three times the distance of the quartiles of the absolute
    changes between neighbours, from thirty on, else 0.2 %; the size is the mean of two scales, times over the fence
    (1.5, 3, 6, 12) and percent (0.2, 1, 2, 5).

    >>> [(each.place, each.after - each.before, each.size) for each in exact_changes([100000, 100000, 101500, 101500])]
    [(2, 1500, 'medium')]
    """
    runs: list[tuple[int, int]] = []
    for place, value in enumerate(values):
        if not runs or values[runs[-1][0]] != value:
            runs.append((place, value))
    ends = [place for place, _ in runs[1:]] + [len(values)]
    relative = [abs(after - before) / before if before else math.inf for before, after in itertools.pairwise(values)]
    found = []
    for number in range(1, len(runs)):
        place, after = runs[number]
        before = runs[number - 1][1]
        change = (after - before) / before if before else math.inf
        limit = fence(relative[: place - 1])
        points = ends[number] - place
        returned = points == 1 and number + 1 < len(runs) and runs[number + 1][1] == before
        text = f"changed by {after - before:+,} ns" + (", and back" if returned else "")
        found.append(
            ChangePoint(place, before, after, change, abs(change) > limit, size_of(change, limit), points, text)
        )
    return found


def fence(changes: Sequence[float]) -> float:
    """How large a relative change has to be to be significant, from those that came before.

    >>> fence([0.001] * 5)
    0.002
    """
    known = [change for change in changes[-FENCE_CHANGES:] if math.isfinite(change)]
    if len(known) < FENCE_CHANGES:
        return DEFAULT_FENCE
    low, high = np.quantile(known, [0.25, 0.75])
    return max(float(high + 3 * (high - low)), _SMALLEST)


def size_of(relative: float, limit: float) -> Size:
    """How large a change is, by times over the fence and by percent.

    >>> size_of(0.0003, 0.002), size_of(0.06, 0.002)
    ('very small', 'very large')
    """
    share = abs(relative)
    if share < _SMALLEST:
        return "very small"
    times = sum(share / limit >= bound for bound in (1.5, 3, 6, 12))
    percent = sum(share * 100 >= bound for bound in (0.2, 1, 2, 5))
    return _SIZES[(times + percent) // 2]


def noisy_changes(samples: Sequence[Sequence[int]]) -> list[ChangePoint]:
    """The changes of a noisy series that a test confirms, and those that too few boots leave open.

    :param samples: the boots of every point, in positive nanoseconds.

    Source: PELT with the L1 cost on logarithms of medians, every place allowed, penalty 3 ln(n) sigma with a robust
    sigma of first differences; each split tested by Mann-Whitney on logarithms (p < 0.001), the weakest merged first.

    >>> steady, slower = [[1000 + k % 3] for k in range(12)], [[1100 + k % 3] for k in range(12)]
    >>> [(each.place, each.significant) for each in noisy_changes(steady + slower)]
    [(12, True)]
    """
    if len(samples) < 4 or any(min(points) <= 0 for points in samples):
        return []
    import ruptures  # type: ignore[import-untyped]

    levels = np.log([median(points) for points in samples])
    steps = np.diff(levels)
    sigma = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
    penalty = 3 * math.log(len(levels)) * max(sigma, 1e-6)
    found = ruptures.Pelt(model="l1", min_size=2, jump=1).fit(levels.reshape(-1, 1)).predict(pen=penalty)
    splits = [int(place) for place in found if place < len(levels)]
    while splits:
        tests = [_test(samples, splits, number) for number in range(len(splits))]
        weak = [number for number, test in enumerate(tests) if not (test.confirmed or test.open)]
        if not weak:
            return [test.point for test in tests]
        splits.pop(max(weak, key=lambda number: tests[number].p))
    return []


@dataclass(frozen=True)
class _Test:
    point: ChangePoint
    p: float
    confirmed: bool
    open: bool
    """Too few boots for the test to confirm anything, and all of them say the same."""


def _test(samples: Sequence[Sequence[int]], splits: Sequence[int], number: int) -> _Test:
    from firstlight.stats.significance import unpaired_p

    edges = [0, *splits, len(samples)]
    before = [value for points in samples[edges[number] : edges[number + 1]] for value in points]
    after = [value for points in samples[edges[number + 1] : edges[number + 2]] for value in points]
    was, now = round(median(before)), round(median(after))
    relative = now / was - 1
    found = unpaired_p(np.log(before), np.log(after), seed=1)
    large = abs(relative) > _FLOOR
    confirmed = large and found.p < _CONFIRMED
    open_ = large and not confirmed and found.smallest >= _CONFIRMED and found.p <= found.smallest * 1.01
    text = f"{found.method}: p = {found.p:.2g} of {len(before)} and {len(after)} boots"
    if open_:
        text += "; more boots are needed to confirm it"
    point = ChangePoint(splits[number], was, now, relative, confirmed, size_of(relative, _FLOOR),
                        edges[number + 2] - edges[number + 1], text)  # fmt: skip
    return _Test(point, found.p, confirmed, open_)

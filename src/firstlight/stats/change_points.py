"""Change points of a series: steps of its level, a creep, and changes of its spread and of its slow mode."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median, median_high, median_low
from typing import Literal

import numpy as np

from firstlight.stats.alternation import alternates
from firstlight.stats.estimate import Floats
from firstlight.stats.pettitt import pettitt
from firstlight.stats.verdict import settle

Kind = Literal["step", "creep", "slow mode", "spread"]
Status = Literal["lasts", "one point", "alternates", "not confirmed"]
Size = Literal["very small", "small", "medium", "large", "very large"]

_SIZES: tuple[Size, ...] = ("very small", "small", "medium", "large", "very large")

#: The least fence, as a share: two exact boots of different commits differ by as much without a cause worth naming.
FENCE = 0.002
#: A level lasts from so many points beyond the fence of the level before.
LASTING = 2
#: A level is the median of at most so many of its newest points.
_REMEMBERED = 30
#: A point of unchanged noise lies beyond the fence with this probability, on one side.
_BEYOND = 3e-4
#: A change within a level, of the spread or of the slow mode is confirmed below this probability.
_CONFIRMED = 0.001
#: Below so many points a level is not searched for changes that lie within the fence.
_FEWEST = 12
#: A creep is looked for against the levels so many points back; each level is the median of so many points.
_BACK = (100, 30, 10)
_LEVEL = 5
#: The spread changed from this ratio on, and the slow mode from this difference of its share.
_WIDER = 1.5
_SLOWER = 0.1
_QUARTILE = 0.6745
_AND_BACK = ", and back"


@dataclass(frozen=True)
class ChangePoint:
    """A change at one place of a series. Levels are nanoseconds; of a spread, the robust standard deviation."""

    place: int
    """Of the first point that is changed."""
    before: int
    after: int
    relative: float
    """Of the slow mode: the change of its share of the boots."""
    status: Status
    size: Size
    points: int
    """How many points the change has lasted."""
    text: str
    """How it is known, in words."""
    kind: Kind = "step"
    fence: float = math.log1p(FENCE)
    """How far two points of one level may lie apart by noise alone, as a logarithm of a ratio."""
    remains: float | None = None
    """Of a regression of which a later step took a part back: how far the level stays above the one before."""

    @property
    def went_back(self) -> bool:
        """It is one point, after which the series was at its level again."""
        return self.text.endswith(_AND_BACK)

    @property
    def rises(self) -> bool:
        """Whether it is a change for the worse."""
        return self.relative > 0


def change_points(samples: Sequence[Sequence[int]], *, exact: bool, least: float = FENCE) -> list[ChangePoint]:
    """Find where a series changed.

    :param samples: the boots of every point, in nanoseconds; the level of a point is their median.
    :param exact: boots of one point do not vary: a step needs no test, and the last boot of a point counts.
    :param least: the least fence, as a share: a smaller step of the level is no change.

    Source: a level ends where two successive points lie beyond its fence, a quantile of Student's distribution of the
    robust noise of first differences, and at least 0.2 %. Within a level, Pettitt's test (1979) finds smaller changes.

    >>> found = change_points([[100_000]] * 4 + [[101_500], [101_510], [101_490]], exact=True)
    >>> [(each.place, each.after - each.before, each.status) for each in found]
    [(4, 1500, 'lasts')]
    """
    levels = [points[-1] if exact else round(median(points)) for points in samples]
    if len(levels) < 2 or (not exact and len(levels) < 4) or (not exact and min(map(min, samples)) <= 0):
        return []
    # What took no time has no logarithm: one nanosecond is as little.
    logs = np.log(np.maximum(np.asarray(levels, dtype=np.float64), 1.0))
    fence = fence_of(logs, exact=exact, least=least)
    edges = _segments(logs, fence, least)
    found = [
        _step(samples, levels, logs, edges, number, fence, least, exact=exact) for number in range(1, len(edges) - 1)
    ]
    steps = [each for each in found if each is not None]
    steps += _single_points(levels, logs, edges, fence, exact=exact)
    steps.sort(key=lambda each: each.place)
    steps = _alternating(steps, logs, fence, exact=exact)
    if not any(each.status == "alternates" for each in steps):
        steps += _creep(levels, logs, steps, fence)
    return sorted([*steps, *_shape_changes(samples, logs, exact=exact)], key=lambda each: each.place)


def fence_of(logs: Floats, *, exact: bool, least: float = FENCE) -> float:
    """How far a point may lie from its level by noise alone, as a logarithm of a ratio.

    >>> round(fence_of(np.log([1000.0, 1000, 1000, 1100, 1100]), exact=True), 4)
    0.002
    """
    from scipy.stats import norm, t

    # Few steps do not move a quartile. A machine that alternates changes its state at up to half of the boots: the
    # third quartile is then the step itself, so that noisy boots within two states are no change.
    quantile = 0.5 if exact else 0.75
    if logs.size < 3:
        return math.log1p(least)
    usual = float(np.quantile(np.abs(np.diff(logs)), quantile, method="lower"))
    sigma = usual / (float(norm.ppf((1 + quantile) / 2)) * math.sqrt(2))
    return max(math.log1p(least), float(t.isf(_BEYOND, max(1, logs.size - 2))) * sigma)


def size_of(relative: float, limit: float) -> Size:
    """How large a change is: the mean of two scales, times over the fence and percent.

    Source: rustc-perf, with the bounds 1.5, 3, 6, 12 and 0.2, 1, 2, 5.

    >>> size_of(0.0003, 0.002), size_of(0.06, 0.002)
    ('very small', 'very large')
    """
    share = abs(relative)
    times = sum(share / limit >= bound for bound in (1.5, 3, 6, 12))
    percent = sum(share * 100 >= bound for bound in (0.2, 1, 2, 5))
    return _SIZES[(times + percent) // 2]


def _segments(logs: Floats, fence: float, least: float) -> list[int]:
    """The first places of all levels, and the end."""
    starts = [0]
    for place in range(1, logs.size - LASTING + 1):
        low, high = _middle(logs[max(starts[-1], place - _REMEMBERED) : place])
        after = logs[place : place + LASTING]
        if np.all(after > high + fence) or np.all(after < low - fence):
            starts.append(place)
    coarse = [*starts, logs.size]
    edges = [0]
    for first, end in itertools.pairwise(coarse):
        edges += [*_finer(logs, first, end, least), end]
    return edges


def _middle(level: Floats) -> tuple[float, float]:
    """The lower and the upper median: of two points one may be a stray, and their mean is at neither.

    >>> _middle(np.array([1.0, 0.97])), _middle(np.array([1.0, 0.97, 1.0]))
    ((0.97, 1.0), (1.0, 1.0))
    """
    ordered = np.sort(level)
    return float(ordered[(level.size - 1) // 2]), float(ordered[level.size // 2])


def _finer(logs: Floats, first: int, end: int, least: float) -> list[int]:
    """The places within a level at which Pettitt's test splits it, again and again."""
    if end - first < _FEWEST:
        return []
    place, p = pettitt(logs[first:end])
    split = first + place
    if p >= _CONFIRMED or min(place, end - split) < LASTING or abs(_shift(logs, first, split, end)) < math.log1p(least):
        return []
    return [*_finer(logs, first, split, least), split, *_finer(logs, split, end, least)]


def _shift(logs: Floats, first: int, split: int, end: int) -> float:
    return float(np.median(logs[split:end]) - np.median(logs[first:split]))


def _step(
    samples: Sequence[Sequence[int]], levels: Sequence[int], logs: Floats, edges: Sequence[int], number: int,
    fence: float, least: float, *, exact: bool,
) -> ChangePoint | None:  # fmt: skip
    first, place, end = edges[number - 1 : number + 2]
    after = round(median(levels[place:end]))
    # Of an even number of points, the middle one that is nearer to the new level.
    nearer = median_high if after > median(levels[first:place]) else median_low
    before = nearer(levels[first:place])
    shift = _shift(logs, first, place, end)
    if settle(shift, shift, shift, math.log1p(least)) == "equivalent":
        return None
    status: Status = "lasts"
    text = f"changed by {after - before:+,} ns"
    if not exact:
        confirmed, text = _test(samples[first:place], samples[place:end])
        if confirmed is False:
            return None
        status = "lasts" if confirmed else "not confirmed"
        straying = _straying(logs, edges, number, fence)
        if confirmed and straying is not None:
            status, text = "not confirmed", f"{text}; {straying}"
    relative = after / before - 1 if before else math.inf
    return ChangePoint(place, before, after, relative, status, size_of(relative, fence), end - place, text, fence=fence)


def _straying(logs: Floats, edges: Sequence[int], number: int, fence: float) -> str | None:
    """Why a level may be boots that stray from the one before, as others of the series do; none where it is not.

    The place of a step is chosen, so that boots which stray anywhere in a row would be one. With a share of k / n
    straying points, m of them follow each other at one of n places with a probability of at most n (k / n)^m.

    :param edges: of all levels; the step begins level *number*.

    >>> logs = np.zeros(62)
    >>> logs[[7, 31]], logs[50:] = 0.06, 0.05
    >>> _straying(logs[:52], [0, 50, 52], 1, 0.02)
    '2 of 50 other points stray as far: more points are needed to confirm it'
    >>> _straying(logs[:54], [0, 50, 54], 1, 0.02) is _straying(logs[40:52], [0, 10, 12], 1, 0.02) is None
    True
    """
    first, place, end = edges[number - 1 : number + 2]
    level = float(np.median(logs[first:place]))
    sign = 1.0 if float(np.median(logs[place:end])) > level else -1.0
    strays = 0
    for begin, over in itertools.pairwise(edges):
        # So few points are not levels of their own.
        base = level if over - begin < 2 * LASTING else float(np.median(logs[begin:over]))
        strays += 0 if begin == place else int(np.count_nonzero(sign * (logs[begin:over] - base) > fence))
    others = logs.size - (end - place)
    if not strays or others * (strays / others) ** (end - place) < _CONFIRMED:
        return None
    return f"{strays} of {others} other points stray as far: more points are needed to confirm it"


def _test(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> tuple[bool | None, str]:
    """Whether the boots confirm a step; none where too few could and all of them agree."""
    from firstlight.stats.significance import unpaired_p

    old, new = ([value for points in arm for value in points] for arm in (before, after))
    found = unpaired_p(np.log(old), np.log(new), seed=1)
    text = f"{found.method}: p = {found.p:.2g} of {len(old)} and {len(new)} boots"
    if found.p < _CONFIRMED:
        return True, text
    if found.smallest >= _CONFIRMED and found.p <= found.smallest * 1.01:
        return None, f"{text}; more boots are needed to confirm it"
    return False, text


def _single_points(
    levels: Sequence[int], logs: Floats, edges: Sequence[int], fence: float, *, exact: bool
) -> list[ChangePoint]:
    """Points beyond the fence of their level, alone: of noisy series the last one only, and not confirmed."""
    found = []
    for first, end in itertools.pairwise(edges):
        for place in range(first + 1, end):
            last = place == logs.size - 1
            others = np.delete(logs[first:end], place - first)
            if abs(float(logs[place] - np.median(others))) <= fence or not (exact or last):
                continue
            before = round(median([*levels[first:place], *levels[place + 1 : end]]))
            relative = levels[place] / before - 1 if before else math.inf
            text = f"changed by {levels[place] - before:+,} ns{'' if last else _AND_BACK}"
            status: Status = "one point" if exact else "not confirmed"
            size = size_of(relative, fence)
            found.append(ChangePoint(place, before, levels[place], relative, status, size, 1, text, fence=fence))
    return found


def _alternating(steps: Sequence[ChangePoint], logs: Floats, fence: float, *, exact: bool) -> list[ChangePoint]:
    """Mark the steps to a level at which the series was before, and stays no longer than it did."""
    found = []
    for step in steps:
        if step.before and step.status in ("lasts", "not confirmed"):
            shift = math.log(step.after / step.before) if step.after else -math.inf
            if abs(shift) > fence and alternates(logs, step.place, step.points, shift, fence, exact=exact):
                step = replace(step, status="alternates")
        found.append(step)
    return found


def _creep(levels: Sequence[int], logs: Floats, steps: Sequence[ChangePoint], fence: float) -> list[ChangePoint]:
    """A slow change against the level 100, 30 or 10 points back that no single step explains."""
    for back in _BACK:
        first = logs.size - back - _LEVEL
        if first < 0:
            continue
        rise = float(np.median(logs[-_LEVEL:]) - np.median(logs[first : first + _LEVEL]))
        inside = [each for each in steps if each.place > first and each.before and each.after]
        largest = max((abs(math.log(each.after / each.before)) for each in inside), default=0.0)
        if abs(rise) <= 2 * fence or largest > abs(rise) / 2:
            continue
        before, after = (round(median(levels[at : at + _LEVEL])) for at in (first, logs.size - _LEVEL))
        relative = after / before - 1
        text = f"against the level {back} points back, {relative / back * 100:+.2g} % a point"
        size = size_of(relative, fence)
        return [ChangePoint(first + _LEVEL, before, after, relative, "lasts", size, back, text, "creep")]
    return []


def _shape_changes(samples: Sequence[Sequence[int]], logs: Floats, *, exact: bool) -> list[ChangePoint]:
    """Changes of the spread around the level, and of the share of boots that are slow."""
    from scipy.ndimage import median_filter

    if logs.size < 2 * _FEWEST:
        return []
    level = median_filter(logs, size=11, mode="nearest")
    points = [point[-1:] if exact else point for point in samples]
    owner = np.repeat(np.arange(len(points)), [len(point) for point in points])
    every = np.log(np.maximum(np.concatenate([np.asarray(point, dtype=np.float64) for point in points]), 1.0))
    off = every - level[owner]
    sigma = float(np.median(np.abs(off))) / _QUARTILE
    slow = off > max(math.log1p(FENCE), 4 * sigma)
    typical = math.exp(float(np.median(every)))
    split, p = pettitt(slow.astype(np.float64))
    p = _deflated(p, slow.astype(np.float64), split)
    if p < _CONFIRMED:
        was, now = float(slow[:split].mean()), float(slow[split:].mean())
        if abs(now - was) >= _SLOWER:
            by = typical * math.expm1(float(np.median(off[slow])))
            text = f"{was:.0%} of the boots were slow, now {now:.0%}, by about {round(by):,} ns: p = {p:.2g}"
            size = size_of(now - was, _SLOWER)
            place = int(owner[split])
            return [
                ChangePoint(place, round(was * by), round(now * by), now - was, "lasts", size, logs.size - place, text,
                            "slow mode")
            ]  # fmt: skip
    split, p = pettitt(np.abs(off[~slow]))
    if p >= _CONFIRMED:
        return []
    split = int(np.flatnonzero(~slow)[split])
    was, now = (float(np.median(np.abs(arm))) / _QUARTILE for arm in (off[:split], off[split:]))
    if max(was, now) < _WIDER * min(was, now) or max(was, now) < math.log1p(FENCE) / 4:
        return []
    place = int(owner[split])
    text = f"spread {was:.2%}, now {now:.2%}: p = {p:.2g}"
    relative = now / was - 1 if was else math.inf
    return [
        ChangePoint(place, round(was * typical), round(now * typical), relative, "lasts", size_of(now - was, FENCE),
                    logs.size - place, text, "spread")
    ]  # fmt: skip


def _deflated(p: float, values: Floats, split: int) -> float:
    """Pettitt's p of values of which neighbours resemble each other, as those of a machine that stays in a state do.

    Source: the variance of a mean of a first-order autoregressive series, (1 + r) / (1 - r) times that of noise.
    """
    off = np.concatenate([arm - arm.mean() for arm in (values[:split], values[split:]) if arm.size])
    square = float(off @ off)
    alike = max(0.0, float(off[1:] @ off[:-1]) / square) if square > 0 else 0.0
    return min(1.0, 2 * math.exp(math.log(p / 2) * (1 - alike) / (1 + alike)))

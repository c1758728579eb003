"""Series that alternate between levels: when the newest level is one of several states, and when it lasts."""

from __future__ import annotations

import itertools

import numpy as np

from firstlight.stats.estimate import Floats

#: A series that had as many points at a level before alternates.
_VISITED = 3
#: Fewer points in a row at a level are not a stay.
_STAY = 2
#: A level lasts that was taken more than once before from so many times the mean stay on. Of stays without memory,
#: one is as long with a probability of 2 %, and with 6 % after four stays.
_LONGER = 4


def alternates(logs: Floats, place: int, points: int, shift: float, fence: float, *, exact: bool) -> bool:
    """Whether a step leads to a level at which the series was before, and stays there no longer than it did.

    The level was taken before: by three noisy points, or in two stays of exact boots. It lasts all the same from the
    mean of all stays on if it was taken once, and from four times the mean if more often.

    :param logs: the levels of all points, as logarithms.
    :param place: of the first point of the step, which lasts *points*.
    :param shift: of the level, as a logarithm of a ratio.
    :param fence: how far a point may lie from its level by noise alone, likewise. What is further away, or by more than
        a third of the shift, is another level.

    Source: with stays of a constant chance to end, n of which took S points, the next takes T or more with a
    probability of (S / (S + T))^n.

    >>> logs = np.repeat([0.0, 0.1, 0.0, 0.1], [15, 5, 15, 30])
    >>> [alternates(logs[: 35 + points], 35, points, 0.1, 0.01, exact=False) for points in (5, 11, 12, 30)]
    [True, True, False, False]
    >>> alternates(np.repeat([0.0, -0.1, 0.03], [25, 30, 5]), 55, 5, 0.13, 0.01, exact=False)
    False
    """
    level = float(np.median(logs[place : place + points]))
    apart = np.abs(logs[:place] - level)
    there = apart <= min(fence, abs(shift) / 3)
    visits = int(np.count_nonzero(np.diff(there.astype(int), prepend=0) == 1))
    if np.count_nonzero(there) < _VISITED or visits < (2 if exact else 1):
        return False
    runs = ((at_level, len(list(run))) for at_level, run in itertools.groupby(apart <= abs(shift) / 2))
    stays = [(at_level, length) for at_level, length in runs if length >= _STAY]
    mean = place / max(1, len(stays))
    once = sum(at_level for at_level, _ in stays) == 1
    return points < (mean if once else _LONGER * mean)

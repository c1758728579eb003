"""The sizes at which two configurations cost the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from firstlight.stats.scaling.analysis import ScalingAnalysis
from firstlight.stats.scaling.prediction import FARTHEST

_GRID = 400


@dataclass(frozen=True)
class Crossing:
    """A size at which the cheaper of two configurations changes."""

    size: float
    cheaper_above: str
    """`first` or `second`."""
    measured: bool
    """It lies within the sizes that were measured."""


@dataclass(frozen=True)
class Bracket:
    """Between two sizes the sign of a difference changes; both were measured."""

    below: int
    above: int
    difference_below: float
    difference_above: float
    """Second less first, in the costs' unit."""
    measured: tuple[tuple[int, float], ...]
    """Every size that was tried, in the order of trying, with its difference."""


def crossings(first: ScalingAnalysis, second: ScalingAnalysis) -> list[Crossing]:
    """Where the laws of two configurations cross, from the smallest size to four times the largest.

    >>> from firstlight.stats.scaling.analysis import study
    >>> n = [1, 2, 4, 8, 16, 32]
    >>> flat, steep = study(n, [100] * 6, exact=True), study(n, [10 * size for size in n], exact=True)
    >>> [(round(each.size), each.cheaper_above, each.measured) for each in crossings(flat, steep)]
    [(10, 'first', True)]
    """
    low = max(min(first.sizes[0], second.sizes[0]), 0.0)
    last = max(first.sizes[-1], second.sizes[-1])
    # Sizes grow by factors; the one is added so that zero can be among them.
    grid = np.geomspace(low + 1, FARTHEST * last + 1, _GRID) - 1

    def difference(size: float) -> float:
        at = np.array([size])
        return float(second.best.at(at)[0] - first.best.at(at)[0])

    values = [difference(float(size)) for size in grid]
    found = []
    for place in range(len(grid) - 1):
        left, right = values[place], values[place + 1]
        if (left < 0) == (right < 0) or left == right or (left == 0 and right == 0):
            continue
        size = float(brentq(difference, float(grid[place]), float(grid[place + 1])))
        found.append(Crossing(size, "first" if right > 0 else "second", size <= last))
    return found


def bisect(difference: Callable[[int], float], below: int, above: int) -> Bracket | None:
    """Find two neighbouring whole sizes between which a difference changes its sign, by measuring it.

    Exact boots need one measurement a size. Where the sign changes several times, one of the changes is found.

    :param difference: measures one size: second less first.
    :param below: a size to begin at, and one above it.
    :returns: none when the sign is the same at both.

    >>> found = bisect(lambda size: 10 * size - 100 - 3, 1, 64)
    >>> found.below, found.above, len(found.measured)
    (10, 11, 8)
    """
    measured: list[tuple[int, float]] = []

    def measure(size: int) -> float:
        value = difference(size)
        measured.append((size, value))
        return value

    low, high = measure(below), measure(above)
    if (low < 0) == (high < 0) or below >= above:
        return None
    while above - below > 1:
        # Sizes are geometric: so is their middle.
        middle = min(max(round(math.sqrt(max(below, 1) * above)), below + 1), above - 1)
        value = measure(middle)
        if (value < 0) == (low < 0):
            below, low = middle, value
        else:
            above, high = middle, value
    return Bracket(below, above, low, high, tuple(measured))

"""The exponent of a cost's growth without a model: d log cost / d log size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import theilslopes

from firstlight.stats.scaling.fit import levels_of
from firstlight.stats.scaling.models import Floats

#: The exponent is taken over the larger half of the sizes, and at least over so many.
_LEAST_POINTS = 4


@dataclass(frozen=True)
class Exponent:
    """An exponent without a law."""

    value: float
    low: float
    high: float
    """Noisy costs: the 95 % interval. Exact costs: the least and the largest exponent between neighbouring sizes."""
    sizes: int
    """Over so many of the largest sizes."""


def exponent(sizes: Floats, costs: Floats, *, exact: bool) -> Exponent | None:
    """The exponent of a cost over the larger half of its sizes.

    :returns: none where fewer than two sizes are left above zero with a cost above zero.

    Source: Theil (1950) and Sen (1968), `scipy.stats.theilslopes` on logarithms.

    >>> n = np.array([1.0, 2, 4, 8, 16, 32])
    >>> round(exponent(n, 3 * n**2, exact=True).value, 6)
    2.0
    """
    kept = (sizes > 0) & (costs > 0)
    size, cost = sizes[kept], costs[kept]
    distinct = np.unique(size)
    tail = distinct[-max(_LEAST_POINTS, math.ceil(len(distinct) / 2)) :]
    if len(tail) < 2:
        return None
    inside = size >= tail[0]
    log_size, log_cost = np.log(size[inside]), np.log(cost[inside])
    slope, _, low, high = theilslopes(log_cost, log_size, 0.95)
    if exact:
        levels = levels_of(log_size, log_cost)
        local = np.diff(levels) / np.diff(np.log(tail))
        low, high = float(local.min()), float(local.max())
    return Exponent(float(slope), float(low), float(high), len(tail))


def growth_exponent(sizes: Floats, costs: Floats, *, exact: bool) -> Exponent | None:
    """The exponent of what the cost is above that of the smallest size, over what the size is above it.

    A boot's cost is mostly constant, so that the exponent of the whole says little; this is that of what grows.

    >>> n = np.array([0.0, 1, 2, 4, 8, 16, 32])
    >>> round(growth_exponent(n, 1e6 + 3 * n**2, exact=True).value, 6)
    2.0
    """
    least = float(sizes.min())
    base = float(np.median(costs[sizes == least]))
    above = sizes > least
    grown = exponent(sizes[above] - least, costs[above] - base, exact=exact)
    # What did not grow at some sizes has no exponent there, and what is left would flatter the law.
    if grown is None or bool(np.any(costs[sizes >= np.median(np.unique(sizes))] <= base)):
        return None
    return grown

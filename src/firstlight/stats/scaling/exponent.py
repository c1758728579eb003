"""The exponent of a cost's growth without a model: d log cost / d log size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

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

    Source: Theil (1950) and Sen (1968), as `scipy.stats.theilslopes` on logarithms; Kendall (1970) where costs tie.

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
    slopes = _slopes(log_size, log_cost)
    if exact:
        levels = levels_of(log_size, log_cost)
        local = np.diff(levels) / np.diff(np.log(tail))
        low, high = float(local.min()), float(local.max())
    else:
        low, high = _interval(log_size, log_cost, slopes)
    return Exponent(float(np.median(slopes)), low, high, len(tail))


def _slopes(sizes: Floats, costs: Floats) -> Floats:
    """Between any two measurements of different sizes, from the smallest to the largest."""
    across, up = sizes[:, None] - sizes, costs[:, None] - costs
    found: Floats = np.sort(up[across > 0] / across[across > 0])
    return found


def _interval(sizes: Floats, costs: Floats, slopes: Floats) -> tuple[float, float]:
    """The 95 % interval of the median slope.

    Costs may tie as sizes do. `scipy.stats.theilslopes` only subtracts both, which leaves a negative variance.

    Source: Kendall (1970), Rank Correlation Methods, 4.5: the variance of S with ties in both.
    """
    number = len(sizes)
    same_size, same_cost = (np.unique(each, return_counts=True)[1].astype(float) for each in (sizes, costs))

    def of_ties(same: Floats) -> float:
        return float(np.sum(same * (same - 1) * (2 * same + 5)))

    def pairs(same: Floats) -> float:
        return float(np.sum(same * (same - 1)))

    def triples(same: Floats) -> float:
        return float(np.sum(same * (same - 1) * (same - 2)))

    variance = (number * (number - 1) * (2 * number + 5) - of_ties(same_size) - of_ties(same_cost)) / 18
    variance += pairs(same_size) * pairs(same_cost) / (2 * number * (number - 1))
    if number > 2:
        variance += triples(same_size) * triples(same_cost) / (9 * number * (number - 1) * (number - 2))
    half = float(ndtri(0.975)) * math.sqrt(max(variance, 0.0))
    low, high = max(round((slopes.size - half) / 2) - 1, 0), min(round((slopes.size + half) / 2), slopes.size - 1)
    return float(slopes[low]), float(slopes[high])


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

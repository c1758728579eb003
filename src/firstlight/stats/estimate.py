"""The size of a change: the Hodges-Lehmann estimate on log ratios, with its exact interval."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel

Floats = npt.NDArray[np.float64]

#: Above so many pairs (or boots of both arms) the normal approximation takes the place of the exact distribution.
_MOST_PAIRS = 300
_MOST_BOOTS = 120


class Estimate(FrozenModel):
    """How b compares with a, as natural logarithms of b/a; the bounds are none where too few boots give none."""

    log_ratio: float = Field(description="ln(b/a), Hodges-Lehmann")
    low: float | None = Field(description="lower bound of the interval")
    high: float | None = Field(description="upper bound of the interval")
    confidence: float = Field(description="what the interval was asked to cover")
    achieved: float | None = Field(description="what it covers at least: the distribution has steps")
    needed: int = Field(description="from so many pairs (boots of each arm, unpaired) there is an interval")

    @property
    def percent(self) -> float:
        """The change in percent of a."""
        return percent(self.log_ratio)

    @property
    def interval_percent(self) -> tuple[float, float] | None:
        """The interval in percent of a."""
        return None if self.low is None or self.high is None else (percent(self.low), percent(self.high))


def percent(log_ratio: float) -> float:
    """A natural logarithm of b/a as a change in percent of a.

    >>> round(percent(math.log(1.02)), 6)
    2.0
    """
    return math.expm1(log_ratio) * 100.0


def paired(log_ratios: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Estimate from pairs: the median of all Walsh averages, with the interval of Wilcoxon's signed-rank test.

    :param log_ratios: ln(b/a) of each pair; finite.
    :param confidence: above 0, below 1.
    :raises ValueError: for no pairs, or figures that are not finite.

    Source: Hodges and Lehmann 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.1 to 3.3.

    >>> found = paired([0.010, 0.012, 0.009, 0.015, 0.011, 0.008, 0.013])
    >>> f"{found.percent:.2f} % ({found.interval_percent[0]:.2f} to {found.interval_percent[1]:.2f})"
    '1.11 % (0.90 to 1.36)'
    """
    values = _finite(log_ratios)
    rows, columns = np.triu_indices(values.size)
    walsh = np.sort((values[rows] + values[columns]) / 2.0)
    rank, achieved = _signed_rank_bound(values.size, confidence)
    return _estimate(walsh, rank, achieved, confidence, needed=fewest_pairs(1.0 - confidence))


def unpaired(log_a: npt.ArrayLike, log_b: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Estimate from boots that are not paired: the median of all differences, with the interval of the U test.

    :param log_a: logarithms of the times of one arm.
    :param log_b: of the other.
    :raises ValueError: for an arm without boots, or figures that are not finite.

    Source: Hodges and Lehmann 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 4.2 and 4.3.

    >>> found = unpaired([0.0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8])
    >>> round(found.log_ratio, 3), round(found.low, 3), round(found.high, 3)
    (0.5, 0.2, 0.8)
    """
    a, b = _finite(log_a), _finite(log_b)
    differences = np.sort((b[:, None] - a[None, :]).ravel())
    rank, achieved = _rank_sum_bound(min(a.size, b.size), max(a.size, b.size), confidence)
    return _estimate(differences, rank, achieved, confidence, needed=fewest_boots(1.0 - confidence))


def interval_rank(pairs: int, confidence: float) -> int:
    """Which of the sorted Walsh averages, counted from either end, bounds the interval; 0: there is none.

    >>> interval_rank(12, 0.95)
    14
    """
    return _signed_rank_bound(pairs, confidence)[0]


@cache
def fewest_pairs(alpha: float) -> int:
    """From how many pairs Wilcoxon's test can be significant at all.

    >>> fewest_pairs(0.05)
    6
    """
    return math.ceil(math.log2(2.0 / alpha) - 1e-9)


@cache
def fewest_boots(alpha: float) -> int:
    """From how many boots of each arm the U test can be significant at all.

    >>> fewest_boots(0.05)
    4
    """
    number = 1
    while 2.0 / math.comb(2 * number, number) > alpha:
        number += 1
    return number


def _estimate(candidates: Floats, rank: int, achieved: float, confidence: float, needed: int) -> Estimate:
    """The median of the sorted candidates; its bounds are the rank-th from either end."""
    bounded = rank > 0
    return Estimate(
        log_ratio=float(np.median(candidates)),
        low=float(candidates[rank - 1]) if bounded else None,
        high=float(candidates[-rank]) if bounded else None,
        confidence=confidence,
        achieved=achieved if bounded else None,
        needed=needed,
    )


def _finite(values: npt.ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise ValueError("no boots")
    if not np.isfinite(array).all():
        raise ValueError("the logarithm of a time has to be finite: times have to be above 0")
    return array


@cache
def _signed_rank_bound(n: int, confidence: float) -> tuple[int, float]:
    """The rank of the Walsh average that bounds the interval (0: there is none), and the coverage."""
    tail = (1.0 - confidence) / 2.0
    if n > _MOST_PAIRS:
        return _normal_bound(n * (n + 1) / 4.0, math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0), tail)
    # The probability of every sum of ranks of which each counts or not, with equal chances.
    chances = np.zeros(n * (n + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, n + 1):
        shifted = np.zeros_like(chances)
        shifted[rank:] = chances[:-rank]
        chances = (chances + shifted) / 2.0
    return _exact_bound(chances, tail)


@cache
def _rank_sum_bound(few: int, many: int, confidence: float) -> tuple[int, float]:
    """The same for the differences of all boots of one arm from all of the other."""
    tail = (1.0 - confidence) / 2.0
    if few + many > _MOST_BOOTS:
        return _normal_bound(few * many / 2.0, math.sqrt(few * many * (few + many + 1) / 12.0), tail)
    # How many ways lead to every U: the Gaussian binomial coefficients, as whole numbers.
    ways = [1] + [0] * (few * many)
    for place in range(1, few + 1):
        for u in range(len(ways) - 1, many + place - 1, -1):
            ways[u] -= ways[u - many - place]
        for u in range(place, len(ways)):
            ways[u] += ways[u - place]
    whole = math.comb(few + many, few)
    return _exact_bound(np.array([count / whole for count in ways]), tail)


def _exact_bound(chances: Floats, tail: float) -> tuple[int, float]:
    below = np.cumsum(chances)
    # Rounding must not take away a bound that the exact sums give.
    rank = int(np.searchsorted(below, tail * (1.0 + 1e-12), side="right"))
    return (rank, 1.0 - 2.0 * float(below[rank - 1])) if rank else (0, 1.0)


def _normal_bound(mean: float, deviation: float, tail: float) -> tuple[int, float]:
    from scipy.stats import norm

    rank = max(0, math.floor(mean + float(norm.ppf(tail)) * deviation))
    return rank, 1.0 - 2.0 * tail

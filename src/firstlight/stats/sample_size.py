"""The number of pairs that a question needs."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

#: Wilcoxon's tests need so many of the pairs that Student's would, on normal data, turned over.
_EFFICIENCY = 0.955
#: Fewer are never advised.
FEWEST_PLANNED = 8
#: Of fewer pairs the spread is no more than a guess: nothing is planned by it.
FEWEST_OF_A_PLAN = 3
#: More cannot be meant: a machine that needs them is not a place to measure.
MOST_PLANNED = 100_000
#: Beyond this the solver finds no number; the least is reached long before.
_LARGEST_EFFECT = 3.0
_MAD_TO_SIGMA = 1.4826


def robust_sigma(values: npt.ArrayLike) -> float:
    """The standard deviation of the bulk of some values: 1.4826 times the median absolute deviation from the median.

    Where more than half of the values are equal that is 0, and the ordinary standard deviation is taken.

    >>> round(robust_sigma([1.0, 2.0, 3.0, 4.0, 100.0]), 4)
    1.4826
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        return 0.0
    spread = float(np.median(np.abs(array - np.median(array)))) * _MAD_TO_SIGMA
    return spread if spread > 0.0 else float(np.std(array, ddof=1))


def cautious_sigma(sigma: float, number: int) -> float:
    """What a standard deviation may well be of which only a few values are known: plans by it seldom fall short.

    :param number: of values that it was found from; at least 2.

    Source: Browne (1995): plan by the upper 80 % limit of a pilot's standard deviation.

    >>> round(cautious_sigma(1.0, 4), 2), round(cautious_sigma(1.0, 100), 2)
    (1.73, 1.07)
    """
    from scipy.stats import chi2

    return sigma * math.sqrt((number - 1) / float(chi2.ppf(0.2, number - 1)))


@lru_cache(maxsize=1024)
def pairs_needed(effect: float, sigma: float, alpha: float = 0.05, power: float = 0.9) -> int:
    """How many pairs find a difference with a wanted probability, by Wilcoxon's signed-rank test.

    :param effect: the difference to be found, as a logarithm of a ratio (0.01: 1 %); above 0.
    :param sigma: standard deviation of the pairs' log ratios.
    :param alpha: two-sided level of the test.
    :param power: the wanted probability.
    :returns: at least 8, at most 100,000.

    Source: the power of Student's test, corrected by the asymptotic relative efficiency 3/pi of Wilcoxon's.

    >>> [pairs_needed(effect, 0.01) for effect in (0.01, 0.005, 0.0025)]
    [14, 47, 179]
    """
    if sigma <= 0.0:
        return FEWEST_PLANNED
    relative = min(abs(effect) / sigma, _LARGEST_EFFECT)
    # Here so many are needed that the sample's own uncertainty no longer counts: the normal distribution suffices.
    if relative < 0.05:
        return _by_normal_law(relative, alpha, power)
    from scipy.optimize import brentq

    most = 2 * _by_normal_law(relative, alpha, power) + 10
    number = brentq(lambda pairs: _power(relative, pairs, alpha) - power, 1.5, most)
    return max(FEWEST_PLANNED, math.ceil(number / _EFFICIENCY))


def _power(relative: float, pairs: float, alpha: float) -> float:
    """The probability that Student's two-sided test of *pairs* differences finds an effect of so many sigma.

    Source: Cohen (1988), "Statistical Power Analysis for the Behavioral Sciences", by the noncentral t distribution.
    """
    from scipy.special import nctdtr, stdtrit

    free, shift = pairs - 1.0, relative * math.sqrt(pairs)
    limit = stdtrit(free, 1.0 - alpha / 2.0)
    # Below the lower limit lies next to nothing where the effect is large, and SciPy says NaN for it.
    below = float(nctdtr(free, shift, -limit))
    return 1.0 - float(nctdtr(free, shift, limit)) + (0.0 if math.isnan(below) else below)


def _by_normal_law(relative: float, alpha: float, power: float) -> int:
    from scipy.stats import norm

    if relative <= 0.0:
        return MOST_PLANNED
    quantiles = float(norm.ppf(1.0 - alpha / 2.0) + norm.ppf(power))
    return min(MOST_PLANNED, math.ceil((quantiles / relative) ** 2 / _EFFICIENCY))


def smallest_effect(pairs: int, sigma: float, alpha: float = 0.05, power: float = 0.9) -> float:
    """The least difference that so many pairs find with a wanted probability, as a logarithm of a ratio.

    :param pairs: at least 3.
    :param sigma: standard deviation of the pairs' log ratios.

    >>> round(smallest_effect(14, 0.01) * 100, 1)
    1.0
    """
    if sigma <= 0.0:
        return 0.0
    from scipy.optimize import brentq

    number = pairs * _EFFICIENCY
    most = 1.0 / math.sqrt(number)
    while _power(most, number, alpha) < power:
        most *= 1.5
    return float(brentq(lambda effect: _power(effect, number, alpha) - power, 0.0, most)) * sigma

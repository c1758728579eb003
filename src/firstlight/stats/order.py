"""The order of a session: whether it decides who is faster, and whether the machine changed on the way."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel
from firstlight.stats.estimate import Estimate, Floats, unpaired
from firstlight.stats.pettitt import pettitt
from firstlight.stats.significance import Significance, unpaired_p

#: An order as one-sided as this happens once in a hundred random sessions.
_ONE_SIDED = 0.01
#: Probability below which a session is said to have changed.
_CHANGED = 0.01
_FEWEST_OF_A_STATE = 4
#: With fewer pairs of an order nothing is known of its effect.
_FEWEST_OF_AN_ORDER = 2

Bools = npt.NDArray[np.bool_]


class OrderEffect(FrozenModel):
    """Which boot of a pair was recorded first, and how much longer the second one takes, whichever arm it is of."""

    a_first: int = Field(description="pairs in which the boot of a was recorded first")
    b_first: int = Field(description="pairs in which that of b was")
    is_fixed: bool = Field(description="one arm was first in all pairs, or in more than a random order gives")
    percent: float | None = Field(
        description="how much longer the second boot of a pair takes; none with fewer than two pairs of either order"
    )
    p: float | None = Field(description="probability of such an effect by chance")


def order_effect(log_ratios: Floats, a_first: Bools, seed: int) -> OrderEffect:
    """Estimate from pairs how much longer the boot takes that is recorded second.

    :param log_ratios: ln(b/a) of each pair.
    :param a_first: whether its boot of a was recorded first.
    :param seed: of the test by permutation, where there are ties.

    Source: the period effect of a two-period crossover (Koch 1972; Hills and Armitage 1979); sign test of the order.

    >>> later = np.array([True, False] * 5)
    >>> found = order_effect(np.where(later, 0.02, 0.0) + np.arange(10) * 1e-4, later, seed=1)
    >>> round(found.percent, 1), found.is_fixed
    (1.0, False)
    """
    from scipy.stats import binomtest

    first, pairs = int(a_first.sum()), a_first.size
    one_sided = min(first, pairs - first) == 0 or binomtest(first, pairs).pvalue < _ONE_SIDED
    if min(first, pairs - first) < _FEWEST_OF_AN_ORDER:
        is_fixed = one_sided and pairs > 1
        return OrderEffect(a_first=first, b_first=pairs - first, is_fixed=is_fixed, percent=None, p=None)
    found = unpaired(log_ratios[~a_first], log_ratios[a_first])
    p = unpaired_p(log_ratios[~a_first], log_ratios[a_first], seed).p
    percent = math.expm1(found.log_ratio / 2) * 100
    return OrderEffect(a_first=first, b_first=pairs - first, is_fixed=one_sided, percent=percent, p=p)


def without_order_effect(
    log_ratios: Floats, a_first: Bools, seed: int, confidence: float = 0.95
) -> tuple[Estimate, Significance]:
    """Estimate b/a from pairs in which the order matters: what the second boot takes longer is in neither figure.

    The ratio of the second boot to the first is b/a and the effect of the order where a was first, and a/b and that
    effect where b was first. The two groups therefore differ by twice ln(b/a).

    Source: the treatment effect of a two-period crossover by the U test (Koch 1972).

    >>> later = np.array([True, False] * 5)
    >>> ratios = 0.03 + np.where(later, 0.01, -0.01) + np.arange(10) * 1e-5
    >>> found, tested = without_order_effect(ratios, later, seed=1)
    >>> round(found.log_ratio, 3), tested.p < 0.05
    (0.03, True)
    """
    second_to_first = np.where(a_first, log_ratios, -log_ratios)
    twice = unpaired(second_to_first[~a_first], second_to_first[a_first], confidence)
    halved = {
        name: None if (value := getattr(twice, name)) is None else value / 2 for name in ("log_ratio", "low", "high")
    }
    # Of the pairs either order needs as many as the U test does of boots.
    found = twice.model_copy(update={**halved, "needed": 2 * twice.needed})
    tested = unpaired_p(second_to_first[~a_first], second_to_first[a_first], seed)
    return found, tested.model_copy(update={"method": f"{tested.method}, of pairs by who was first"})


def session_changes(residuals: Floats) -> list[int]:
    """Where a machine changed from one state to another during a session: the first boot of each new state.

    :param residuals: logarithms of times in the order of recording, each less the median of its arm.

    Source: Pettitt (1979), splitting the session again at each change.

    >>> session_changes(np.r_[np.arange(12) % 3 * 0.001, 0.1 + np.arange(12) % 3 * 0.001])
    [12]
    """
    split, p = pettitt(residuals, _FEWEST_OF_A_STATE)
    if p >= _CHANGED:
        return []
    before, after = session_changes(residuals[:split]), session_changes(residuals[split:])
    return [*before, split, *(split + place for place in after)]


def are_alike(residuals: Floats) -> bool:
    """Whether boots that were recorded next to each other are alike: the machine drifts, or switches between states.

    :param residuals: as of :func:`session_changes`.

    Source: the rank version of von Neumann's ratio (Bartels 1982), normal approximation.

    >>> are_alike(np.array([0.0, 0.1, 0.0, 0.1, 0.05] * 5)), are_alike(np.repeat([0.0, 0.1, 0.01, 0.12], 6))
    (False, True)
    """
    from scipy.stats import norm, rankdata

    size = residuals.size
    if size < 2 * _FEWEST_OF_A_STATE:
        return False
    ranks = rankdata(residuals)
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    if spread == 0.0:
        return False
    ratio = float((np.diff(ranks) ** 2).sum()) / spread
    variance = 4 * (size - 2) * (5 * size**2 - 2 * size - 9) / (5 * size * (size + 1) * (size - 1) ** 2)
    return float(norm.cdf((ratio - 2.0) / math.sqrt(variance))) < _CHANGED

"""The verdict of a comparison: regression, improvement, equivalent or inconclusive."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from firstlight.frozen import FrozenModel
from firstlight.stats.estimate import Estimate, percent
from firstlight.stats.sample_size import FEWEST_OF_A_PLAN, MOST_PLANNED, cautious_sigma, pairs_needed

Word = Literal["regression", "improvement", "equivalent", "inconclusive"]


class Verdict(FrozenModel):
    """The answer, why, and what would settle it."""

    word: Word = Field(description="the answer")
    reason: str = Field(description="why, in words")
    more: int | None = Field(
        default=None,
        description="about so many more pairs (boots of each arm) would settle it; none where so few do not say",
    )
    least: int | None = Field(default=None, description="so many more at least, before there is an interval at all")

    def advice(self, unit: str) -> str:
        """How many more boots a verdict that settles nothing asks for, to follow the reason; empty where for none.

        >>> Verdict(word="inconclusive", reason="", more=620, least=2).advice("pairs")
        '; at least 2 more pairs are needed, and if they vary as these do, about 620'
        >>> Verdict(word="inconclusive", reason="", least=4).advice("pairs")
        '; at least 4 more pairs are needed; so few do not say how many would settle it'
        """
        if self.least is None:
            return "" if self.more is None else f"; about {self.more:,} more {unit} would settle it"
        if self.more is None:
            return f"; at least {self.least:,} more {unit} are needed; so few do not say how many would settle it"
        return f"; at least {self.least:,} more {unit} are needed, and if they vary as these do, about {self.more:,}"


class VerdictThresholds(FrozenModel):
    """What counts as a difference, as logarithms of b/a."""

    soft: float = Field(gt=0, description="a difference within this either way does not matter")
    floor: float = Field(default=0.0, ge=0, description="the smallest change that the testbed can detect")
    alpha: float = Field(default=0.05, gt=0, lt=1, description="level of the test")

    @property
    def soft_below(self) -> float:
        """The soft limit downwards: as many percent, which is another logarithm."""
        part = math.expm1(self.soft)
        return math.log1p(-part) if part < 1.0 else -math.inf


def settle(
    change: float, low: float, high: float, limit: float, *, limit_below: float | None = None, certain: bool = True
) -> Word:
    """Say what a change is: the one definition of a regression, for exact and noisy figures alike.

    *Equivalent*: the whole interval lies within the limit either way. *Regression*: the change is certain, the
    interval lies above zero, and the change is larger than the limit; an *improvement* is the mirror image. Else it is
    *inconclusive*. An exact change is its own interval, so it is never inconclusive.

    :param change: the estimate, in any unit in which a change for the worse is positive; *low* and *high* bound it.
    :param limit: what may change without mattering, in the same unit; not negative.
    :param limit_below: the limit downwards, where it differs.
    :param certain: whether the test of a noisy change is below its level.

    >>> settle(3, 3, 3, limit=2), settle(2, 2, 2, limit=2), settle(-3, -3, -3, limit=2)
    ('regression', 'equivalent', 'improvement')
    >>> settle(3, 1, 5, limit=2), settle(1.5, 1, 5, limit=2), settle(3, -1, 7, limit=2)
    ('regression', 'inconclusive', 'inconclusive')
    """
    below = limit if limit_below is None else limit_below
    if -below <= low and high <= limit:
        return "equivalent"
    if certain and low > 0 and change > limit:
        return "regression"
    if certain and high < 0 and -change > below:
        return "improvement"
    return "inconclusive"


def decide(
    found: Estimate, p: float, number: int, sigma: float, limits: VerdictThresholds, *, paired: bool = True
) -> Verdict:
    """Decide by :func:`settle` from an estimate with its interval and the test's p, adjusted for several comparisons.

    The whole interval within the soft limit is the test of equivalence by two one-sided tests at half of
    `1 - confidence` each.

    :param number: pairs, or boots of the smaller arm.
    :param sigma: standard deviation of the pairs' log ratios (unpaired: of the differences of any two boots).

    Source: three-valued decisions with equivalence by bounds (Schuirmann 1987).

    >>> found = Estimate(log_ratio=0.03, low=0.02, high=0.04, confidence=0.95, achieved=0.96, needed=6)
    >>> decide(found, 0.001, 12, 0.01, VerdictThresholds(soft=0.01))
    Verdict(word='regression', reason='the interval lies above 0 %', more=None, least=None)
    """
    if found.low is None or found.high is None:
        return _too_few(found, number, sigma, limits, "pairs" if paired else "boots of each arm")
    certain = p < limits.alpha and abs(found.log_ratio) >= limits.floor
    word = settle(found.log_ratio, found.low, found.high, limits.soft, limit_below=-limits.soft_below, certain=certain)
    if word == "equivalent":
        real = certain and not found.low <= 0.0 <= found.high
        though = "; there is a difference, but one that small does not matter" if real else ""
        return Verdict(word=word, reason=f"the interval lies within {_soft_text(limits)}{though}")
    if word != "inconclusive":
        return Verdict(word=word, reason=f"the interval lies {'above' if word == 'regression' else 'below'} 0 %")
    return _inconclusive(found, p, number, sigma, limits)


def _soft_text(limits: VerdictThresholds) -> str:
    return f"±{percent(limits.soft):.3g} %"


def _too_few(found: Estimate, number: int, sigma: float, limits: VerdictThresholds, units: str) -> Verdict:
    """Without an interval: how many there have to be at least, and how many the spread of these lets expect."""
    least = max(1, found.needed - number)
    reason = f"need at least {found.needed} {units}, there are {number}"
    if number < FEWEST_OF_A_PLAN:
        return Verdict(word="inconclusive", reason=reason, least=least)
    needed = pairs_needed(_margin(found, limits), cautious_sigma(sigma, number), limits.alpha)
    if needed >= MOST_PLANNED:
        return Verdict(word="inconclusive", reason=reason, least=least)
    return Verdict(word="inconclusive", reason=reason, more=max(needed - number, least), least=least)


def _margin(found: Estimate, limits: VerdictThresholds) -> float:
    """Either question may be settled first, if the estimate stays: that it differs, or that it does not matter."""
    return max(abs(found.log_ratio), limits.soft - abs(found.log_ratio))


def _inconclusive(found: Estimate, p: float, number: int, sigma: float, limits: VerdictThresholds) -> Verdict:
    low, high = (0.0 if bound is None else bound for bound in (found.low, found.high))
    soft, margin = _soft_text(limits), _margin(found, limits)
    if low <= 0.0 <= high:
        reason = f"the interval contains 0 % and reaches beyond {soft}"
    elif p >= limits.alpha:
        reason = f"the interval leaves out 0 %, but p = {p:.3g} is not proof"
    elif abs(found.log_ratio) < limits.floor:
        reason = f"the change is below {percent(limits.floor):.2g} %, the noise of this testbed with so few boots"
    else:
        reason = f"the change is real, but the interval does not settle whether it is within {soft}"
        margin = limits.soft - abs(found.log_ratio)
    needed = pairs_needed(margin, sigma, limits.alpha)
    if needed >= MOST_PLANNED:
        return Verdict(word="inconclusive", reason=f"{reason}; no number of boots would settle it on this testbed")
    # What the formula hopes for and these boots did not give: at least a few more, or the advice would be to stop.
    return Verdict(word="inconclusive", reason=reason, more=max(needed - number, math.ceil(number / 4), 2))

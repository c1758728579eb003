"""One rule against what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from firstlight.quantities import signed_time, time_text
from firstlight.stats.verdict import Word, settle

Outcome = Literal["pass", "improvement", "regression", "inconclusive", "unhealthy"]
Kind = Literal["soft", "hard", "budget", "health"]
_OUTCOMES: dict[Word, Outcome] = {
    "regression": "regression", "improvement": "improvement", "equivalent": "pass", "inconclusive": "inconclusive",
}  # fmt: skip

#: Of the random exchanges that take the place of an exact test where there are ties.
SEED = 1

#: Level of the test of a noisy change.
SIGNIFICANCE_LEVEL = 0.05

#: With fewer boots no interval of 95 % bounds a median.
_LEAST_FOR_MEDIAN = 6

#: One boot that varies says nothing of how much it varies.
_LEAST_FOR_CHANGE = 2


@dataclass(frozen=True)
class Check:
    """What became of one rule. Times are nanoseconds."""

    kind: Kind
    what: str
    """`total`, the name of a phase, or what of the health."""
    outcome: Outcome
    text: str
    """The reason, in words."""
    limit_ns: int | None = None
    """What may not be exceeded."""
    baseline_ns: int | None = None
    measured_ns: int | None = None
    change_ns: int | None = None
    change_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    """The 95 % interval of the change, where there is noise."""
    probability: float | None = None
    band_ns: int | None = None
    """How far the figure moves by itself, where a noise band says so."""

    @property
    def name(self) -> str:
        """What the check is called in reports.

        >>> Check("soft", "total", "pass", "").name
        'total: soft limit'
        """
        return f"{self.what}: {self.kind}{' limit' if self.kind in ('soft', 'hard') else ''}"


def soft_check(
    what: str, baseline: Sequence[int], measured: Sequence[int], percent: float, floor_ns: int, *, exact: bool,
    band_ns: int = 0, fail_within_band: bool = False,
) -> Check:  # fmt: skip
    """Compare with a baseline: growth by more than some percent, and by more than a floor, is a regression.

    :param baseline: nanoseconds of every boot of the baseline; an exact baseline needs only the first.
    :param measured: the same of the boots in question.
    :param band_ns: the noise band of the figure, where the boots are exact; a growth within it is not a regression.
    :param fail_within_band: a growth beyond the limit is a regression within the band, too.

    >>> soft_check("total", [1_000_000], [1_003_000], 0.2, 0, exact=True).outcome
    'regression'
    >>> soft_check("total", [1_000_000], [1_003_000], 0.2, 5_000, exact=True).outcome
    'pass'
    >>> soft_check("total", range(1_000, 1_040), [1_020], 10.0, 0, exact=False).outcome
    'inconclusive'
    """
    before, after = (baseline[0], measured[0]) if exact else (_median(baseline), _median(measured))
    allowed = max(math.floor(before * percent / 100), floor_ns, 0 if fail_within_band else band_ns)
    change = after - before
    relative = change / before * 100 if before else None
    figures = {"limit_ns": before + allowed, "baseline_ns": before, "measured_ns": after, "change_ns": change}
    if exact:
        outcome = _OUTCOMES[settle(change, change, change, allowed)]
        text = "unchanged" if change == 0 else f"changed by {signed_time(change)}; {time_text(allowed)} is allowed"
        if change and band_ns:
            text += f"; {'within' if abs(change) <= band_ns else 'beyond'} the noise band of {time_text(band_ns)}"
        return Check("soft", what, outcome, text, change_percent=relative, band_ns=band_ns, **figures)
    if min(len(baseline), len(measured)) < _LEAST_FOR_CHANGE:
        text = "one boot per side is not enough: boots differ without any change"
        return Check("soft", what, "inconclusive", text, change_percent=relative, **figures)
    if min(*baseline, *measured) <= 0:
        # Nothing is a percentage of nothing: a phase without a duration is checked by the floor alone.
        outcome = "regression" if change > allowed else "pass"
        return Check("soft", what, outcome, "some boots spent no time here", change_percent=relative, **figures)
    found = noisy_change(baseline, measured, paired=False)
    outcome, text = _noisy(found, max(percent / 100, floor_ns / before), min(len(baseline), len(measured)))
    return Check("soft", what, outcome, text, change_percent=found.percent, low_percent=found.low,
                 high_percent=found.high, probability=found.probability, **figures)  # fmt: skip


@dataclass(frozen=True)
class NoisyChange:
    """How much longer boots with noise take, in percent."""

    percent: float
    low: float | None
    high: float | None
    """The 95 % interval; none where there are too few boots for one."""
    probability: float
    sigma: float
    """Of the log ratios."""
    needed: int
    """From so many boots a side there is an interval."""

    def settled(self, limit: float) -> Word:
        """What the change is, by the one definition of a regression.

        :param limit: the growth that is allowed, as a share.

        >>> NoisyChange(3.0, 1.0, 5.0, 0.01, 0.01, 6).settled(0.02)
        'regression'
        """
        if self.low is None or self.high is None:
            return "inconclusive"
        change, low, high = (math.log1p(percent / 100) for percent in (self.percent, self.low, self.high))
        below = -math.log1p(-limit) if limit < 1 else math.inf
        return settle(
            change, low, high, math.log1p(limit), limit_below=below, certain=self.probability < SIGNIFICANCE_LEVEL
        )


def noisy_change(baseline: Sequence[int], measured: Sequence[int], *, paired: bool) -> NoisyChange:
    """Estimate the change from boots with noise.

    :param baseline: positive times.
    :param measured: the same; where they are paired, in the same order.

    >>> round(noisy_change([100, 101, 102, 103, 104], [110, 111, 112, 113, 114], paired=False).percent, 1)
    9.8
    """
    import numpy as np

    from firstlight.stats import estimate, significance
    from firstlight.stats.sample_size import robust_sigma

    a, b = np.log(np.asarray(baseline, dtype=float)), np.log(np.asarray(measured, dtype=float))
    ratios = b - a if paired else np.subtract.outer(b, a).ravel()
    found = estimate.paired(ratios) if paired else estimate.unpaired(a, b)
    p = significance.paired_p(ratios, SEED).p if paired else significance.unpaired_p(a, b, SEED).p
    low, high = found.interval_percent or (None, None)
    return NoisyChange(found.percent, low, high, p, robust_sigma(ratios), found.needed)


def adjusted(checks: Sequence[Check]) -> list[Check]:
    """The checks with their probabilities adjusted for being several: a regression or improvement has to stand.

    Source: Holm (1979), over all checks that have a probability.
    """
    from firstlight.stats.multiple_testing import holm

    kept = []
    for check, p in zip(checks, holm([check.probability for check in checks]), strict=True):
        if p is not None:
            check = replace(check, probability=p)
            if p >= SIGNIFICANCE_LEVEL and check.outcome in ("regression", "improvement"):
                text = f"p = {p:.2g} among several rules is not proof"
                check = replace(check, outcome="inconclusive", text=text)
        kept.append(check)
    return kept


def _noisy(found: NoisyChange, limit: float, number: int) -> tuple[Outcome, str]:
    from firstlight.stats.sample_size import pairs_needed

    if found.low is None or found.high is None:
        return "inconclusive", f"an interval needs at least {found.needed} boots per side, there are {number}"
    outcome = _OUTCOMES[found.settled(limit)]
    if outcome == "regression":
        return outcome, "the change is larger than the limit, and the whole interval lies above 0 %"
    if outcome == "improvement":
        return outcome, "the change is larger than the limit, and the whole interval lies below 0 %"
    if found.high <= limit * 100:
        return "pass", "the whole interval lies within the limit"
    margin = abs(math.log1p(limit) - math.log1p(found.percent / 100))
    more = max(pairs_needed(margin, found.sigma) - number, math.ceil(number / 4), 2)
    return "inconclusive", f"the interval extends beyond the limit: about {more:,} more boots per side would decide"


def limit_check(
    kind: Literal["hard", "budget"], what: str, measured: Sequence[int], limit_ns: int, *, exact: bool
) -> Check:
    """Compare with an absolute limit.

    Of noisy boots the median counts: it is over when its 95 % interval is; with fewer than six boots, when all are.

    >>> limit_check("hard", "total", [1_700_000_001], 1_700_000_000, exact=True).outcome
    'regression'
    >>> limit_check("hard", "total", [9, 11, 9], 10, exact=False).outcome
    'inconclusive'
    """
    value = measured[0] if exact else _median(measured)
    over = value - limit_ns
    if exact:
        low = high = value
    else:
        ordered = sorted(measured)
        outside = _outside(len(ordered))
        low, high = ordered[outside], ordered[len(ordered) - 1 - outside]
    if low > limit_ns:
        outcome: Outcome = "regression"
        text = f"{time_text(over)} over"
    elif high <= limit_ns:
        outcome, text = "pass", f"{time_text(-over)} left"
    else:
        outcome, text = (
            "inconclusive",
            f"some boots exceed it and some do not: from {time_text(low)} to {time_text(high)}",
        )
    return Check(kind, what, outcome, text, limit_ns=limit_ns, measured_ns=value)


def _outside(number: int) -> int:
    """How many boots lie outside the 95 % interval of the median on each side."""
    if number < _LEAST_FOR_MEDIAN:
        return 0
    from scipy.stats import binom

    return max(0, int(binom.ppf(0.025, number, 0.5)) - 1)


def _median(values: Sequence[int]) -> int:
    return round(median(values))

"""One rule against what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from firstlight.compare.gate.unpaired import shift

Outcome = Literal["pass", "improvement", "regression", "inconclusive", "unhealthy"]
Kind = Literal["soft", "hard", "budget", "health"]

#: With fewer boots no interval of 95 % bounds a median.
_LEAST_FOR_MEDIAN = 6


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

    @property
    def name(self) -> str:
        """What the check is called in reports.

        >>> Check("soft", "total", "pass", "").name
        'total: soft limit'
        """
        return f"{self.what}: {self.kind}{' limit' if self.kind in ('soft', 'hard') else ''}"


def soft_check(
    what: str, baseline: Sequence[int], measured: Sequence[int], percent: float, floor_ns: int, *, exact: bool
) -> Check:
    """Compare with a baseline: growth by more than some percent, and by more than a floor, is a regression.

    :param baseline: nanoseconds of every boot of the baseline; of an exact one the first says all.
    :param measured: the same of the boots in question.

    >>> soft_check("total", [1_000_000], [1_003_000], 0.2, 0, exact=True).outcome
    'regression'
    >>> soft_check("total", [1_000_000], [1_003_000], 0.2, 5_000, exact=True).outcome
    'pass'
    """
    before, after = (baseline[0], measured[0]) if exact else (_median(baseline), _median(measured))
    allowed = max(math.floor(before * percent / 100), floor_ns)
    change = after - before
    relative = change / before * 100 if before else None
    figures = {"limit_ns": before + allowed, "baseline_ns": before, "measured_ns": after, "change_ns": change}
    if exact:
        outcome: Outcome = "regression" if change > allowed else "improvement" if -change > allowed else "pass"
        text = "unchanged" if change == 0 else f"changed by {change:+,} ns; {allowed:,} ns are allowed"
        return Check("soft", what, outcome, text, change_percent=relative, **figures)
    if min(*baseline, *measured) <= 0:
        # Nothing is a percentage of nothing: what has no duration is judged by the floor alone.
        outcome = "regression" if change > allowed else "pass"
        return Check("soft", what, outcome, "some boots spent no time here", change_percent=relative, **figures)
    found = shift(baseline, measured)
    limit = max(percent / 100, floor_ns / before)
    outcome, text = _noisy(found.low, found.high, limit, len(baseline), len(measured))
    bounds = [None if bound is None else bound * 100 for bound in (found.low, found.high)]
    return Check("soft", what, outcome, text, change_percent=found.estimate * 100, low_percent=bounds[0],
                 high_percent=bounds[1], probability=found.probability, **figures)  # fmt: skip


def _noisy(low: float | None, high: float | None, limit: float, first: int, second: int) -> tuple[Outcome, str]:
    if low is None or high is None:
        return "inconclusive", (
            f"{first} and {second} boots are too few for an interval of 95 %: it takes 4 and 4, better 12 and 12"
        )
    if low > limit:
        return "regression", "the whole interval lies above the limit"
    if high < -limit:
        return "improvement", "the whole interval lies below the baseline by more than the limit"
    if high <= limit:
        return "pass", "the whole interval lies within the limit"
    # An interval narrows with the root of the number of boots.
    times = ((high - low) / 2 / max(abs(limit - (low + high) / 2), limit / 4, 1e-6)) ** 2
    more = max(1, math.ceil(second * (min(times, 100) - 1)))
    return "inconclusive", f"the interval reaches over the limit: about {more} more boots a side would tell"


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
        text = f"{over:,} ns over"
    elif high <= limit_ns:
        outcome, text = "pass", f"{-over:,} ns left"
    else:
        outcome, text = "inconclusive", f"some boots are over, some are not: from {low:,} to {high:,} ns"
    return Check(kind, what, outcome, text, limit_ns=limit_ns, measured_ns=value)


def _outside(number: int) -> int:
    """How many boots lie outside the 95 % interval of the median on each side."""
    if number < _LEAST_FOR_MEDIAN:
        return 0
    from scipy.stats import binom

    return max(0, int(binom.ppf(0.025, number, 0.5)) - 1)


def _median(values: Sequence[int]) -> int:
    return round(median(values))

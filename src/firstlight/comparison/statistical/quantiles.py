"""Quantiles of two arms, and the share of their slow boots, each with a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel
from firstlight.stats.multiple_testing import holm
from firstlight.stats.quantiles import QuantileChange, quantile_change, slow_share_change
from firstlight.stats.verdict import Word, settle


class Statistic(StrEnum):
    """A figure of the distribution of boot times."""

    P50 = "p50"
    P90 = "p90"
    P95 = "p95"
    SLOW_SHARE = "slow-share"


_QUANTILES = {Statistic.P50: 0.5, Statistic.P90: 0.9, Statistic.P95: 0.95}


class StatisticChange(FrozenModel):
    """One statistic of both arms; of a share, percent is percentage points."""

    statistic: Statistic = Field(description="`p50`, `p90`, `p95` or `slow-share`")
    change: QuantileChange | None = Field(description="none where there are too few boots, or no slow mode")
    adjusted_p: float | None = Field(description="among all statistics that were asked for, by Holm")
    word: Word = Field(description="regression, improvement, equivalent or inconclusive")
    reason: str = Field(description="why")


def compare_statistics(
    a_ns: npt.ArrayLike,
    b_ns: npt.ArrayLike,
    statistics: Sequence[Statistic],
    *,
    paired: bool,
    seed: int,
    alpha: float = 0.05,
    soft_percent: float = 1.0,
    doubt: str | None = None,
) -> list[StatisticChange]:
    """Compare statistics of two arms: all of them together call equal arms different in at most *alpha* of sessions.

    :param a_ns: times above 0; with pairs, place by place those of *b_ns*.
    :param soft_percent: a change within this does not matter; of a share in percentage points.
    :param doubt: why the order of recording may be all of a change; then nothing is settled.

    Source: Holm (1979) over :func:`firstlight.stats.quantiles.quantile_change` and `slow_share_change`.

    >>> slower = [1_000 + 3 * number for number in range(40)]
    >>> (found,) = compare_statistics(range(900, 940), slower, [Statistic.P95], paired=False, seed=1)
    >>> found.word
    'regression'
    """
    changes = [_change(a_ns, b_ns, each, paired=paired, seed=seed, alpha=alpha) for each in statistics]
    adjusted = holm([change.p if isinstance(change, QuantileChange) else None for change in changes])
    found = []
    for statistic, change, p in zip(statistics, changes, adjusted, strict=True):
        if isinstance(change, str) or p is None:
            missing = change if isinstance(change, str) else ""
            found.append(StatisticChange(statistic=statistic, change=None, adjusted_p=None, word="inconclusive",
                                         reason=missing))  # fmt: skip
            continue
        word = settle(change.percent, change.low_percent, change.high_percent, soft_percent, certain=p < alpha)
        reason = {
            "regression": "the interval lies above 0 %",
            "improvement": "the interval lies below 0 %",
            "equivalent": f"the interval lies within ±{soft_percent:g} %",
            "inconclusive": f"p = {p:.2g}, and the interval reaches beyond ±{soft_percent:g} %",
        }[word]
        if doubt is not None:
            word, reason = "inconclusive", doubt
        found.append(StatisticChange(statistic=statistic, change=change, adjusted_p=p, word=word, reason=reason))
    return found


def _change(
    a_ns: npt.ArrayLike, b_ns: npt.ArrayLike, statistic: Statistic, *, paired: bool, seed: int, alpha: float
) -> QuantileChange | str:
    """The change of one statistic, or why there is none."""
    import numpy as np

    quantile, number = _QUANTILES.get(statistic), min(np.size(a_ns), np.size(b_ns))
    if quantile is None:
        found = slow_share_change(a_ns, b_ns, paired=paired, seed=seed, alpha=alpha)
        return found or "all boots together have one mode, or one for each arm"
    # With fewer boots the quantile lies beyond the slowest one.
    needed = max(6, round(1 / (1 - quantile)))
    if number < needed:
        return f"this needs at least {needed} boots of each arm, there are {number}"
    return quantile_change(a_ns, b_ns, quantile, paired=paired, seed=seed, alpha=alpha)

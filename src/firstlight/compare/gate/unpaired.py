"""Boots of two arms that were not taken in pairs: how much slower, and within which bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Shift:
    """How much longer the second arm takes, relative: 0.01 is one percent."""

    estimate: float
    low: float | None
    high: float | None
    """The 95 % interval; none where there are too few boots for one."""
    probability: float
    """Of a difference as large as this, or larger, when there is none."""


def shift(first: Sequence[float], second: Sequence[float]) -> Shift:
    """Estimate how much longer boots take than those of a baseline.

    :param first: positive times of the baseline, in any unit.
    :param second: those of the boots, in the same.

    Source: Hodges and Lehmann on logarithms, the interval by inverting the exact Mann-Whitney test.

    >>> round(shift([100, 101, 102, 103, 104], [110, 111, 112, 113, 114]).estimate, 3)
    0.098
    """
    from scipy.stats import mannwhitneyu

    one, other = np.log(np.asarray(first, dtype=float)), np.log(np.asarray(second, dtype=float))
    ratios = np.sort(np.subtract.outer(other, one).ravel())
    tied = len(np.unique(np.concatenate([one, other]))) < len(one) + len(other)
    method = "asymptotic" if tied or len(one) * len(other) > 2500 else "exact"
    probability = float(mannwhitneyu(other, one, method=method).pvalue)
    bounds = _bounds(len(one), len(other))
    estimate = float(np.expm1(np.median(ratios)))
    if bounds is None:
        return Shift(estimate, None, None, probability)
    low, high = np.expm1(ratios[bounds]), np.expm1(ratios[len(ratios) - 1 - bounds])
    return Shift(estimate, float(low), float(high), probability)


def _bounds(first: int, second: int) -> int | None:
    """How many of the ordered ratios lie below the interval, so that it holds 95 %; none where it cannot."""
    from scipy.stats import norm

    if first * second <= 2500:
        counts = _distribution(first, second)
        cumulative = np.cumsum(counts) / counts.sum()
        below = int(np.searchsorted(cumulative, 0.025, side="right"))
        return below - 1 if below >= 1 else None
    spread = np.sqrt(first * second * (first + second + 1) / 12)
    return max(0, int(np.floor(first * second / 2 - float(norm.ppf(0.975)) * spread - 0.5)))


def _distribution(first: int, second: int) -> np.typing.NDArray[np.float64]:
    """How many orders of two samples give each value of U: the coefficients of a Gaussian binomial."""
    counts = np.zeros(first * second + 1)
    counts[0] = 1.0
    for each in range(1, first + 1):
        # Times (1 - x^(second + each)) over (1 - x^each).
        shifted = np.zeros_like(counts)
        if second + each < len(counts):
            shifted[second + each :] = counts[: -(second + each)]
        counts = counts - shifted
        for place in range(each, len(counts)):
            counts[place] += counts[place - each]
    return counts

"""Significance of a difference: Wilcoxon's tests, exact where possible."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel
from firstlight.stats.estimate import Floats

#: Up to here the exact distribution of untied ranks is used.
_MOST_EXACT = 50
_RESAMPLES = 9_999


class Significance(FrozenModel):
    """How probable a difference as large as this is without any cause; always with how it was found."""

    p: float = Field(description="two-sided probability")
    method: str = Field(description="the test, in words")
    smallest: float = Field(description="the least p that this number of boots can give")


def paired_p(differences: npt.ArrayLike, seed: int) -> Significance:
    """Wilcoxon's signed-rank test of pairs: exact without ties, else by changing signs.

    :param differences: of each pair; log ratios or nanoseconds. Those that are 0 say nothing and are left out.
    :param seed: of the random signs, where there are too many to try all.

    Source: Wilcoxon 1945; ties by permutation (Fisher 1935, Pitman 1937).

    >>> paired_p([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], seed=1)
    Significance(p=0.03125, method='Wilcoxon signed rank, exact', smallest=0.03125)
    >>> paired_p([0.0, 0.0], seed=1).method
    'every pair is equal'
    """
    from scipy.stats import permutation_test, rankdata, wilcoxon

    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    n = values.size
    if n == 0:
        return Significance(p=1.0, method="every pair is equal", smallest=1.0)
    smallest = min(1.0, 2.0 ** (1 - n))
    tied = np.unique(np.abs(values)).size < n
    if n <= _MOST_EXACT and not tied:
        p = float(wilcoxon(values, method="exact").pvalue)
        return Significance(p=p, method="Wilcoxon signed rank, exact", smallest=smallest)
    every = n <= math.log2(_RESAMPLES)
    ranks = rankdata(np.abs(values)) * np.sign(values)
    p = float(
        permutation_test(
            (ranks,), np.sum, permutation_type="samples", vectorized=True,
            n_resamples=2**n if every else _RESAMPLES, rng=np.random.default_rng(seed),
        ).pvalue
    )  # fmt: skip
    why = "ties" if tied else f"more than {_MOST_EXACT} pairs"
    signs = "all signs" if every else f"{_RESAMPLES:,} random signs, seed {seed}"
    return Significance(p=min(p, 1.0), method=f"Wilcoxon signed rank, by {signs} ({why})", smallest=smallest)


def unpaired_p(a: npt.ArrayLike, b: npt.ArrayLike, seed: int) -> Significance:
    """The U test of two arms that are not paired: exact without ties, else by exchanging boots.

    :param a: times of one arm, or their logarithms.
    :param b: of the other.
    :param seed: of the random exchanges, where there are too many to try all.

    Source: Mann and Whitney 1947; ties by permutation.

    >>> unpaired_p([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], seed=1).method
    'Mann-Whitney U, exact'
    """
    from scipy.stats import mannwhitneyu, permutation_test, rankdata

    one, other = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    both = np.concatenate([one, other])
    if np.unique(both).size <= 1:
        return Significance(p=1.0, method="every boot is equal", smallest=1.0)
    ways = math.comb(both.size, one.size)
    smallest = min(1.0, 2.0 / ways)
    tied = np.unique(both).size < both.size
    if both.size <= 2 * _MOST_EXACT and not tied:
        p = float(mannwhitneyu(one, other, method="exact").pvalue)
        return Significance(p=min(p, 1.0), method="Mann-Whitney U, exact", smallest=smallest)
    every = ways <= _RESAMPLES
    ranks = rankdata(both)
    if min(one.size, other.size) == 1:
        p = _single_p(ranks, float(ranks[0] if one.size == 1 else ranks[-1]))
    else:
        p = float(
            permutation_test(
                (ranks[: one.size], ranks[one.size :]), _difference_of_means, permutation_type="independent",
                vectorized=True, n_resamples=ways if every else _RESAMPLES, rng=np.random.default_rng(seed),
            ).pvalue
        )  # fmt: skip
    why = "ties" if tied else f"more than {2 * _MOST_EXACT} boots"
    drawn = "all exchanges" if every else f"{_RESAMPLES:,} random exchanges, seed {seed}"
    return Significance(p=min(p, 1.0), method=f"Mann-Whitney U, by {drawn} ({why})", smallest=smallest)


def _single_p(ranks: Floats, single: float) -> float:
    """The same for an arm of one boot, which `permutation_test` rejects: it is exchanged with each of the others."""
    return 2 * float(min(np.mean(ranks <= single), np.mean(ranks >= single)))


def _difference_of_means(a: Floats, b: Floats, axis: int) -> Floats:
    return np.asarray(np.mean(a, axis=axis) - np.mean(b, axis=axis))

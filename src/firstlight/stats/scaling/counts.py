"""Measured counts as terms of a model, such as processes x files: what a cost may grow with instead of the size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firstlight.errors import UsageError
from firstlight.stats.scaling.fit import fit_all
from firstlight.stats.scaling.models import Floats, ScalingModel
from firstlight.stats.scaling.sample import sampled

#: Less growth is none; a count grows by one.
_LEAST_GROWTH = 1e-9


def counted_term(name: str, sizes: Sequence[float], counts: Sequence[float]) -> ScalingModel:
    """A model of one term that is a measured count.

    At measured sizes the term is the count; at any other it follows the best model of the count itself.

    :param name: for tables, such as `processes*files`.
    :param counts: not negative; one for each size.
    :raises UsageError: for counts that are not counts, or that do not grow.

    >>> term = counted_term("files", [1, 2, 4, 8, 16, 32], [3, 5, 9, 17, 33, 65])
    >>> [round(float(each)) for each in term.growths[0](np.array([4.0, 64.0]))]
    [9, 129]
    """
    size, count = np.asarray(sizes, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if not np.all(np.isfinite(count)) or bool(np.any(count < 0)) or np.ptp(count) < _LEAST_GROWTH:
        raise UsageError(
            f"`{name}` is not a count that grows", where="--term", hint="name columns with counts, joined by `*`"
        )
    places = sampled(size)
    size, count = size[places], count[places]
    fits = fit_all(size, count, exact=True)
    distinct, place, number = np.unique(size, return_inverse=True, return_counts=True)
    known = dict(zip(distinct.tolist(), (np.bincount(place, count) / number).tolist(), strict=True))

    def growth(n: Floats) -> Floats:
        elsewhere = fits[0].at(n) if fits else np.interp(n, size, count)
        return np.array([known.get(float(at), float(other)) for at, other in zip(n, elsewhere, strict=True)])

    return ScalingModel(name, (growth,), "term")

"""Which of many measurements models are fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstlight.stats.scaling.models import Floats

#: Models are fitted to so many measurements, and to one of each size if there are as many sizes. Fits to 2,000 take
#: seconds, and intervals are narrow enough that more measurements would change nothing that is shown.
MOST_ROWS = 2_000


def sampled(sizes: Floats) -> NDArray[np.intp]:
    """The places of the measurements to fit, in their order: all, or a random choice with every size in it.

    Each size has the same number of measurements, or all of its own where it has fewer. The choice is the same for the
    same sizes. Of too many sizes as many are taken, evenly from the smallest to the largest.

    >>> len(sampled(np.arange(100.0)))
    100
    >>> sizes = np.array([1.0, 2.0, 3.0] * 5_000 + [4.0])
    >>> places = sampled(sizes)
    >>> np.unique(sizes[places], return_counts=True)[1].tolist()
    [666, 666, 666, 1]
    """
    if len(sizes) <= MOST_ROWS:
        return np.arange(len(sizes))
    distinct, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    taken = np.ones(len(distinct), dtype=bool)
    if len(distinct) > MOST_ROWS:
        taken[:] = False
        taken[np.linspace(0, len(distinct) - 1, MOST_ROWS).round().astype(int)] = True
    each = _rows_a_size(counts[taken])
    order = np.random.default_rng(0).permutation(len(sizes))
    order = order[np.argsort(place[order], kind="stable")]
    # The number of a measurement among those of its size, in random order.
    number = np.arange(len(sizes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[(number < each) & taken[place[order]]])


def _rows_a_size(counts: NDArray[np.intp]) -> int:
    """The largest number of measurements a size that :data:`MOST_ROWS` has room for."""
    low, high = 1, MOST_ROWS
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.sum(np.minimum(counts, middle))) <= MOST_ROWS:
            low = middle
        else:
            high = middle - 1
    return low

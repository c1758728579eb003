"""Pettitt's test: where a series most probably changed."""

from __future__ import annotations

import math

import numpy as np

from firstlight.stats.estimate import Floats


def pettitt(values: Floats, least: int = 1) -> tuple[int, float]:
    """Find where a series most probably changed, and the probability of such a series without any change.

    :param values: the series, in order.
    :param least: so many values lie on each side of the place.
    :returns: the place of the first changed value, and p; 0 and 1 where there are too few values, or all are equal.

    Source: Pettitt (1979), "A non-parametric approach to the change-point problem", with the correction for ties.

    >>> place, p = pettitt(np.array([1.0, 2, 1, 2, 1, 2, 1, 2, 9, 8, 9, 8, 9, 8, 9, 8]))
    >>> place, p < 0.01
    (8, True)
    """
    from scipy.stats import rankdata

    number = values.size
    ties = np.unique(values, return_counts=True)[1].astype(np.float64)
    untied = 1.0 - float(np.sum(ties**3 - ties)) / max(number**3 - number, 1)
    if number < 2 * least or untied <= 0.0:
        return 0, 1.0
    sums = (2 * np.cumsum(rankdata(values))[:-1] - np.arange(1, number) * (number + 1))[least - 1 : number - least]
    place = int(np.argmax(np.abs(sums)))
    return place + least, min(1.0, 2 * math.exp(-6 * float(sums[place]) ** 2 / untied / (number**3 + number**2)))

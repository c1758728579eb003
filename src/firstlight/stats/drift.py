"""Drift: a machine that becomes slower or faster during a session."""

from __future__ import annotations

import math

import numpy as np

from firstlight.stats.estimate import Floats


def drift_percent(logs: Floats) -> float:
    """How far the times of boots drifted from the first to the last, in percent.

    :param logs: logarithms of the times, in order.

    Source: Theil 1950 and Sen 1968, by `scipy.stats.theilslopes`.

    >>> round(drift_percent(np.log(np.linspace(100.0, 102.0, 9))), 2)
    2.0
    """
    from scipy.stats import theilslopes

    return math.expm1(float(theilslopes(logs, np.arange(logs.size)).slope) * (logs.size - 1)) * 100.0

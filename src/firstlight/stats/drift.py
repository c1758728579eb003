"""Drift: a machine that becomes slower or faster during a session."""

from __future__ import annotations

import math

import numpy as np

from firstlight.stats.estimate import Estimate, Floats
from firstlight.stats.verdict import Verdict


def drift_percent(logs: Floats) -> float:
    """How far the times of boots drifted from the first to the last, in percent.

    :param logs: logarithms of the times, in order.

    Source: Theil 1950 and Sen 1968, by `scipy.stats.theilslopes`.

    >>> round(drift_percent(np.log(np.linspace(100.0, 102.0, 9))), 2)
    2.0
    """
    from scipy.stats import theilslopes

    return math.expm1(float(theilslopes(logs, np.arange(logs.size)).slope) * (logs.size - 1)) * 100.0


def drift_between(first: Floats, second: Floats) -> tuple[float, float]:
    """How far a machine may have drifted between two arms of which one was recorded after the other.

    The drift within the arms is carried on over the boots between their middles, at either end of the slope's interval.

    :param first: logarithms of the times of the arm that was recorded first, in order.
    :param second: of the other.
    :returns: lowest and highest, as logarithms of ratios.

    Source: Theil and Sen's slope with its 95 % interval, on both arms around their own medians.
    """
    from scipy.stats import theilslopes

    places = [np.arange(logs.size) - (logs.size - 1) / 2.0 for logs in (first, second)]
    centred = np.concatenate([first - np.median(first), second - np.median(second)])
    slope = theilslopes(centred, np.concatenate(places))
    distance = (first.size + second.size) / 2.0
    return float(slope.low_slope) * distance, float(slope.high_slope) * distance


def doubt(verdict: Verdict, found: Estimate, a: Floats, b: Floats, *, a_first: bool) -> Verdict:
    """Take back a change that a drift could be all of; for arms that were not recorded in turns.

    :param a: logarithms of the times of arm a, in order; those of *b* likewise.
    :param a_first: whether a was recorded before b.
    """
    if verdict.word not in ("regression", "improvement") or found.low is None or found.high is None:
        return verdict
    low, high = drift_between(a, b) if a_first else drift_between(b, a)
    low, high = (low, high) if a_first else (-high, -low)
    if found.low - high > 0.0 or found.high - low < 0.0:
        return verdict
    reach = f"{math.expm1(low) * 100.0:+.2g} to {math.expm1(high) * 100.0:+.2g} %"
    reason = f"the arms were not recorded in turns, and a drift of the machine ({reach}) could be all of it"
    return Verdict(word="inconclusive", reason=reason)

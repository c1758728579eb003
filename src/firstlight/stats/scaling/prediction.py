"""The predicted cost of a size, with the band of all models that fit the measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from firstlight.stats.scaling.analysis import ScalingAnalysis
from firstlight.stats.scaling.fit import Fit

#: A law is kept in the band when its criterion is at most so far from the best one's.
BAND = 4.0

#: Beyond so many times the largest size a single figure would only pretend to know.
FARTHEST = 4.0

#: What arithmetic may be off by, relative.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Prediction:
    """A cost that was not measured, in the costs' unit."""

    size: float
    value: float | None
    """By the best law; none beyond :data:`FARTHEST` times the largest size: there the band is all that can be said."""
    low: float
    high: float
    """The band of all laws within :data:`BAND`. Of noisy costs each with its 95 % interval for one more measurement, of
    exact ones with its largest misfit."""
    laws: tuple[str, ...]
    times_largest: float
    """The size over the largest one measured."""


def predict(study: ScalingAnalysis, size: float) -> Prediction:
    """Predict the cost of a size.

    >>> from firstlight.stats.scaling.analysis import study
    >>> found = study([1, 2, 4, 8, 16, 32], [110, 120, 140, 180, 260, 420], exact=True)
    >>> round(predict(found, 64).value), predict(found, 1000).value, round(predict(found, 1000).high)
    (740, None, 10100)
    """
    laws = study.within(BAND)
    bounds = [_bounds(study, fit, size) for fit in laws]
    times = size / study.sizes[-1] if study.sizes[-1] else math.inf
    return Prediction(
        size=size,
        value=None if times > FARTHEST else float(study.best.at(np.array([size]))[0]),
        low=max(0.0, min(low for low, _ in bounds)),
        high=max(high for _, high in bounds),
        laws=tuple(fit.law for fit in laws),
        times_largest=times,
    )


def _bounds(study: ScalingAnalysis, fit: Fit, size: float) -> tuple[float, float]:
    value = float(fit.at(np.array([size]))[0])
    if study.exact:
        return value * (1 - fit.misfit - _ROUNDING), value * (1 + fit.misfit + _ROUNDING)
    spare = max(1, len(study.costs) - (1 if fit.slope == 0 else 2))
    half = float(student.ppf(0.975, spare)) * fit.scatter * value * math.sqrt(1 + 1 / len(study.costs))
    low, high = value - half, value + half
    if fit.slope_interval is not None and fit.slope:
        # Far from the measurements the slope's own doubt is what counts.
        extra = (value - fit.constant) * (fit.slope_interval[1] / fit.slope - 1)
        half = math.hypot(half, extra if size > study.sizes[-1] else 0.0)
        low, high = value - half, value + half
    return low, high

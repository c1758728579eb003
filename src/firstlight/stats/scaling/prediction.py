"""The predicted cost of a size, with the band of all models that fit the measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from firstlight.stats.scaling.analysis import ScalingAnalysis, band_of
from firstlight.stats.scaling.certainty import RIVALS, first_of_kinds, kind_of

#: A model is in the band when its criterion is at most so far from the best one's.
BAND = RIVALS

#: Beyond so many times the largest size a single figure would only pretend to know.
FARTHEST = 4.0

#: A band whose ends differ by more than this factor predicts nothing.
_LOOSE = 10.0

#: What arithmetic, and the search for a parameter, may be off by, relative.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Prediction:
    """A cost that was not measured, in the costs' unit."""

    size: float
    value: float | None
    """By the best model; none where no model fits, and beyond :data:`FARTHEST` times the largest size: there the band
    is all that can be said."""
    low: float
    high: float
    """The band of all models near the best one, each with its 95 % interval for one more measurement, of all sums of
    the laws' terms that are as near to the costs, and of the error that the predictions of the sizes above half of the
    largest had from the others."""
    laws: tuple[str, ...]
    times_largest: float
    """The size over the largest one measured."""
    rests_on: str
    """What has to hold for it, in words."""


def predict(study: ScalingAnalysis, size: float) -> Prediction:
    """Predict the cost of a size.

    >>> from firstlight.stats.scaling.analysis import study
    >>> found = study([1, 2, 4, 8, 16, 32, 64, 128], [100 + 10 * n for n in (1, 2, 4, 8, 16, 32, 64, 128)], exact=True)
    >>> round(predict(found, 256).value), predict(found, 1000).value, round(predict(found, 1000).high)
    (2660, None, 10143)
    """
    low, high = band_of(study.fits, size, study.unrefuted)
    if study.sums is not None:
        ends = study.sums.range_at(size)
        low, high = min(low, ends[0]), max(high, ends[1])
    best = float(study.best.at(np.array([size]))[0])
    times = size / study.sizes[-1] if study.sizes[-1] else math.inf
    if study.reach is not None and size > study.sizes[-1]:
        # What reaching so far cost in accuracy, each further step of that length costs again.
        steps = max(1.0, math.log(times) / math.log(study.reach.times))
        factor = math.exp(min(study.reach.off * steps, 50.0))
        low, high = min(low, best / factor), max(high, best * factor)
    near = [fit for fit in study.kinds if fit.aicc - study.best.aicc <= BAND]
    known = {kind_of(fit) for fit in near}
    others = [fit for fit in first_of_kinds(study.unrefuted) if kind_of(fit) not in known]
    kinds = list(dict.fromkeys(fit.law for fit in (*near, *others)))
    return Prediction(
        size=size,
        value=None if times > FARTHEST or study.misfit is not None else best,
        low=max(0.0, low * (1 - _ROUNDING)),
        high=high * (1 + _ROUNDING),
        laws=tuple(kinds),
        times_largest=times,
        rests_on=_rests_on(study, kinds, times, is_loose=high > _LOOSE * low),
    )


def _rests_on(study: ScalingAnalysis, kinds: list[str], times: float, *, is_loose: bool) -> str:
    if times <= 1.0:
        return "measurements around it"
    models = f"`{kinds[0]}`" if len(kinds) == 1 else f"one of {len(kinds)} models"
    text = f"{models} holding up to {times:.3g} times the largest size"
    if is_loose:
        text += f"; its ends differ by more than a factor of {_LOOSE:.0f}, so measure more sizes"
    return f"{text}, though none fits" if study.misfit is not None else text

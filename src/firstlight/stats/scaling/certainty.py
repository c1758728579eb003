"""Whether a model fits at all, and how far it is ahead of its rivals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import f as fisher

from firstlight.stats.scaling.fit import Fit, beyond_rounding, resolution
from firstlight.stats.scaling.models import Floats

#: Below so many sizes no model is clear.
CLEAR_SIZES = 8
#: A model fits exact costs if it is off by no more than this share of what they grow by.
_FITS = 0.03
#: A constant, which has no growth, fits exact costs if it is off by no more than this, relative.
_CONSTANT = 0.01
#: Below this probability replicated costs, or the scatter around neighbours, refute a model.
_REFUTED = 0.01
#: Costs that were measured once a size and lie further from the best model than this, relative, show no model at all.
_MOST_SCATTER = 0.2
#: Models this far behind the best one are not rivals: Burnham and Anderson (2002).
RIVALS = 10.0
#: A segment of a clear model has so many sizes.
_OF_A_SEGMENT = 4
#: A clear law may be joined by another term only if that adds less than this at twice the largest size.
NEGLIGIBLE = 0.05
#: The powers among the simple laws; a fitted exponent this close to one is that law.
_EXPONENTS = {"sqrt n": 0.5, "n": 1.0, "n^2": 2.0, "n^3": 3.0}
_SAME_EXPONENT = 0.05


def lack_of_fit(fit: Fit, sizes: Floats, costs: Floats, *, exact: bool) -> str | None:
    """Why a model does not fit, in words; none where it does.

    Exact costs: its distance is more than 3 % of the growth, that of a constant more than 1 % of the cost. Noisy ones:
    the distances of the sizes' means are larger than the spread within sizes allows (the F test of lack of fit);
    without replicates, larger than 20 %, or like those of their neighbours.

    >>> from firstlight.stats.scaling.fit import fit_laws
    >>> n = np.array([1.0, 2, 4, 8, 16, 32, 64, 128, 256])
    >>> best = fit_laws(n, 1000 + 30 * n + 0.3 * n**2, exact=True)[0]
    >>> best.law, lack_of_fit(best, n, 1000 + 30 * n + 0.3 * n**2, exact=True)
    ('n log n', 'it is off by up to 27 %, which is 28 % of the growth')
    """
    residuals = costs - fit.at(sizes)
    growth = float(np.ptp(costs))
    if exact:
        off = float(np.max(np.abs(residuals)))
        if not growth or off <= _FITS * growth or not beyond_rounding(residuals, costs):
            return None
        text = f"it is off by up to {fit.misfit * 100:.2g} %"
        if fit.model.is_constant:
            return text if fit.misfit > _CONSTANT else None
        return f"{text}, which is {off / growth * 100:.0f} % of the growth"
    relative = residuals / np.maximum(np.abs(fit.at(sizes)), 1e-300)
    distinct, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    within = len(costs) - len(distinct)
    if within >= 3:
        means = np.bincount(place, relative) / counts
        pure = float(np.sum((relative - means[place]) ** 2)) / within
        spare = len(distinct) - (len(costs) - fit.spare)
        if spare < 1 or pure <= 0:
            return None
        ratio = float(np.sum(counts * means**2)) / spare / pure
        p = float(fisher.sf(ratio, spare, within))
        return f"the sizes' means are off by more than their spread allows (p = {p:.1g})" if p < _REFUTED else None
    if fit.scatter > _MOST_SCATTER:
        return f"the costs are {fit.scatter * 100:.0f} % off it, and one cost a size does not show how much is noise"
    if len(distinct) < 6:
        return None
    # Distances that are noise differ between neighbours as much as they vary: von Neumann's ratio.
    order = relative[np.argsort(sizes, kind="stable")]
    ratio = float(np.sum(np.diff(order) ** 2) / max(float(np.sum(order**2)), 1e-300))
    number = order.size
    z = (ratio - 2.0) / math.sqrt(4 * (number - 2) / (number**2 - 1))
    # What rounding and the search for a parameter leave is no noise either, and refutes nothing.
    if z < -2.33 and fit.misfit > 3 * resolution(sizes, costs):
        return f"its distances from the costs are not noise: neighbours resemble each other (z = {z:.1f})"
    return None


def certainty(fits: Sequence[Fit], last: float) -> str:
    """Say how sure the first of several models is, by the distance of the next one with another name.

    :param last: the largest size.

    Source: Burnham and Anderson (2002): below 2 both are supported, up to 4 weakly less, above 10 not at all.

    >>> certainty([Fit("n", 1, 1, None, -50.0, 0, 0), Fit("n log n", 1, 1, None, -49.0, 0, 0)], 8.0)
    'indistinguishable'
    """
    runner = runner_up(fits, last)
    if runner is None:
        return "the only one that fits"
    distance = runner.aicc - fits[0].aicc
    for bound, word in ((2, "indistinguishable"), (4, "weak"), (RIVALS, "likely")):
        if distance < bound:
            return word
    return "clear"


def runner_up(fits: Sequence[Fit], last: float) -> Fit | None:
    """The best fit of another kind.

    Neighbouring values of a parameter are one kind. A flexible model that says the same at twice the largest size is
    the same curve, written with more coefficients.
    """
    best, at = fits[0], np.array([2.0 * last])
    value = max(float(best.at(at)[0]), 1e-300)
    return next(
        (
            fit for fit in fits[1:]
            if kind_of(fit) != kind_of(best) and (fit.is_simple or abs(float(fit.at(at)[0]) / value - 1) > NEGLIGIBLE)
        ),
        None,
    )  # fmt: skip


def kind_of(fit: Fit) -> str:
    """The name of a model without its parameter."""
    return fit.law if fit.model.parameter is None else f"{fit.model.family} {len(fit.coefficients)}"


def first_of_kinds(fits: Sequence[Fit]) -> tuple[Fit, ...]:
    """The first fit of every kind of model."""
    first: dict[str, Fit] = {}
    for fit in fits:
        first.setdefault(kind_of(fit), fit)
    return tuple(first.values())


def is_clear(fits: Sequence[Fit], sizes: Floats, costs: Floats, *, exact: bool, met: bool, error: float | None) -> bool:
    """Whether nothing but the first model can be: enough sizes, no rival, no room for another term.

    :param met: the first model meets exact costs to their rounding.
    :param error: relative, of the prediction of the largest size from the others.
    """
    best, distinct = fits[0], np.unique(sizes)
    if len(distinct) < CLEAR_SIZES or error is None:
        return False
    if best.model.family == "segments":
        # Few sizes beyond a hinge or a step are on many curves.
        beyond = int(np.count_nonzero(distinct > (best.model.parameter or 0.0)))
        if min(beyond, len(distinct) - beyond) < _OF_A_SEGMENT:
            return False
    if _may_be_a_power(fits, len(costs)):
        return False
    growth = max(float(np.ptp(costs)), 1e-300)
    off = float(np.max(np.abs(costs - best.at(sizes))))
    if met and abs(error) < 0.01:
        return certainty(fits, float(sizes.max())) in ("clear", "the only one that fits")
    if not best.is_simple or best.model.is_constant or abs(error) > NEGLIGIBLE + 4 * best.scatter:
        return False
    if exact and off > _FITS / 2 * growth:
        return False
    ahead = np.array([2.0 * float(sizes.max())])
    value = float(best.at(ahead)[0])
    # Every other model, also one that contains the law, has to be far behind or to say the same.
    return all(
        abs(float(fit.at(ahead)[0]) / value - 1.0) < NEGLIGIBLE for fit in fits if fit.aicc - best.aicc < RIVALS
    ) and all(fit.aicc - best.aicc >= RIVALS for fit in fits if fit.is_simple and fit is not best)


def _may_be_a_power(fits: Sequence[Fit], points: int) -> bool:
    """Whether the best power of the size fits about as well as the first model, and is another law.

    The two may agree at twice the largest size: over a factor of 256 `n log n` is within 1 % of a power of 1.2. The
    criterion is of no use here, because it prefers the law for its fewer coefficients, however well the power fits.
    """
    best = fits[0]
    power = next((fit for fit in fits if fit.model.family == "power"), None)
    if power is None or best.model.family == "power":
        return False
    exponent = _EXPONENTS.get(best.law)
    if exponent is not None and abs((power.model.parameter or 0.0) - exponent) <= _SAME_EXPONENT:
        return False
    squares = [max(fit.scatter**2 * max(1, fit.spare), 1e-300) for fit in (best, power)]
    return points * math.log(squares[1] / squares[0]) < RIVALS

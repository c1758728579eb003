"""Fits one model to costs by size: relative weights, coefficients that are not negative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.stats import t as student

from firstlight.stats.scaling.models import BY_NAME, LAWS, Floats, ScalingModel

#: A cost counts no less than this part of the largest one when it is weighted: else a zero would count without end.
_LEAST_WEIGHT = 1e-3

#: A constant is no candidate where another law leaves less than this part of its squared distances. With six sizes or
#: fewer the criterion would prefer it all the same, for its one coefficient less; of five sizes with nothing but noise
#: some law gets below it in 0.2 % of all cases.
_REFUTED = 0.01

#: A constant that is off by no more than this is not said to fall, however regular it is.
_LEAST_FALL = 0.002

#: A falling law has to be ahead of the constant by so much: then the constant is in no band any more.
_FALL_AHEAD = 4.0

#: What floating point leaves of a perfect fit, relative.
_FLOAT_MISFIT = 1e-12

#: A law that makes the cost grow by less than this part of it over all sizes is none.
_LEAST_GROWTH = 5e-4


@dataclass(frozen=True)
class Fit:
    """One law, fitted: cost = constant + slope * growth(size)."""

    law: str
    constant: float
    """In the costs' unit; not negative."""
    slope: float
    """In the costs' unit for one unit of growth; not negative."""
    slope_interval: tuple[float, float] | None
    """95 %, where the costs are noisy."""
    aicc: float
    """Akaike's criterion, corrected for few points: smaller is better, only differences mean something."""
    misfit: float
    """The largest relative distance of a cost from the law."""
    scatter: float
    """The relative standard deviation of the costs around the law."""

    def at(self, sizes: Floats) -> Floats:
        """What the law says for sizes.

        >>> Fit("n", 10.0, 2.0, None, 0.0, 0.0, 0.0).at(np.array([0.0, 5.0])).tolist()
        [10.0, 20.0]
        >>> Fit("1", 2.5, 0.0, None, 0.0, 0.0, 0.0).at(np.array([10_000])).tolist()
        [2.5]
        """
        law = BY_NAME[self.law]
        if law.is_constant:
            return np.full_like(sizes, self.constant, dtype=np.float64)
        return self.constant + self.slope * law.growth(sizes)


def weights(costs: Floats) -> Floats:
    """One over each cost: a relative distance counts the same for small and large costs.

    >>> weights(np.array([0.0, 10.0, 100.0])).tolist()
    [10.0, 0.1, 0.01]
    """
    largest = float(np.max(np.abs(costs)))
    if largest == 0:
        return np.ones_like(costs)
    return 1.0 / np.maximum(np.abs(costs), largest * _LEAST_WEIGHT)


def fit_model(law: ScalingModel, sizes: Floats, costs: Floats, *, exact: bool) -> Fit | None:
    """Fit one law by least squares of relative distances, with coefficients that are not negative.

    :param costs: in any unit; whole numbers are taken to be rounded to one.
    :param exact: costs are exact: there is no noise, so no interval.
    :returns: none where the law cannot be told from a constant at these sizes, or does not grow with these costs.

    Source: weighted non-negative least squares (Lawson and Hanson), AICc (Hurvich and Tsai, 1989).

    >>> fit = fit_model(BY_NAME["n"], np.array([1.0, 2.0, 4.0, 8.0]), np.array([12.0, 14.0, 18.0, 26.0]), exact=True)
    >>> round(fit.constant), round(fit.slope), fit.misfit < 1e-12
    (10, 2, True)
    """
    weight = weights(costs)
    if law.is_constant:
        columns = weight[:, None]
        scale = 1.0
    else:
        growth = law.growth(sizes)
        scale = float(growth.max())
        if not math.isfinite(scale) or scale <= 0 or np.ptp(growth) < 1e-9 * scale:
            return None
        columns = np.column_stack([weight, weight * growth / scale])
    try:
        solution, _ = nnls(columns, weight * costs)
    except RuntimeError:  # too many iterations: not for two columns, but scipy does not promise it
        return None
    if not law.is_constant and solution[1] <= 0:
        return None
    constant = float(solution[0])
    slope = 0.0 if law.is_constant else float(solution[1]) / scale
    residuals = columns @ solution - weight * costs
    variance = max(float(np.mean(residuals**2)), _resolution(costs, weight))
    parameters = columns.shape[1] + 1  # the coefficients, and the variance
    return Fit(
        law=law.name,
        constant=constant,
        slope=slope,
        slope_interval=None if exact or law.is_constant else _interval(columns, solution, residuals, scale),
        aicc=_aicc(len(costs), parameters, variance),
        misfit=float(np.max(np.abs(residuals))),
        scatter=math.sqrt(float(np.sum(residuals**2)) / max(1, len(costs) - parameters + 1)),
    )


def fit_all(sizes: Floats, costs: Floats, *, exact: bool) -> list[Fit]:
    """Every law that can be fitted, the best first; a law has to make the costs grow.

    Source: a term of a model contributes at least 0.05 %, as Extra-P has it; here less is enough where the costs rise
    at every size, because exact ones do not rise by chance.

    >>> [fit.law for fit in fit_all(np.array([1.0, 2, 4, 8, 16, 32]), np.array([8.0, 11, 23, 71, 263, 1031]),
    ...                             exact=True)][:2]
    ['n^2', 'n^2 log n']
    """
    tried = (fit_model(law, sizes, costs, exact=exact) for law in LAWS)
    fits = [fit for fit in tried if fit is not None and (fit.law == "1" or _grows(fit, sizes, costs))]
    squares = {fit.law: _squares(fit, len(costs)) for fit in fits}
    growing = [left for law, left in squares.items() if law != "1"]
    if growing and min(growing) < _REFUTED * squares.get("1", 0.0):
        fits = [fit for fit in fits if fit.law != "1"]
    # Of equals the slower growth comes first: the order of LAWS.
    return sorted(fits, key=lambda fit: fit.aicc)


def _grows(fit: Fit, sizes: Floats, costs: Floats) -> bool:
    """Whether a law makes the costs grow by more than an accident does, over the sizes that there are."""
    grown = float(np.ptp(fit.at(sizes)))
    levels = [float(np.median(costs[sizes == size])) for size in np.unique(sizes)]
    return grown >= _LEAST_GROWTH * float(np.median(np.abs(costs))) or bool(np.all(np.diff(levels) > 0))


def falls(sizes: Floats, costs: Floats, fits: Sequence[Fit]) -> bool:
    """Whether costs fall as the size grows, which no law here does: a falling line beats the constant by far.

    >>> n = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
    >>> [falls(n, costs, fit_all(n, costs, exact=True)) for costs in (1000 - 3 * n, 1000 + 3 * n, n * 0 + 1000)]
    [True, False, False]
    """
    constant = fits[0]
    if constant.law != "1" or constant.misfit < _LEAST_FALL:
        return False
    weight = weights(costs)
    floor = _resolution(costs, weight)
    for law in LAWS:
        growth = law.growth(sizes)
        if law.is_constant or np.ptp(growth) == 0:
            continue
        columns = np.column_stack([weight, weight * growth / float(growth.max())])
        solution = np.linalg.lstsq(columns, weight * costs, rcond=None)[0]
        left = float(np.sum((columns @ solution - weight * costs) ** 2))
        ahead = constant.aicc - _aicc(len(costs), 3, max(left / len(costs), floor)) >= _FALL_AHEAD
        if solution[1] < 0 and (ahead or left < _REFUTED * _squares(constant, len(costs))):
            return True
    return False


def _squares(fit: Fit, points: int) -> float:
    """The sum of the squared relative distances."""
    return fit.scatter**2 * max(1, points - (1 if fit.law == "1" else 2))


def shared_basis(
    law: ScalingModel, fit: Fit, sizes: Floats, total: Floats, parts: Sequence[Floats]
) -> list[tuple[float, float]]:
    """The coefficients of parts of a total on the total's own law, with the total's own weights.

    Least squares on one basis are linear, so that constants add up to the total's constant and slopes to its slope.

    :param fit: how the law was fitted to the total; a coefficient that is zero there is zero in every part.
    :returns: constant and slope of every part.

    >>> n, a, b = np.array([1.0, 2, 4, 8]), np.array([5.0, 5, 5, 6]), np.array([3.0, 6, 12, 24])
    >>> fit = fit_model(BY_NAME["n"], n, a + b, exact=True)
    >>> rows = shared_basis(BY_NAME["n"], fit, n, a + b, [a, b])
    >>> abs(sum(slope for _, slope in rows) - fit.slope) < 1e-9
    True
    >>> abs(sum(constant for constant, _ in rows) - fit.constant) < 1e-9
    True
    """
    weight = weights(total)
    growth = law.growth(sizes)
    scale = float(growth.max()) or 1.0
    kept = [] if fit.constant <= 0 else [weight]
    if not law.is_constant:
        kept.append(weight * growth / scale)
    if not kept:
        return [(0.0, 0.0) for _ in parts]
    solver = np.linalg.pinv(np.column_stack(kept))
    rows = []
    for part in parts:
        solution = list(solver @ (weight * part))
        constant = float(solution.pop(0)) if fit.constant > 0 else 0.0
        rows.append((constant, float(solution.pop(0)) / scale if solution else 0.0))
    return rows


def _resolution(costs: Floats, weight: Floats) -> float:
    """The variance that no law can fall below: whole numbers are rounded to one, other numbers by the computer."""
    whole = bool(np.all(costs == np.round(costs)))
    return max(float(np.mean(weight**2)) / 12 if whole else 0.0, _FLOAT_MISFIT**2)


def _aicc(points: int, parameters: int, variance: float) -> float:
    spare = points - parameters - 1
    if spare <= 0:
        return math.inf
    return points * math.log(variance) + 2 * parameters + 2 * parameters * (parameters + 1) / spare


def _interval(columns: Floats, solution: Floats, residuals: Floats, scale: float) -> tuple[float, float] | None:
    active = [place for place in range(columns.shape[1]) if solution[place] > 0]
    spare = len(residuals) - len(active)
    if spare < 1:
        return None
    kept = columns[:, active]
    covariance = np.linalg.pinv(kept.T @ kept) * float(np.sum(residuals**2)) / spare
    place = active.index(1)
    half = float(student.ppf(0.975, spare)) * math.sqrt(float(covariance[place, place]))
    return max(0.0, (float(solution[1]) - half) / scale), (float(solution[1]) + half) / scale

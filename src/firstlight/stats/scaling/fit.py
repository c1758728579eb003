"""Fits models to costs by size: relative weights, coefficients that are not negative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar, nnls
from scipy.special import stdtrit

from firstlight.stats.scaling.models import LAWS, SUMS, Floats, ScalingModel, Search, searches

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

#: What arithmetic, and the search for a parameter, leave of a perfect fit, relative.
_FLOAT_MISFIT = 1e-7

#: A distance from the model of up to so many times what rounding leaves is rounding.
_ROUNDINGS = 3.0

#: What stands for no spare point in the criterion of exact costs.
_NONE_SPARE = 0.5

#: Besides the best value of a parameter, those so far from it are fits, too: the band holds all that are possible.
_NEARBY = (0.0003, 0.001, 0.003, 0.006, 0.01, 0.02, 0.03, 0.06, 0.1, 0.2)

#: A law that makes the cost grow by less than this part of it over all sizes is none.
LEAST_GROWTH = 5e-4

#: Fits with a parameter are stored up to this distance from the best one of their kind: the band needs no others.
_STORED = 12.0


@dataclass(frozen=True)
class Fit:
    """One model, fitted: cost = constant + the sum of coefficient * growth(size)."""

    law: str
    constant: float
    """In the costs' unit; not negative."""
    slope: float
    """In the costs' unit for one unit of growth of the last term that is not zero; not negative."""
    slope_interval: tuple[float, float] | None
    """95 %, where the costs are noisy."""
    aicc: float
    """Akaike's criterion, corrected for few points: smaller is better, only differences mean something."""
    misfit: float
    """The largest relative distance of a cost from the law."""
    scatter: float
    """The relative standard deviation of the costs around the law."""
    coefficients: tuple[float, ...] = ()
    """Of every term."""
    model: ScalingModel = field(default=LAWS[0], repr=False)
    spare: int = 1
    """Points less coefficients."""
    columns: Floats = field(default_factory=lambda: np.ones((1, 1)), repr=False, compare=False)
    """The weighted terms at the sizes, in which the costs were fitted."""

    @cached_property
    def is_simple(self) -> bool:
        """Whether it is a named law of one term, or the constant."""
        return self.model.family in ("law", "term")

    @cached_property
    def information(self) -> Floats:
        """The pseudo-inverse of the products of the weighted terms that are not zero, for intervals."""
        active = [place for place, each in enumerate((self.constant, *self.coefficients)) if each != 0] or [0]
        kept = self.columns[:, active]
        found = np.zeros((self.columns.shape[1],) * 2)
        found[np.ix_(active, active)] = np.linalg.pinv(kept.T @ kept)
        return found

    def at(self, sizes: Floats) -> Floats:
        """What the model says for sizes.

        >>> fit = fit_model(LAWS[3], np.array([1.0, 2.0, 3.0]), np.array([12.0, 14.0, 16.0]), exact=True)
        >>> [round(cost) for cost in fit.at(np.array([0.0, 5.0]))]
        [10, 20]
        """
        total = np.full_like(sizes, self.constant, dtype=np.float64)
        for coefficient, growth in zip(self.coefficients, self.model.growths, strict=True):
            total = total + coefficient * growth(sizes)
        return total

    def half_width(self, size: float) -> float:
        """Half of the 95 % interval for one more measurement of a size, in the costs' unit."""
        at = np.array([size])
        row = np.array([1.0, *(float(growth(at)[0]) for growth in self.model.growths)])
        value = float(self.at(at)[0])
        variance = self.scatter**2 * (value**2 + float(row @ self.information @ row))
        return float(stdtrit(max(1, self.spare), 0.975)) * math.sqrt(max(0.0, variance))


def weights(costs: Floats) -> Floats:
    """One over each cost: a relative distance counts the same for small and large costs.

    Whole numbers are rounded: a zero among them counts no more than a one.

    >>> weights(np.array([0.0, 10.0, 100.0])).tolist()
    [1.0, 0.1, 0.01]
    >>> weights(np.array([0.0, 12.5, 100.0])).tolist()
    [10.0, 0.08, 0.01]
    """
    largest = float(np.max(np.abs(costs)))
    if largest == 0:
        return np.ones_like(costs)
    return 1.0 / np.maximum(np.abs(costs), max(largest * _LEAST_WEIGHT, 1.0 if _are_whole(costs) else 0.0))


def fit_model(model: ScalingModel, sizes: Floats, costs: Floats, *, exact: bool) -> Fit | None:
    """Fit one model by least squares of relative distances, with coefficients that are not negative.

    :param costs: in any unit; whole numbers are taken to be rounded to one.
    :param exact: costs are exact: there is no noise, so no interval.
    :returns: none where the model equals a simpler one at these sizes, or does not grow with these costs.

    Source: weighted non-negative least squares (Lawson and Hanson), AICc (Hurvich and Tsai, 1989).

    >>> fit = fit_model(LAWS[3], np.array([1.0, 2.0, 4.0, 8.0]), np.array([12.0, 14.0, 18.0, 26.0]), exact=True)
    >>> round(fit.constant), round(fit.slope), fit.misfit < 1e-12
    (10, 2, True)
    """
    weight = weights(costs)
    grown = [growth(sizes) for growth in model.growths]
    scales = [1.0, *(float(each.max()) for each in grown)]
    if not all(math.isfinite(scale) and scale > 0 for scale in scales) or any(
        np.ptp(each) < 1e-9 * scale for each, scale in zip(grown, scales[1:], strict=True)
    ):
        return None
    columns = np.column_stack([weight, *(weight * each / scale for each, scale in zip(grown, scales[1:], strict=True))])
    try:
        solution, _ = nnls(columns, weight * costs)
    except RuntimeError:  # too many iterations: not for so few columns, but scipy does not promise it
        return None
    if not model.is_constant and not np.any(solution[1:] > 0):
        return None
    if model.family == "sum" and not np.all(solution[1:] > 0):
        return None  # one of its terms alone is another model
    residuals = columns @ solution - weight * costs
    variance = _variance(residuals, sizes, costs, weight)
    parameters = columns.shape[1] + (model.parameter is not None)
    spare = len(costs) - parameters
    scaled = solution / scales
    interval = (
        None
        if exact or model.family != "law" or model.is_constant
        else _interval(columns, solution, residuals, scales[1])
    )
    active = [place for place in range(len(scales)) if solution[place] > 0] or [0]
    return Fit(
        law=model.name,
        constant=float(scaled[0]),
        slope=0.0 if model.is_constant else float(scaled[active[-1]]) if active[-1] else 0.0,
        slope_interval=interval,
        aicc=_aicc(len(costs), parameters + 1, variance, exact=exact),
        misfit=float(np.max(np.abs(residuals))),
        scatter=math.sqrt(float(np.sum(residuals**2)) / max(1, spare)),
        coefficients=tuple(scaled[1:].tolist()),
        model=model,
        spare=spare,
        columns=columns * np.array(scales),
    )


def fit_laws(sizes: Floats, costs: Floats, *, exact: bool, models: Sequence[ScalingModel] = LAWS) -> list[Fit]:
    """Every named law that can be fitted, the best first; a law has to make the costs grow.

    Source: a term of a model contributes at least 0.05 %, as Extra-P has it; here less is enough where the costs rise
    at every size, because exact ones do not rise by chance.

    >>> [fit.law for fit in fit_laws(np.array([1.0, 2, 4, 8, 16, 32]), np.array([8.0, 11, 23, 71, 263, 1031]),
    ...                              exact=True)][:2]
    ['n^2', 'n^2 log n']
    """
    tried = (fit_model(model, sizes, costs, exact=exact) for model in models)
    return ordered([fit for fit in tried if fit is not None], sizes, costs)


def fit_all(sizes: Floats, costs: Floats, *, exact: bool, terms: Sequence[ScalingModel] = ()) -> list[Fit]:
    """Every model that can be fitted, the best first: laws, sums of two, and models with a parameter.

    Of a model with a parameter every value is a fit of its own, so that a band holds all values that are possible.

    :param terms: models of measured counts.
    """
    # With the criterion undefined a model has too many coefficients for these sizes.
    known = [fit for fit in fit_every(sizes, costs, exact=exact, terms=terms) if math.isfinite(fit.aicc)]
    return ordered(known, sizes, costs)


def fit_every(sizes: Floats, costs: Floats, *, exact: bool, terms: Sequence[ScalingModel] = ()) -> list[Fit]:
    """Every model that can be fitted, in no order, also those with too many coefficients for the criterion."""
    found = [fit_model(model, sizes, costs, exact=exact) for model in (*LAWS, *SUMS, *terms)]
    for search in searches(sizes):
        found += _fit_search(search, sizes, costs, exact=exact)
    return [fit for fit in found if fit is not None]


def fit_falling(sizes: Floats, costs: Floats) -> list[Fit]:
    """The parabola whose growth slows down until the cost falls, where the costs bend that way.

    It is no candidate, because it falls below zero in the end. It shows that a model which levels off may be wrong.

    >>> n = np.array([8.0, 22, 36, 50, 64, 78, 92, 106])
    >>> [round(fit.coefficients[1], 3) for fit in fit_falling(n, 500 + 60 * n - 0.1 * n**2)]
    [-0.1]
    >>> fit_falling(n, 500 + 60 * n + 0.1 * n**2)
    []
    """
    weight = weights(costs)
    scales = np.array([1.0, float(sizes.max()), float(sizes.max()) ** 2])
    columns = np.column_stack([weight * sizes**power for power in (0, 1, 2)])
    spare = len(costs) - columns.shape[1]
    if spare < 1 or scales[1] <= 0:
        return []
    solution = np.linalg.lstsq(columns / scales, weight * costs, rcond=None)[0] / scales
    if solution[1] <= 0 or solution[2] >= 0:
        return []
    residuals = columns @ solution - weight * costs
    variance = _variance(residuals, sizes, costs, weight)
    return [
        Fit(
            law="n - n^2",
            constant=float(solution[0]),
            slope=float(solution[2]),
            slope_interval=None,
            aicc=_aicc(len(costs), columns.shape[1] + 1, variance),
            misfit=float(np.max(np.abs(residuals))),
            scatter=math.sqrt(float(np.sum(residuals**2)) / spare),
            coefficients=tuple(solution[1:].tolist()),
            model=ScalingModel("n - n^2", (lambda n: n, lambda n: n**2), "falling"),
            spare=spare,
            columns=columns,
        )
    ]


def _fit_search(search: Search, sizes: Floats, costs: Floats, *, exact: bool) -> list[Fit]:
    fits = [fit_model(search.make(value), sizes, costs, exact=exact) for value in search.values]
    known = [(value, fit) for value, fit in zip(search.values, fits, strict=True) if fit is not None]
    if not known:
        return []
    best = min(range(len(known)), key=lambda place: known[place][1].scatter)
    found = [fit for _, fit in known]
    below, above = known[max(0, best - 1)][0], known[min(len(known) - 1, best + 1)][0]
    if search.others:
        near = [value for value in search.others if below < value < above and value not in search.values]
        refined = (fit_model(search.make(value), sizes, costs, exact=exact) for value in near)
        found += [fit for fit in refined if fit is not None]
    if search.smooth:

        def criterion(value: float) -> float:
            fit = fit_model(search.make(value), sizes, costs, exact=exact)
            return 1e30 if fit is None else fit.scatter

        if above > below:
            found_at = minimize_scalar(criterion, bounds=(below, above), options={"xatol": 1e-9 * above})
            value = float(found_at.x)
            near = [value * (1 + sign * share) for share in _NEARBY for sign in (-1, 1)]
            refined = (fit_model(search.make(each), sizes, costs, exact=exact) for each in (value, *near))
            found += [fit for fit in refined if fit is not None]
    least = min(fit.aicc for fit in found)
    return [fit for fit in found if fit.aicc <= least + _STORED]


def ordered(fits: Sequence[Fit], sizes: Floats, costs: Floats) -> list[Fit]:
    """The fits that make the costs grow, the best first, without a constant that another one refutes.

    >>> n = np.array([1.0, 2, 4, 8, 16])
    >>> fits = [fit_model(law, n, 10 + n, exact=True) for law in LAWS]
    >>> [fit.law for fit in ordered([fit for fit in fits if fit is not None], n, 10 + n)][:2]
    ['n', 'n log n']
    """
    rises = bool(np.all(np.diff(levels_of(sizes, costs)) > 0))
    least_growth = 0.0 if rises else LEAST_GROWTH * float(np.median(np.abs(costs)))
    growing = [fit for fit in fits if fit.law != "1" and float(np.ptp(fit.at(sizes))) >= least_growth]
    constant = [fit for fit in fits if fit.law == "1"]
    # Flexible models come near anything: laws alone refute a constant.
    least = min((squares(fit) for fit in growing if fit.is_simple), default=math.inf)
    if constant and least < _REFUTED * squares(constant[0]):
        constant = []
    # Without a criterion the nearest comes first. Of equals the slower growth does: the order of LAWS.
    return sorted([*constant, *growing], key=lambda fit: (fit.aicc, 0.0 if math.isfinite(fit.aicc) else squares(fit)))


def levels_of(sizes: Floats, costs: Floats) -> Floats:
    """The median cost of every size, from the smallest size to the largest.

    >>> levels_of(np.array([2.0, 1, 2, 2]), np.array([5.0, 1, 7, 9])).tolist()
    [1.0, 7.0]
    """
    order = np.argsort(sizes, kind="stable")
    starts = np.flatnonzero(np.diff(sizes[order])) + 1
    if len(starts) + 1 == len(sizes):
        return costs[order]
    return np.array([float(np.median(same)) for same in np.split(costs[order], starts)])


def falls(sizes: Floats, costs: Floats, *, exact: bool) -> bool:
    """Whether costs fall as the size grows, which no model here does: a falling line beats the constant by far.

    Exact costs fall, however bent, if they rise at no size.

    >>> n = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
    >>> [falls(n, costs, exact=True) for costs in (1000 - 3 * n, 1000 / n, 1000 + 3 * n, n * 0 + 1000)]
    [True, True, False, False]
    """
    if exact:
        levels = levels_of(sizes, costs)
        if levels[-1] < levels[0] * (1 - _LEAST_FALL) and bool(np.all(np.diff(levels) <= 0)):
            return True
    fits = fit_laws(sizes, costs, exact=True)
    constant = fits[0] if fits else None
    if constant is None or constant.law != "1" or constant.misfit < _LEAST_FALL:
        return False
    weight = weights(costs)
    for law in LAWS[1:]:
        growth = law.growths[0](sizes)
        if np.ptp(growth) == 0:
            continue
        columns = np.column_stack([weight, weight * growth / float(growth.max())])
        solution = np.linalg.lstsq(columns, weight * costs, rcond=None)[0]
        residuals = columns @ solution - weight * costs
        left = float(np.sum(residuals**2))
        ahead = constant.aicc - _aicc(len(costs), 3, _variance(residuals, sizes, costs, weight)) >= _FALL_AHEAD
        if solution[1] < 0 and (ahead or left < _REFUTED * squares(constant)):
            return True
    return False


def squares(fit: Fit) -> float:
    """The sum of the squared relative distances."""
    return fit.scatter**2 * max(1, fit.spare)


def shared_basis(fit: Fit, sizes: Floats, total: Floats, parts: Sequence[Floats]) -> list[tuple[float, float]]:
    """The coefficients of parts of a total on the total's own law, with the total's own weights.

    Least squares on one basis are linear, so that constants add up to the total's constant and slopes to its slope.

    :param fit: a law of one term, as it was fitted to the total; a coefficient that is zero there is zero in all parts.
    :returns: constant and slope of every part.

    >>> n, a, b = np.array([1.0, 2, 4, 8]), np.array([5.0, 5, 5, 6]), np.array([3.0, 6, 12, 24])
    >>> fit = fit_model(LAWS[3], n, a + b, exact=True)
    >>> rows = shared_basis(fit, n, a + b, [a, b])
    >>> abs(sum(slope for _, slope in rows) - fit.slope) < 1e-9
    True
    >>> abs(sum(constant for constant, _ in rows) - fit.constant) < 1e-9
    True
    """
    weight = weights(total)
    growth = np.ones_like(sizes) if fit.model.is_constant else fit.model.growths[0](sizes)
    scale = float(growth.max()) or 1.0
    kept = [] if fit.constant <= 0 else [weight]
    if not fit.model.is_constant:
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


def resolution(sizes: Floats, costs: Floats) -> float:
    """The relative distance that no model can fall below: costs in whole numbers are rounded."""
    return math.sqrt(_variance(np.zeros_like(costs), sizes, costs, weights(costs)))


def beyond_rounding(residuals: Floats, costs: Floats) -> float:
    """The largest relative distance that rounding does not explain; zero where it explains all.

    Costs in whole numbers are rounded to one. A model that follows the rounding of small costs is off at large ones.

    >>> costs = np.array([1.0, 2, 3, 4])
    >>> beyond_rounding(np.array([0.5, 0, 0, -1.0]), costs), beyond_rounding(np.array([0, 0, 0, -3.0]), costs)
    (0.0, 0.75)
    """
    weight = weights(costs)
    distance, rounding = np.abs(residuals * weight), _FLOAT_MISFIT
    if _are_whole(costs):
        distance[np.abs(residuals) <= 1.0] = 0.0
        # A zero is off by all of itself: it does not say how much the others may be off by.
        rounding = max(rounding, math.sqrt(float(np.mean(np.where(costs > 0, weight, 0.0) ** 2)) / 12))
    largest = float(np.max(distance))
    return largest if largest > _ROUNDINGS * rounding else 0.0


def _variance(residuals: Floats, sizes: Floats, costs: Floats, weight: Floats) -> float:
    """The mean square of the distances, each no less than rounding: to whole numbers, or by the computer.

    That nothing costs nothing is not rounded: one zero at size 0 would hide what the other costs distinguish.
    """
    squared = residuals**2
    if _are_whole(costs):
        squared = np.maximum(squared, np.where((sizes > 0) | (costs > 0), weight**2 / 12, 0.0))
    return max(float(np.mean(squared)), _FLOAT_MISFIT**2)


def _are_whole(costs: Floats) -> bool:
    return bool(np.all(costs == np.round(costs)))


def _aicc(points: int, parameters: int, variance: float, *, exact: bool = False) -> float:
    """The criterion; infinite where it is undefined.

    Exact costs have no noise that one more coefficient could follow. At the first number of coefficients without a
    criterion a model is a candidate that is off by less than a hundredth of what the others leave.
    """
    spare: float = points - parameters - 1
    if exact and spare == 0:
        spare = _NONE_SPARE
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
    half = float(stdtrit(spare, 0.975)) * math.sqrt(float(covariance[place, place]))
    return max(0.0, (float(solution[1]) - half) / scale), (float(solution[1]) + half) / scale

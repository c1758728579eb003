"""Every sum of the laws' terms that meets the costs: what a third term, or a fourth, would add beyond the sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.special import stdtrit

from firstlight.stats.scaling.certainty import NEGLIGIBLE
from firstlight.stats.scaling.fit import LEAST_GROWTH, Fit, resolution, squares, weights
from firstlight.stats.scaling.models import LAWS, Floats
from firstlight.stats.scaling.unrefuted import MET

#: Exact costs differ from a sum by no more than half of the last decimal place: three times that variance, each.
_HALF_A_STEP = 3.0
#: What arithmetic leaves of an exact cost, relative.
_ARITHMETIC = 1e-8
#: Costs have no more decimal places than this: with more they are not rounded.
_MOST_PLACES = 9
#: A made-up cost is moved up to so many times the sum's own, relative, in so many steps.
_FARTHEST, _HALVINGS = 1e8, 48
#: A law is refuted if a sum leaves less than this part of its squared distances: then these are further terms.
_EXPLAINED = 0.25
#: A model of noisy costs is clear if terms that the noise hides add no more than this part at twice the largest size.
#: With more, one in a hundred sums of three terms with a noise of 1 % was called a law of one term.
_HIDDEN_IN_NOISE = 0.125


@dataclass(frozen=True)
class Sums:
    """All sums of the laws' terms that are as near to the costs as they may be."""

    columns: Floats
    """The constant and the terms at the sizes, over their scales and weighted; with the costs as the last column."""
    scales: Floats
    """The largest value of each term."""
    allowed: float
    """So much may the weighted squared distances add up to."""
    meet: bool
    """The costs are exact, and the sums differ from them by rounding."""
    explain_more: bool
    """The sums do not meet exact costs, and the nearest leaves less than a quarter of what the best model leaves."""
    terms: tuple[str, ...]
    """Those of the nearest sum."""

    def range_at(self, size: float) -> tuple[float, float]:
        """The lowest and the highest cost of a size.

        A cost is made up there and moved away from the nearest sum's, until no sum is near enough to all costs.

        >>> from firstlight.stats.scaling.fit import fit_model
        >>> n = np.array([1.0, 2, 4, 8, 16, 32, 64, 128, 256])
        >>> costs = np.round(5_000_000 + 2461 * n + 2 * n**2 + 0.02 * n**3)
        >>> low, high = sums_of(fit_model(LAWS[3], n, costs, exact=True), n, costs, exact=True).range_at(512)
        >>> low < 9_468_675 < high, high / low < 1.001
        (True, True)
        """
        at = np.array([size])
        row = np.array([1.0, *(float(law.growths[0](at)[0]) for law in LAWS[1:])]) / self.scales
        matrix, costs = self.columns[:, :-1], self.columns[:, -1]
        nearest = float(row @ nnls(matrix, costs)[0])
        # As heavy as the other rows: a heavier one would leave no precision for them.
        heavy = float(np.linalg.norm(costs)) / max(abs(nearest), 1e-300)

        def moved(by: float) -> tuple[float, float]:
            wanted = nearest * (1.0 + by)
            try:
                found = nnls(np.vstack([matrix, heavy * row]), np.append(costs, heavy * wanted))[0]
            except RuntimeError:  # too many iterations: not for so few columns, but scipy does not promise it
                return math.inf, nearest
            return float(np.sum((matrix @ found - costs) ** 2)), float(row @ found)

        ends = [_farthest(moved, sign, self.allowed, nearest) for sign in (-1.0, 1.0)]
        return min(ends), max(ends)


def _farthest(moved: Callable[[float], tuple[float, float]], sign: float, allowed: float, nearest: float) -> float:
    """The cost that is as far off as the squared distances allow."""
    low, high, found = math.log(_ARITHMETIC), math.log(_FARTHEST), nearest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        distance, cost = moved(sign * math.exp(middle))
        if distance <= allowed:
            low, found = middle, cost
        else:
            high = middle
    return found


def sums_of(best: Fit, sizes: Floats, costs: Floats, *, exact: bool) -> Sums | None:
    """The sums of any number of the laws' terms that are as near to the costs as the best model.

    Exact costs are met to their last decimal place, if a sum does so. Else a sum is as near as the best model where its
    squared distances are larger by no more than those of one more measurement.

    :returns: none where no sum is.
    """
    terms = np.column_stack([np.ones_like(sizes), *(law.growths[0](sizes) for law in LAWS[1:])])
    scales = terms.max(axis=0)
    if not np.all(np.isfinite(scales)) or np.any(scales <= 0):
        return None
    terms = terms / scales
    if exact:
        met = _near(terms, scales, costs, _exact_weights(costs), _HALF_A_STEP * len(costs), 0.0, meet=True)
        if met is not None:
            return met
    if best.model.is_constant and float(np.ptp(costs)) < LEAST_GROWTH * float(np.median(costs)):
        return None  # so little growth is that of no model
    spare = max(1, best.spare)
    most = squares(best) * (1.0 + float(stdtrit(spare, 0.975)) ** 2 / spare)
    return _near(terms, scales, costs, weights(costs), most, _EXPLAINED * squares(best), meet=False)


def meets(fit: Fit, sizes: Floats, costs: Floats) -> bool:
    """Whether a model meets exact costs to their last digit, or as nearly as the search for its parameter can.

    >>> from firstlight.stats.scaling.fit import fit_model
    >>> n = np.array([1.0, 2, 4, 8, 16])
    >>> [meets(fit_model(LAWS[3], n, costs, exact=True), n, costs) for costs in (10 + 2.5 * n, 10 + 2.5 * n**1.1)]
    [True, False]
    """
    if fit.misfit <= MET * resolution(sizes, costs):
        return True
    columns = np.column_stack([np.ones_like(sizes), *(growth(sizes) for growth in fit.model.growths)])
    weight = _exact_weights(costs)
    scaled = columns / columns.max(axis=0) * weight[:, None]
    return float(nnls(scaled, costs * weight)[1]) ** 2 <= MET**2 * len(costs)


def _exact_weights(costs: Floats) -> Floats:
    """One over what rounding to the last decimal place, and arithmetic, leave of each cost."""
    arithmetic = _ARITHMETIC * np.maximum(np.abs(costs), 1e-3 * float(costs.max()))
    return np.asarray(1.0 / np.sqrt(step_of(costs) ** 2 / 12 + arithmetic**2 + 1e-300))


def _near(
    terms: Floats, scales: Floats, costs: Floats, weight: Floats, allowed: float, explained: float, *, meet: bool
) -> Sums | None:
    weighted = np.column_stack([terms * weight[:, None], costs * weight])
    if len(costs) > weighted.shape[1]:
        # As many rows as columns, with the same distances.
        weighted = np.asarray(np.linalg.qr(weighted, mode="r"), dtype=np.float64)
    try:
        found, distance = nnls(weighted[:, :-1], weighted[:, -1])
    except RuntimeError:
        return None
    if distance**2 > allowed:
        return None
    grown = [law.name for law, share in zip(LAWS[1:], found[1:], strict=True) if share > 0]
    return Sums(weighted, scales, allowed, meet, bool(distance**2 < explained), tuple(grown))


def agree(best: Fit, sums: Sums | None, last: float, *, exact: bool) -> bool:
    """Whether no sum differs from the model at twice the largest size.

    Noise leaves further terms possible that the costs do not show: those may add an eighth.

    :param last: the largest size.
    """
    if sums is None:
        return True
    value = max(float(best.at(np.array([2.0 * last]))[0]), 1e-300)
    most = NEGLIGIBLE if exact else _HIDDEN_IN_NOISE
    return all(abs(end / value - 1.0) <= most for end in sums.range_at(2.0 * last))


def step_of(costs: Floats) -> float:
    """The last decimal place of costs; zero where they have so many that they are not rounded.

    >>> step_of(np.array([5.0, 12.0])), step_of(np.array([0.25, 1.5])), step_of(np.array([1 / 3]))
    (1.0, 0.01, 0.0)
    """
    for places in range(_MOST_PLACES + 1):
        scaled = costs * 10.0**places
        if np.all(np.abs(scaled - np.round(scaled)) <= 4 * np.spacing(np.abs(scaled))):
            return float(10.0**-places)
    return 0.0

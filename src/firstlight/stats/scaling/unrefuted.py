"""Models that the criterion does not choose, and that the measurements do not refute: the band holds them, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firstlight.stats.scaling.certainty import CLEAR_SIZES, NEGLIGIBLE, RIVALS
from firstlight.stats.scaling.fit import Fit, fit_every, fit_falling, ordered, resolution, squares
from firstlight.stats.scaling.models import Floats, ScalingModel

#: Noisy costs do not refute a model whose squared distances are up to so many times those of the best one.
_AS_NEAR = 4.0
#: Exact costs are met by a model that is off by no more than so many times what rounding leaves.
MET = 3.0
#: If so many exact costs beyond its coefficients meet a law of one term, it is no coincidence.
NO_COINCIDENCE = 3


def unrefuted(
    best: Fit, sizes: Floats, costs: Floats, *, exact: bool, terms: Sequence[ScalingModel] = ()
) -> tuple[Fit, ...]:
    """The models that fit as well as the best one and are not among the candidates.

    With few costs the criterion AICc leaves out every model of many coefficients, however well it fits: below eight
    costs, each that is as near to them as the best one is possible, unless a law of one term meets five exact costs. At
    any number of costs the growth may slow down until the cost falls, which no candidate does.

    >>> from firstlight.stats.scaling.fit import fit_all
    >>> n = np.array([4.0, 10, 25, 64, 160])
    >>> costs = 500 + n + 20 * np.maximum(0, n - 60)
    >>> best = fit_all(n, costs, exact=True)[0]
    >>> any(fit.law.startswith("hinge") for fit in unrefuted(best, n, costs, exact=True))
    True
    >>> unrefuted(fit_all(n, 1 + 2 * n, exact=True)[0], n, 1 + 2 * n, exact=True)
    ()
    """
    found = []
    if len(costs) < CLEAR_SIZES:
        met = len(costs) * (MET * resolution(sizes, costs)) ** 2
        most = max(squares(best) * (1.0 if exact else _AS_NEAR), met)
        if not (exact and best.is_simple and best.spare >= NO_COINCIDENCE and squares(best) <= met):
            found = [fit for fit in fit_every(sizes, costs, exact=exact, terms=terms) if squares(fit) <= most]
    found += [fit for fit in fit_falling(sizes, costs) if fit.aicc - best.aicc <= RIVALS]
    return tuple(ordered(found, sizes, costs))


def disagree(best: Fit, others: Sequence[Fit], last: float) -> bool:
    """Whether any of the others differs from the best model at twice the largest size.

    :param last: the largest size.
    """
    at = np.array([2.0 * last])
    value = max(float(best.at(at)[0]), 1e-300)
    return any(abs(float(fit.at(at)[0]) / value - 1.0) > NEGLIGIBLE for fit in others)

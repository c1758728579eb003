"""The analysis of costs by size: the model, the runner-up and the confidence, the parts, the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from firstlight.errors import UsageError
from firstlight.stats.scaling.exponent import Exponent, exponent, growth_exponent
from firstlight.stats.scaling.fit import Fit, falls, fit_all, fit_model, shared_basis
from firstlight.stats.scaling.models import BY_NAME, Floats

#: Below this many sizes the criterion has no value for a law with two coefficients.
LEAST_SIZES = 5
_GOOD_SIZES = 6
_GOOD_SPAN = 10**1.5

#: The row for what of the total lies in no part.
REST = "[rest]"


@dataclass(frozen=True)
class LeftOut:
    """The largest size, predicted from the others alone."""

    size: float
    cost: float
    predicted: float
    error: float
    """Relative: predicted / cost - 1."""
    law: str | None
    """The law that the others would have chosen; none where too few are left to choose by."""


@dataclass(frozen=True)
class Step:
    """Between two neighbouring sizes the cost grew by more, or less, than the law has it."""

    below: float
    above: float
    extra: float
    """In the costs' unit."""


@dataclass(frozen=True)
class CostPart:
    """A part of the total. Constant and slope are on the total's law, so that those of all parts add up to it."""

    name: str
    law: str
    """The law that the part alone would choose; `falls` where it has less the larger the size, `-` for none."""
    certainty: str
    constant: float
    slope: float
    smallest: float
    """Its cost at the smallest size, and at the largest."""
    largest: float


@dataclass(frozen=True)
class ScalingAnalysis:
    """Costs by sizes, and what they follow."""

    sizes: tuple[float, ...]
    costs: tuple[float, ...]
    exact: bool
    fits: tuple[Fit, ...]
    """Every law that could be fitted, the best first."""
    exponent: Exponent | None
    growth_exponent: Exponent | None
    left_out: LeftOut | None
    steps: tuple[Step, ...]
    parts: tuple[CostPart, ...]
    falls: bool = False
    """The cost falls as the size grows: the best law is the constant, and it is wrong."""
    notes: tuple[str, ...] = field(default=())

    @property
    def best(self) -> Fit:
        """The law with the smallest criterion."""
        return self.fits[0]

    @property
    def law(self) -> str:
        """The best law's name; `falls` where the cost falls."""
        return "falls" if self.falls else self.best.law

    @property
    def runner_up(self) -> Fit | None:
        """The next one."""
        return self.fits[1] if len(self.fits) > 1 else None

    @property
    def certainty(self) -> str:
        """How sure the law is, by the distance of the runner-up; `-` where there is none."""
        return "-" if self.falls else certainty(self.fits)

    def within(self, distance: float) -> tuple[Fit, ...]:
        """The laws whose criterion is at most so far from the best one's."""
        return tuple(fit for fit in self.fits if fit.aicc - self.best.aicc <= distance)


def certainty(fits: Sequence[Fit]) -> str:
    """Say how sure the first of several laws is: the rule of thumb for differences of AICc.

    Source: Burnham and Anderson (2002): below 2 both are supported, up to 4 weakly less, above 10 not at all.

    >>> certainty([Fit("n", 1, 1, None, -50.0, 0, 0), Fit("n log n", 1, 1, None, -49.0, 0, 0)])
    'indistinguishable'
    """
    if len(fits) < 2:
        return "the only one that fits"
    distance = fits[1].aicc - fits[0].aicc
    for bound, word in ((2, "indistinguishable"), (4, "weak"), (10, "likely")):
        if distance < bound:
            return word
    return "clear"


def study(
    sizes: Sequence[float], costs: Sequence[float], parts: Mapping[str, Sequence[float]] | None = None, *, exact: bool
) -> ScalingAnalysis:
    """Find the law that costs by sizes follow.

    :param sizes: not negative; the same size several times where it was measured several times.
    :param costs: one for each size, not negative, in any unit.
    :param parts: of each cost; what they leave of it becomes a part of its own.
    :param exact: the costs are exact: steps and misfits are no noise.
    :raises UsageError: for too few sizes, or figures that are no sizes or costs.

    Source: the laws and rules of Extra-P and of the criterion AICc; chosen over cross-validation, which takes constants
    for laws in a fifth of all cases.

    >>> found = study([1, 2, 4, 8, 16], [110, 120, 140, 180, 260], {"probe": [10, 20, 40, 80, 160]}, exact=True)
    >>> found.best.law, [(part.name, part.law, round(part.slope)) for part in found.parts]
    ('n', [('probe', 'n', 10), ('[rest]', '1', 0)])
    """
    size, cost = _checked(sizes, costs)
    order = np.argsort(size, kind="stable")
    size, cost = size[order], cost[order]
    spread = _spread(size, cost) if exact else None
    exact = exact and spread is None
    fits = tuple(fit_all(size, cost, exact=exact))
    if not fits:
        raise UsageError("no law fits these costs", hint="are all of them zero?")
    rows = _parts(size, cost, order, dict(parts or {}), fits[0], exact=exact)
    falling = falls(size, cost, fits)
    return ScalingAnalysis(
        sizes=tuple(size.tolist()),
        costs=tuple(cost.tolist()),
        exact=exact,
        fits=fits,
        exponent=exponent(size, cost, exact=exact),
        growth_exponent=growth_exponent(size, cost, exact=exact),
        left_out=None if falling else _leave_largest_out(size, cost, fits[0], exact=exact),
        steps=_steps(size, cost, fits[0]) if exact and not falling else (),
        parts=rows,
        falls=falling,
        notes=(*([spread] if spread else []), *_notes(size, cost, falling=falling)),
    )


def _spread(size: Floats, cost: Floats) -> str | None:
    """Why costs that are called exact are not: different ones of one size."""
    for at in np.unique(size):
        same = cost[size == at]
        if np.ptp(same):
            percent = float(np.ptp(same) / same.max()) * 100
            return (
                f"these costs are called exact, yet those of size {at:g} differ by {percent:.2g} %: they are taken as "
                "noisy"
            )
    return None


def _checked(sizes: Sequence[float], costs: Sequence[float]) -> tuple[Floats, Floats]:
    size, cost = np.asarray(sizes, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    if size.shape != cost.shape or size.ndim != 1:
        raise UsageError("there must be one cost for each size")
    for name, figures in (("size", size), ("cost", cost)):
        if not np.all(np.isfinite(figures)) or bool(np.any(figures < 0)):
            raise UsageError(f"a {name} is negative or no number")
        if figures.size and figures.max() > 1e100:
            raise UsageError(f"a {name} is too large", hint="choose a larger unit")
    distinct = len(np.unique(size))
    if distinct < LEAST_SIZES:
        raise UsageError(
            f"{distinct} different sizes are too few to tell laws apart",
            hint=f"give at least {LEAST_SIZES}, better 8, each twice the one before",
        )
    return size, cost


def _parts(
    size: Floats, cost: Floats, order: np.typing.NDArray[np.intp], parts: dict[str, Sequence[float]], best: Fit, *,
    exact: bool,
) -> tuple[CostPart, ...]:  # fmt: skip
    if not parts:
        return ()
    figures = {}
    for name, given in parts.items():
        column = np.asarray(given, dtype=np.float64)
        if column.shape != cost.shape or not np.all(np.isfinite(column)):
            raise UsageError(f"the part `{name}` must have one number for each size")
        figures[name] = column[order]
    rest = cost - np.sum(list(figures.values()), axis=0)
    if np.any(np.abs(rest) > 1e-9 * cost) and REST not in figures:
        figures[REST] = rest
    on_basis = shared_basis(BY_NAME[best.law], best, size, cost, list(figures.values()))
    rows = []
    for (name, column), (constant, slope) in zip(figures.items(), on_basis, strict=True):
        own = fit_all(size, column, exact=exact) if np.all(column >= 0) and np.any(column > 0) else []
        ends = [float(np.mean(column[size == at])) for at in (size[0], size[-1])]
        # No law here falls: what does is not constant for that.
        falling = len(own) == 1 and ends[1] < ends[0] * (1 - 1e-9)
        rows.append(
            CostPart(
                name=name,
                law="falls" if falling else own[0].law if own else "-",
                certainty="-" if falling or not own else certainty(own),
                constant=constant,
                slope=slope,
                smallest=ends[0],
                largest=ends[1],
            )
        )
    return tuple(sorted(rows, key=lambda part: (part.name == REST, -abs(part.largest - part.smallest), part.name)))


def _leave_largest_out(size: Floats, cost: Floats, best: Fit, *, exact: bool) -> LeftOut | None:
    kept = size < size[-1]
    again = fit_model(BY_NAME[best.law], size[kept], cost[kept], exact=exact)
    if again is None:
        again = fit_model(BY_NAME["1"], size[kept], cost[kept], exact=exact)
    real = float(np.mean(cost[~kept]))
    if again is None or real == 0:
        return None
    chosen = fit_all(size[kept], cost[kept], exact=exact) if len(np.unique(size[kept])) >= LEAST_SIZES else []
    predicted = float(again.at(size[-1:])[0])
    return LeftOut(float(size[-1]), real, predicted, predicted / real - 1, chosen[0].law if chosen else None)


def _steps(size: Floats, cost: Floats, best: Fit) -> tuple[Step, ...]:
    """Where the cost jumps: more than three times what the distance from the law usually changes, and 0.01 % of it."""
    distinct = np.unique(size)
    level = np.array([float(np.median(cost[size == at])) for at in distinct])
    jumps = np.diff(level - best.at(distinct))
    usual = float(np.median(np.abs(jumps)))
    found = [
        Step(float(distinct[place]), float(distinct[place + 1]), float(jump))
        for place, jump in enumerate(jumps)
        if abs(jump) > 3 * usual and abs(jump) > max(1.0, 1e-4 * level[place + 1])
    ]
    return tuple(sorted(found, key=lambda step: -abs(step.extra)))


def _notes(size: Floats, cost: Floats, *, falling: bool) -> list[str]:
    distinct = np.unique(size)
    notes = []
    if len(distinct) < _GOOD_SIZES:
        notes.append(f"{len(distinct)} sizes: the corrected criterion prefers few coefficients; 8 would tell more")
    least = distinct[distinct > 0][0]
    if distinct[-1] / least < _GOOD_SPAN:
        notes.append(
            f"the sizes span a factor of {distinct[-1] / least:.3g}: laws look alike over less than {_GOOD_SPAN:.0f}"
        )
    if falling:
        notes.append("the cost falls as the size grows: no law here says how, they grow or stay; nothing is predicted")
    return notes

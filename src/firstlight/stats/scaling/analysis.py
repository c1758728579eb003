"""The analysis of costs by size: the model, the runner-up and the confidence, the parts, the checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from firstlight.errors import UsageError
from firstlight.quantities import counted
from firstlight.stats.scaling.certainty import (
    CLEAR_SIZES,
    RIVALS,
    certainty,
    first_of_kinds,
    is_clear,
    kind_of,
    lack_of_fit,
    runner_up,
)
from firstlight.stats.scaling.exponent import Exponent, exponent, growth_exponent
from firstlight.stats.scaling.fit import (
    Fit,
    falls,
    fit_all,
    fit_every,
    fit_laws,
    fit_model,
    levels_of,
    ordered,
    shared_basis,
)
from firstlight.stats.scaling.models import BY_NAME, Floats, ScalingModel
from firstlight.stats.scaling.sample import sampled
from firstlight.stats.scaling.sums import Sums, agree, meets, sums_of
from firstlight.stats.scaling.unrefuted import NO_COINCIDENCE, disagree, unrefuted

#: Below this many sizes the criterion has no value for a law with two coefficients.
LEAST_SIZES = 5
_GOOD_SPAN = 10**1.5

#: A model still fits if the largest size lies outside the band of the others by less than this part of it.
_HELD = 0.5

#: No model is clear whose band at twice the largest size reaches from one cost to so many times that.
_WIDE = 2.0

#: Larger and smaller figures leave the range in which powers of them can be computed.
_LARGEST, _SMALLEST = 1e100, 1e-100

#: With fewer sizes a model follows their noise.
_OF_A_FIT = 4

#: Where sizes lie close together, the model was chosen by the sizes that it predicts here, and is off by more beyond.
#: Of laws that no model has, half of this band missed the cost at twice the largest size.
_CHOSEN_BY_ALL = 2.0

#: Models differ at a size if their costs do by more than this part; below it nothing would separate them.
_DIFFERENT = 1e-3

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
    """The model that the others would have chosen; none where too few are left to choose by."""
    held: bool = True
    """The band of the others held the cost."""
    least: float = 0.0
    most: float = 0.0
    """The ends of that band, relative to the cost."""


@dataclass(frozen=True)
class Reach:
    """How far off the model is beyond the sizes that it was fitted to: above half of the largest, from those below."""

    times: float
    """The largest size over the largest one that the model was fitted to."""
    off: float
    """The largest absolute logarithm of a predicted cost over the real one."""


@dataclass(frozen=True)
class LawStep:
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
    steps: tuple[LawStep, ...]
    parts: tuple[CostPart, ...]
    falls: bool = False
    """The cost falls as the size grows: the best law is the constant, and it is wrong."""
    misfit: str | None = None
    """Why none of the models fits; none where the best one does."""
    clear: bool = False
    """Nothing but the best model can be."""
    next_size: float | None = None
    """The size whose cost would separate the models that are left; none where they agree everywhere."""
    unrefuted: tuple[Fit, ...] = ()
    """Models that are no candidates and that the costs do not refute; the band holds them."""
    notes: tuple[str, ...] = field(default=())
    reach: Reach | None = None
    """What predictions beyond the largest size are off by; none where nothing could be left out."""
    sums: Sums | None = None
    """The sums of any number of terms that are as near to the costs; the band holds them. None where no sum is."""

    @property
    def best(self) -> Fit:
        """The law with the smallest criterion."""
        return self.fits[0]

    @property
    def law(self) -> str:
        """The best model's name; `falls` where the cost falls, `none` where no model fits."""
        return "falls" if self.falls else "none" if self.misfit is not None else self.best.law

    @property
    def runner_up(self) -> Fit | None:
        """The best model of another kind."""
        return runner_up(self.fits, self.sizes[-1])

    @property
    def simple(self) -> Fit:
        """The best named law of one term, on which parts add up."""
        return next((fit for fit in self.fits if fit.is_simple), self.best)

    @property
    def certainty(self) -> str:
        """How sure the model is, by the distance of the runner-up; `-` where there is none."""
        if self.falls or self.misfit is not None:
            return "-"
        word = certainty(self.fits, self.sizes[-1])
        if word != "indistinguishable" and disagree(self.best, self.unrefuted, self.sizes[-1]):
            return "weak"
        return word if self.clear or word not in ("clear", "the only one that fits") else "likely"

    @property
    def kinds(self) -> tuple[Fit, ...]:
        """The best fit of every kind of model."""
        return first_of_kinds(self.fits)

    def within(self, distance: float) -> tuple[Fit, ...]:
        """The fits whose criterion is at most so far from the best one's."""
        return tuple(fit for fit in self.fits if fit.aicc - self.best.aicc <= distance)


def study(
    sizes: Sequence[float], costs: Sequence[float], parts: Mapping[str, Sequence[float]] | None = None, *, exact: bool,
    terms: Sequence[ScalingModel] = (),
) -> ScalingAnalysis:  # fmt: skip
    """Find the law that costs by sizes follow.

    :param sizes: not negative; the same size several times where it was measured several times.
    :param costs: one for each size, not negative, in any unit.
    :param parts: of each cost; what they leave of it becomes a part of its own.
    :param exact: the costs are exact: steps and misfits are not noise.
    :param terms: models of measured counts, which compete with the named laws; see :mod:`.counts`.
    :raises UsageError: for too few sizes, or figures that are not sizes or costs.

    Source: the laws and rules of Extra-P and of the criterion AICc; chosen over cross-validation, which takes constants
    for laws in a fifth of all cases.

    >>> found = study([1, 2, 4, 8, 16], [110, 120, 140, 180, 260], {"probe": [10, 20, 40, 80, 160]}, exact=True)
    >>> found.best.law, [(part.name, part.law, round(part.slope)) for part in found.parts]
    ('n', [('probe', 'n', 10), ('[rest]', '1', 0)])
    """
    size, cost = _checked(sizes, costs)
    spread = _spread(size, cost) if exact else None
    order = sampled(size)
    fewer = _sample_text(len(size), len(order)) if len(order) < len(size) else None
    order = order[np.argsort(size[order], kind="stable")]
    size, cost = size[order], cost[order]
    exact = exact and spread is None
    fits = tuple(fit_all(size, cost, exact=exact, terms=terms))
    if not fits:
        raise UsageError("no law fits these costs", hint="are all of them zero?")
    simple = next((fit for fit in fits if fit.is_simple), fits[0])
    rows = _parts(size, cost, order, dict(parts or {}), simple, len(sizes), exact=exact)
    falling = falls(size, cost, exact=exact)
    left = None if falling else _leave_largest_out(size, cost, fits[0], exact=exact, terms=terms)
    misfit = None if falling else lack_of_fit(fits[0], size, cost, exact=exact)
    if misfit is None and left is not None and not left.held:
        misfit = f"the models of the other sizes predict {left.least:+.0%} to {left.most:+.0%} at the largest size"
    sums = None if falling else sums_of(fits[0], size, cost, exact=exact)
    met = exact and meets(fits[0], size, cost)
    beyond = sums is not None and sums.meet and not met
    if misfit is None and sums is not None and beyond and len(cost) > len(sums.terms) + NO_COINCIDENCE:
        misfit = f"the sum {' + '.join(sums.terms)} meets these costs to their last digit, which no model here does"
    error = None if left is None else left.error
    clear = misfit is None and is_clear(fits, size, cost, exact=exact, met=met, error=error)
    others = () if falling else unrefuted(fits[0], size, cost, exact=exact, terms=terms)
    last = float(size[-1])
    clear = clear and not disagree(fits[0], others, last) and not _is_wide(band_of(fits, 2.0 * last, others))
    if exact and sums is not None:
        one_term = met and fits[0].is_simple and fits[0].spare >= NO_COINCIDENCE
        constant = one_term and fits[0].model.is_constant
        clear = clear and not (beyond or sums.explain_more) and (constant or agree(fits[0], sums, last, exact=True))
        if one_term:
            sums = None  # that one term meets all costs is no coincidence: another one is not needed
    elif clear:
        clear = agree(fits[0], sums, last, exact=False)
    return ScalingAnalysis(
        sizes=tuple(size.tolist()),
        costs=tuple(cost.tolist()),
        exact=exact,
        fits=fits,
        exponent=exponent(size, cost, exact=exact),
        growth_exponent=growth_exponent(size, cost, exact=exact),
        left_out=left,
        steps=_steps(size, cost, fits[0]) if exact and not falling else (),
        parts=rows,
        falls=falling,
        misfit=misfit,
        clear=clear,
        next_size=None if falling or clear else _next_size(size, fits, others),
        unrefuted=others,
        notes=(*filter(None, (spread, fewer)), *_notes(size, falling=falling)),
        reach=None if falling else _reach(size, cost, fits[0], left, exact=exact),
        sums=sums,
    )


def _next_size(sizes: Floats, fits: Sequence[Fit], others: Sequence[Fit]) -> float | None:
    """The size between two measured ones, or up to four times the largest, at which models differ most.

    Where one model is left, it is compared with the runner-up.
    """
    distinct = np.unique(sizes)
    between = np.round(np.sqrt(np.maximum(distinct[:-1], 0.5) * distinct[1:]))
    candidates = np.array([size for size in (*between, 2 * distinct[-1], 4 * distinct[-1]) if size not in distinct])
    rivals = [*(fit for fit in fits if fit.aicc - fits[0].aicc < RIVALS), *others]
    runner = runner_up(fits, float(distinct[-1]))
    for compared in (rivals, [fits[0]] if runner is None else [fits[0], runner]):
        costs = np.array([fit.at(candidates) for fit in compared])
        differ = np.ptp(costs, axis=0) / np.maximum(np.median(costs, axis=0), 1e-300)
        if differ.max() > _DIFFERENT:
            # Four times the largest takes long: it has to say much more than twice.
            return float(candidates[int(np.argmax(differ * np.where(candidates > 3 * distinct[-1], 0.5, 1.0)))])
    return None


def _spread(size: Floats, cost: Floats) -> str | None:
    """Why costs that are called exact are not: different ones of one size."""
    order = np.argsort(size, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(size[order])) + 1])
    least, most = np.minimum.reduceat(cost[order], starts), np.maximum.reduceat(cost[order], starts)
    differ = np.flatnonzero(most > least)
    if not differ.size:
        return None
    at = int(differ[0])
    percent = float((most[at] - least[at]) / most[at]) * 100
    return (
        f"these costs are called exact, yet those of size {size[order][starts[at]]:g} differ by {percent:.2g} %: they "
        "are taken as noisy"
    )


def _sample_text(rows: int, fitted: int) -> str:
    return f"{rows:,} measurements: the models are fitted to {fitted:,} of them, chosen at random from each size"


def _checked(sizes: Sequence[float], costs: Sequence[float]) -> tuple[Floats, Floats]:
    size, cost = np.asarray(sizes, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    if size.shape != cost.shape or size.ndim != 1:
        raise UsageError("there must be one cost for each size")
    for name, figures in (("size", size), ("cost", cost)):
        wrong = np.flatnonzero(~np.isfinite(figures) | (figures < 0))
        if wrong.size:
            at = int(wrong[0])
            why = "negative" if figures[at] < 0 else "not a number"
            raise UsageError(f"the {name} of measurement {at + 1} is {why}: {figures[at]:g}",
                             hint="leave this measurement out, or correct it")  # fmt: skip
        if figures.size and figures.max() > _LARGEST:
            raise UsageError(f"a {name} is too large", hint="choose a larger unit")
        if figures.size and 0 < figures.max() < _SMALLEST:
            raise UsageError(f"the {name}s are too small", hint="choose a smaller unit")
    distinct = len(np.unique(size))
    if distinct < LEAST_SIZES:
        raise UsageError(
            f"{counted(distinct, 'different size')}: too few to distinguish scaling models",
            hint=f"give at least {LEAST_SIZES}, better 8, each twice the one before",
        )
    return size, cost


def _parts(
    size: Floats, cost: Floats, order: np.typing.NDArray[np.intp], parts: dict[str, Sequence[float]], best: Fit,
    rows: int, *, exact: bool,
) -> tuple[CostPart, ...]:  # fmt: skip
    if not parts:
        return ()
    figures = {}
    for name, given in parts.items():
        column = np.asarray(given, dtype=np.float64)
        if column.shape != (rows,) or not np.all(np.abs(column) <= _LARGEST):
            raise UsageError(f"the part `{name}` must have one number for each size")
        figures[name] = column[order]
    rest = cost - np.sum(list(figures.values()), axis=0)
    if np.any(np.abs(rest) > 1e-9 * cost) and REST not in figures:
        figures[REST] = rest
    on_basis = shared_basis(best, size, cost, list(figures.values()))
    made = []
    for (name, column), (constant, slope) in zip(figures.items(), on_basis, strict=True):
        own = fit_laws(size, column, exact=exact) if np.all(column >= 0) and np.any(column > _SMALLEST) else []
        ends = [float(np.mean(column[size == at])) for at in (size[0], size[-1])]
        # No law here falls: what does is not constant for that.
        falling = len(own) == 1 and ends[1] < ends[0] * (1 - 1e-9)
        made.append(
            CostPart(
                name=name,
                law="falls" if falling else own[0].law if own else "-",
                certainty="-" if falling or not own else certainty(own, float(size[-1])),
                constant=constant,
                slope=slope,
                smallest=ends[0],
                largest=ends[1],
            )
        )
    return tuple(sorted(made, key=lambda part: (part.name == REST, -abs(part.largest - part.smallest), part.name)))


def _leave_largest_out(
    size: Floats, cost: Floats, best: Fit, *, exact: bool, terms: Sequence[ScalingModel]
) -> LeftOut | None:
    kept = size < size[-1]
    again = fit_model(best.model, size[kept], cost[kept], exact=exact)
    chosen = fit_all(size[kept], cost[kept], exact=exact, terms=terms)
    if again is None:
        again = chosen[0] if chosen else fit_model(BY_NAME["1"], size[kept], cost[kept], exact=exact)
    real = float(np.mean(cost[~kept]))
    if again is None or real == 0:
        return None
    predicted = float(again.at(size[-1:])[0])
    low, high = band_of(chosen or [again], float(size[-1]))
    slack = _HELD * (high - low) + 1e-6 * real + (0.01 if exact else 0.0) * real
    return LeftOut(
        float(size[-1]), real, predicted, predicted / real - 1, chosen[0].law if chosen else None,
        held=len(np.unique(size[kept])) < LEAST_SIZES or low - slack <= real <= high + slack,
        least=low / real - 1, most=high / real - 1,
    )  # fmt: skip


def _reach(size: Floats, cost: Floats, best: Fit, left: LeftOut | None, *, exact: bool) -> Reach | None:
    """Leave out the sizes above half of the largest, and predict their costs.

    The noise of one cost says little about the next size where sizes lie close together. At least four sizes are left,
    and four beyond a hinge or a step, if there are so many; where the sizes double, only the largest is left out.
    """
    if left is None:
        return None
    distinct = np.unique(size)
    last = float(distinct[-1])
    number = max(int(np.searchsorted(distinct, last / 2, side="right")), _OF_A_FIT)
    if best.model.family == "segments":
        beyond = int(np.searchsorted(distinct, best.model.parameter or 0.0, side="right")) + _OF_A_FIT
        # Reaching less far, and repeating that, would multiply the noise.
        number = max(number, min(beyond, int(np.searchsorted(distinct, last / 1.5, side="right"))))
    if number < len(distinct) - 1:
        kept = size <= distinct[number - 1]
        again = [fit_model(best.model, size[kept], cost[kept], exact=exact)]
        if best.model.parameter is not None:
            # The parameter was found with the largest sizes: without them it is another one.
            others = ordered(fit_every(size[kept], cost[kept], exact=exact), size[kept], cost[kept])
            again.append(next((fit for fit in others if kind_of(fit) == kind_of(best)), None))
        if fitted := [fit for fit in again if fit is not None]:
            above = distinct[number:]
            real = levels_of(size[~kept], cost[~kept])
            predicted = np.array([fit.at(above) for fit in fitted])
            off = np.abs(np.log(np.maximum(predicted, _SMALLEST) / np.maximum(real, _SMALLEST)))
            return Reach(last / float(distinct[number - 1]), _CHOSEN_BY_ALL * float(off.max()))
    before = float(distinct[-2])
    return Reach(last / before if before > 0 else math.e, abs(math.log(max(left.predicted, _SMALLEST) / left.cost)))


def band_of(fits: Sequence[Fit], size: float, others: Sequence[Fit] = ()) -> tuple[float, float]:
    """The lowest and the highest cost of a size, of all fits near the best one, each with its 95 % interval.

    :param others: models that are no candidates and that the costs do not refute.
    """
    near = [*(fit for fit in fits if fit.aicc - fits[0].aicc <= RIVALS), *others]
    at = np.array([size])
    values = [(float(fit.at(at)[0]), fit.half_width(size)) for fit in near]
    return max(0.0, min(value - half for value, half in values)), max(value + half for value, half in values)


def _is_wide(band: tuple[float, float]) -> bool:
    """Whether costs that differ by more than a factor of two are all possible."""
    return band[1] > _WIDE * band[0]


def _steps(size: Floats, cost: Floats, best: Fit) -> tuple[LawStep, ...]:
    """Where the cost jumps: more than three times what the distance from the law usually changes, and 0.01 % of it."""
    distinct = np.unique(size)
    level = levels_of(size, cost)
    jumps = np.diff(level - best.at(distinct))
    usual = float(np.median(np.abs(jumps)))
    found = [
        LawStep(float(distinct[place]), float(distinct[place + 1]), float(jump))
        for place, jump in enumerate(jumps)
        if abs(jump) > 3 * usual and abs(jump) > max(1.0, 1e-4 * level[place + 1])
    ]
    return tuple(sorted(found, key=lambda step: -abs(step.extra)))


def _notes(size: Floats, *, falling: bool) -> list[str]:
    distinct = np.unique(size)
    notes = []
    if len(distinct) < CLEAR_SIZES:
        notes.append(
            f"{len(distinct)} sizes: no model is clear below {CLEAR_SIZES}, and the criterion prefers few coefficients"
        )
    least = distinct[distinct > 0][0]
    if distinct[-1] / least < _GOOD_SPAN:
        notes.append(
            f"the sizes span a factor of {distinct[-1] / least:.3g}: laws look alike over less than {_GOOD_SPAN:.0f}"
        )
    if falling:
        notes.append("the cost falls as the size grows: no law here says how, they grow or stay; nothing is predicted")
    return notes

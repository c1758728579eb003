"""Everything that costs by sizes say, of every configuration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from firstlight.experiment.scaling.costs import CostSeries
from firstlight.stats.scaling.analysis import ScalingAnalysis
from firstlight.stats.scaling.crossover import Bracket, Crossing, crossings
from firstlight.stats.scaling.prediction import Prediction, predict

#: What the data have of a fit.
_FIT = ("law", "constant", "slope", "coefficients", "slope_interval", "aicc", "misfit", "scatter")

#: The version of the data; it changes when an older reader could misread it.
VERSION = 1


@dataclass(frozen=True)
class Configuration:
    """One configuration's law and what it predicts."""

    name: str
    study: ScalingAnalysis
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True)
class Meeting:
    """Where the laws of two configurations cross, and between which sizes real boots do."""

    first: str
    second: str
    crossing: Crossing
    bracket: Bracket | None = None


@dataclass(frozen=True)
class Answer:
    """Every configuration, and where they cross."""

    title: str
    variable: str
    unit: str
    """Of the sizes."""
    cost: str
    """What a cost is, with its clock and its two marks where they are known."""
    nanoseconds: bool
    """Costs are nanoseconds; else whatever the table has."""
    configurations: tuple[Configuration, ...]
    meetings: tuple[Meeting, ...]
    notes: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "format": "firstlight-scale",
            "version": VERSION,
            "title": self.title,
            "variable": self.variable,
            "unit": self.unit,
            "cost": self.cost,
            "cost_unit": "ns" if self.nanoseconds else None,
            "configurations": [_data(each) for each in self.configurations],
            "crossovers": [asdict(each) for each in self.meetings],
            "notes": list(self.notes),
        }


def configurations_of(measured: Sequence[CostSeries], at: Sequence[float]) -> tuple[Configuration, ...]:
    """Study every configuration, and predict sizes.

    :raises UsageError: when one has too few sizes, or figures that cannot be.
    """
    found = []
    for each in measured:
        study = each.study()
        # A size asked for twice is predicted once; a law that is known to be wrong predicts nothing.
        wanted = () if study.falls else dict.fromkeys(at)
        found.append(Configuration(each.name, study, tuple(predict(study, size) for size in wanted)))
    return tuple(found)


def sign_changes(first: CostSeries, second: CostSeries) -> list[tuple[int, int]]:
    """Neighbouring sizes between which the cheaper of two measured configurations changes.

    >>> one, other = CostSeries("a", [1, 2, 4], [5, 6, 9]), CostSeries("b", [1, 2, 4], [7, 7, 7])
    >>> sign_changes(one, other)
    [(2, 4)]
    """
    one, other = (dict(zip(each.sizes, each.costs, strict=True)) for each in (first, second))
    shared = sorted(one.keys() & other.keys())
    return [
        (int(below), int(above))
        for below, above in itertools.pairwise(shared)
        if (other[below] < one[below]) != (other[above] < one[above])
    ]


def measured_meetings(
    first: CostSeries, second: CostSeries, bisect: Callable[[int, int], Bracket | None] | None = None
) -> list[Meeting]:
    """Where the cheaper of two measured configurations changes: between which two sizes.

    :param bisect: finds two neighbouring sizes between two others; without it the measured ones are reported.

    >>> one, other = CostSeries("a", [1, 2, 4], [5, 6, 9]), CostSeries("b", [1, 2, 4], [7, 7, 7])
    >>> (only,) = measured_meetings(one, other)
    >>> only.crossing.cheaper_above, only.bracket
    ('second', Bracket(below=2, above=4, difference_below=1, difference_above=-2, measured=()))
    """
    one, other = (dict(zip(each.sizes, each.costs, strict=True)) for each in (first, second))
    found = []
    for below, above in sign_changes(first, second):
        ends = other[below] - one[below], other[above] - one[above]
        bracket = (bisect(below, above) if bisect else None) or Bracket(below, above, *ends, ())
        crossing = Crossing(bracket.above, "first" if ends[1] > 0 else "second", True)
        found.append(Meeting(first.name, second.name, crossing, bracket))
    return found


def too_close(first: CostSeries, second: CostSeries, band_ns: int) -> str | None:
    """That two configurations nowhere differ by more than the noise band, so that a crossover may be an accident.

    >>> too_close(CostSeries("a", [1, 2], [1000, 1001]), CostSeries("b", [1, 2], [1001, 1000]), 1)
    '`a` and `b` differ by at most 1 ns at any size, which is within the noise band: the crossover may be an accident'
    """
    one, other = (dict(zip(each.sizes, each.costs, strict=True)) for each in (first, second))
    largest = max((abs(other[size] - one[size]) for size in one.keys() & other.keys()), default=None)
    if largest is None or largest > band_ns:
        return None
    return (
        f"`{first.name}` and `{second.name}` differ by at most {round(largest):,} ns at any size, which is within the "
        "noise band: the crossover may be an accident"
    )


def meetings_of(configurations: Sequence[Configuration]) -> tuple[Meeting, ...]:
    """Where the laws of any two configurations cross."""
    return tuple(
        Meeting(one.name, other.name, crossing)
        for one, other in itertools.combinations(configurations, 2)
        if not (one.study.falls or other.study.falls)
        for crossing in crossings(one.study, other.study)
    )


def _data(configuration: Configuration) -> dict[str, Any]:
    study = configuration.study
    return {
        "name": configuration.name,
        "regime": "exact" if study.exact else "noisy",
        "sizes": list(study.sizes),
        "costs": list(study.costs),
        "law": study.law,
        "runner_up": study.runner_up.law if study.runner_up else None,
        "delta_aicc": study.runner_up.aicc - study.best.aicc if study.runner_up else None,
        "certainty": study.certainty,
        "misfit": study.misfit,
        "next_size": study.next_size,
        "fits": [{name: getattr(fit, name) for name in _FIT} for fit in study.kinds],
        "exponent": asdict(study.exponent) if study.exponent else None,
        "growth_exponent": asdict(study.growth_exponent) if study.growth_exponent else None,
        "leave_largest_out": asdict(study.left_out) if study.left_out else None,
        "steps": [asdict(step) for step in study.steps],
        "parts": [asdict(part) for part in study.parts],
        "predictions": [asdict(each) for each in configuration.predictions],
        "notes": list(study.notes),
    }

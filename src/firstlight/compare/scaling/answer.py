"""Everything that costs by sizes say, of every configuration."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from firstlight.compare.scaling.crossover import Bracket, Crossing, crossings
from firstlight.compare.scaling.measured import Measured
from firstlight.compare.scaling.prediction import Prediction, predict
from firstlight.compare.scaling.study import Study

#: The version of the data; it changes when an older reader could misread it.
VERSION = 1


@dataclass(frozen=True)
class Configuration:
    """One configuration's law and what it predicts."""

    name: str
    study: Study
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
    """The whole of it."""

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


def configurations_of(measured: Sequence[Measured], at: Sequence[float]) -> tuple[Configuration, ...]:
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


def sign_changes(first: Measured, second: Measured) -> list[tuple[int, int]]:
    """Neighbouring sizes between which the cheaper of two measured configurations changes.

    >>> one, other = Measured("a", [1, 2, 4], [5, 6, 9]), Measured("b", [1, 2, 4], [7, 7, 7])
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
        "fits": [asdict(fit) for fit in study.fits],
        "exponent": asdict(study.exponent) if study.exponent else None,
        "growth_exponent": asdict(study.growth_exponent) if study.growth_exponent else None,
        "leave_largest_out": asdict(study.left_out) if study.left_out else None,
        "steps": [asdict(step) for step in study.steps],
        "parts": [asdict(part) for part in study.parts],
        "predictions": [asdict(each) for each in configuration.predictions],
        "notes": list(study.notes),
    }

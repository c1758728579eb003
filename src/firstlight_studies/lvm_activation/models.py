"""How each figure of a setting grows with the number of physical volumes, and what that predicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from firstlight import UsageError
from firstlight.study import LEAST_SIZES, Kind, MissingValue, Prediction, ScalingAnalysis, predict
from firstlight.study import fit_scaling as study
from firstlight_studies.lvm_activation.measures import ActivationFigures
from firstlight_studies.lvm_activation.programs import Command, Programs

REACH = 4
"""A model is asked for this many times the largest measured size, and not beyond."""
_CLEAR_SIZES = 8
"""No scaling model is clear by fewer."""
#: Where the largest size lies farther from what the others foretell, or any size from the law, the law says nothing of
#: sizes beyond: relative.
_AMISS = 0.20
NO_LAW = MissingValue("no law of the family foretells the largest")

Where = Literal["times", "files", "memory"]
"""The table that a quantity stands in."""


@dataclass(frozen=True)
class Quantity:
    """Something that may grow."""

    key: str
    title: str
    kind: Kind
    where: Where
    of: Callable[[ActivationFigures], float | MissingValue | None]


def _of_programs(get: Callable[[Programs], float]) -> Callable[[ActivationFigures], float | MissingValue]:
    return lambda figures: figures.programs if isinstance(figures.programs, MissingValue) else get(figures.programs)


def _each(get: Callable[[Command], int]) -> Callable[[ActivationFigures], float | MissingValue]:
    return _of_programs(lambda programs: programs.each(get))


def _most(get: Callable[[Command], int]) -> Callable[[ActivationFigures], float | MissingValue]:
    return _of_programs(lambda programs: programs.most(get))


QUANTITIES = (
    Quantity("active", "Last volume active", "time", "times", lambda figures: figures.active_ns),
    Quantity("settled", "Settled", "time", "times", lambda figures: figures.settled_ns),
    Quantity("lvm", "lvm2's own computing, user mode", "time", "times", lambda figures: figures.lvm_ns),
    Quantity("systemd", "systemd's own computing, user mode", "time", "times", lambda figures: figures.systemd_ns),
    Quantity("processes", "Processes of lvm2", "count", "times", _of_programs(lambda programs: programs.count)),
    Quantity("at-once", "Of these at once", "count", "times", _of_programs(lambda programs: programs.at_once)),
    Quantity("opened-each", "Files opened, per process", "number", "files", _each(lambda command: command.opened)),
    Quantity("online-each", "lvm2's notes, per process", "number", "files", _each(lambda command: command.online)),
    Quantity(
        "udev-each", "udev's database, per process", "number", "files", _each(lambda command: command.udev_database)
    ),
    Quantity(
        "udev-most", "udev's database, by one", "count", "files", _most(lambda command: command.udev_database_most)
    ),
    Quantity("sysfs-each", "sysfs, per process", "number", "files", _each(lambda command: command.sysfs)),
    Quantity("sysfs-most", "sysfs, by one", "count", "files", _most(lambda command: command.sysfs_most)),
    Quantity("memory", "Memory of lvm2, peak", "bytes", "memory", _of_programs(lambda programs: programs.memory)),
    Quantity("services", "Memory of all services, peak", "bytes", "memory", lambda figures: figures.services_memory),
    Quantity("udev-service", "Memory of udev's service, peak", "bytes", "memory", lambda figures: figures.udev_memory),
)  # fmt: skip


@dataclass(frozen=True)
class ActivationModel:
    """How one quantity of one setting grows."""

    quantity: Quantity
    study: ScalingAnalysis
    far: Prediction | None
    """At :data:`REACH` times the largest size; none for what falls."""

    @property
    def foretells(self) -> bool:
        """It comes near every size that was measured, and from the others to the largest; nothing is foretold of what
        falls."""
        left = self.study.left_out
        near = self.study.best.misfit <= _AMISS and (left is None or abs(left.error) <= _AMISS)
        return near or self.study.falls

    @property
    def certainty(self) -> str:
        """How sure the model is; never clear by fewer than eight sizes."""
        few = len(self.study.sizes) < _CLEAR_SIZES and self.study.certainty == "clear"
        return "likely" if few else self.study.certainty


def growth_between(sizes: Sequence[int], costs: Sequence[float]) -> float | MissingValue:
    """The exponent of the growth between the two largest sizes: the cost above that of the smallest size, over the size
    above the smallest.

    >>> growth_between([1, 2, 3], [10, 20, 50])
    2.0
    """
    if len(sizes) < 3:
        return MissingValue(f"{len(sizes)} sizes came up: the exponent of the growth needs 3")
    (least, first), (size, cost), (last, most) = ((sizes[place], costs[place]) for place in (0, -2, -1))
    if cost <= first or most <= first:
        return MissingValue("the cost does not grow")
    return round(math.log((most - first) / (cost - first)) / math.log((last - least) / (size - least)), 6)


def laws(by_size: Mapping[int, ActivationFigures]) -> dict[str, ActivationModel | MissingValue | None]:
    """The law of every quantity of one setting, by its key; nothing for what it does not have.

    Exact: each figure is that of one boot, which is the same every time.

    :param by_size: the figures of one setting, by the number of physical volumes.
    """
    return {quantity.key: _law(quantity, by_size) for quantity in QUANTITIES}


def _law(quantity: Quantity, by_size: Mapping[int, ActivationFigures]) -> ActivationModel | MissingValue | None:
    points: dict[int, float] = {}
    reason: MissingValue | None = None
    for size, figures in sorted(by_size.items()):
        value = quantity.of(figures)
        if isinstance(value, MissingValue):
            reason = value
        elif value is not None:
            points[size] = float(value)
    if not points:
        return reason
    if len(points) < LEAST_SIZES:
        return MissingValue(f"{len(points)} sizes came up: a law needs {LEAST_SIZES}")
    if not any(points.values()):
        return MissingValue("nothing at any size")
    try:
        found = study(list(points), list(points.values()), exact=True)
    except UsageError as error:
        return MissingValue(error.message)
    return ActivationModel(quantity, found, None if found.falls else predict(found, REACH * max(points)))

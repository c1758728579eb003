"""How each figure of a setting grows with the number of physical volumes, and what that predicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from firstlight.compare.scaling.prediction import Prediction, predict
from firstlight.compare.scaling.study import LEAST_SIZES, Study, study
from firstlight.errors import UsageError
from firstlight.study.lvm_activation.measures import Figures, Programs
from firstlight.study.table import Hole, Kind

#: The number that is asked for, beyond anything that is measured.
FAR = 10_000


@dataclass(frozen=True)
class Quantity:
    """Something that may grow."""

    key: str
    title: str
    kind: Kind
    of: Callable[[Figures], float | Hole | None]


def _of_programs(get: Callable[[Programs], float]) -> Callable[[Figures], float | Hole]:
    return lambda figures: figures.programs if isinstance(figures.programs, Hole) else get(figures.programs)


QUANTITIES = (
    Quantity("active", "Last volume active", "time", lambda figures: figures.active_ns),
    Quantity("settled", "Settled", "time", lambda figures: figures.settled_ns),
    Quantity("lvm", "lvm2's own computing", "time", lambda figures: figures.lvm_ns),
    Quantity("systemd", "systemd's own computing", "time", lambda figures: figures.systemd_ns),
    Quantity("processes", "Processes of lvm2", "count", _of_programs(lambda programs: programs.count)),
    Quantity("at-once", "Of these at once", "count", _of_programs(lambda programs: programs.at_once)),
    Quantity(
        "udev-each", "udev's database, per process", "number",
        _of_programs(lambda programs: programs.udev_database / max(1, programs.count)),
    ),
    Quantity(
        "udev-most", "udev's database, by one", "count", _of_programs(lambda programs: programs.udev_database_most)
    ),
    Quantity(
        "sysfs-each", "sysfs, per process", "number",
        _of_programs(lambda programs: programs.sysfs / max(1, programs.count)),
    ),
    Quantity("sysfs-most", "sysfs, by one", "count", _of_programs(lambda programs: programs.sysfs_most)),
    Quantity("memory", "Memory of lvm2, peak", "bytes", _of_programs(lambda programs: programs.memory)),
    Quantity("services", "Memory of all services, peak", "bytes", lambda figures: figures.services_memory),
)  # fmt: skip


@dataclass(frozen=True)
class Law:
    """How one quantity of one setting grows."""

    quantity: Quantity
    study: Study
    far: Prediction | None
    """At :data:`FAR`; none for what falls."""


def laws(by_size: Mapping[int, Figures]) -> dict[str, Law | Hole | None]:
    """The law of every quantity of one setting, by its key; nothing for what it does not have.

    Exact: each figure is that of one boot, which is the same every time.

    :param by_size: the figures of one setting, by the number of physical volumes.
    """
    return {quantity.key: _law(quantity, by_size) for quantity in QUANTITIES}


def _law(quantity: Quantity, by_size: Mapping[int, Figures]) -> Law | Hole | None:
    points: dict[int, float] = {}
    reason: Hole | None = None
    for size, figures in sorted(by_size.items()):
        value = quantity.of(figures)
        if isinstance(value, Hole):
            reason = value
        elif value is not None:
            points[size] = float(value)
    if not points:
        return reason
    if len(points) < LEAST_SIZES:
        return Hole(f"{len(points)} sizes came up: a law needs {LEAST_SIZES}")
    if not any(points.values()):
        return Hole("nothing at any size")
    try:
        found = study(list(points), list(points.values()), exact=True)
    except UsageError as error:
        return Hole(error.message)
    return Law(quantity, found, None if found.falls else predict(found, FAR))

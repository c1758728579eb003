"""How the cost grows with the number of legacy pseudo-terminals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firstlight import UsageError
from firstlight.study import (
    LEAST_SIZES,
    Chart,
    CostSeries,
    Exponent,
    Field,
    LeftOut,
    MissingValue,
    Series,
    Table,
    Value,
)
from firstlight_studies.udev_ptys import stages

_PARTS = (stages.WHOLE, stages.KERNEL, stages.INITRAMFS, stages.SYSTEM)
_PROGRAMS = (stages.UDEV_EARLY, stages.UDEV)
#: Costs that have a law of their own: they mean the same with every number of pseudo-terminals. How a span is divided
#: between who asks, who does and who waits does not.
COSTS = (*_PARTS, stages.COLDPLUG_EARLY, *_PROGRAMS)
#: Stages that are names of every size.
_TIMES = (
    *_PARTS, stages.TRIGGER_EARLY, stages.PROCESSING_EARLY, stages.TRIGGER, stages.NOT_YET, stages.PROCESSING,
)  # fmt: skip
#: A law that misses a measured figure by more than this part of it shows nothing.
_WORST_MISFIT = 0.2


@dataclass(frozen=True)
class CostLaw:
    """What one cost follows."""

    law: str
    certainty: str
    runner_up: str | None
    constant: float
    slope: float
    """For each pseudo-terminal, where the law is linear."""
    growth: Exponent | None
    """Of what is above the cost without any."""
    left_out: LeftOut | None
    misfit: float


def law_of(costs: Mapping[int, float]) -> CostLaw | MissingValue:
    """The law of a cost by sizes, exact ones; a gap where there are too few, or no model of the family fits it.

    >>> found = law_of({0: 100, 16: 132, 64: 228, 128: 356, 256: 612})
    >>> found.law, found.slope, round(found.growth.value, 6)
    ('n', 2.0, 1.0)
    """
    sizes = sorted(costs)
    if len(sizes) < LEAST_SIZES:
        return MissingValue(f"{len(sizes)} sizes were measured, a law needs {LEAST_SIZES}")
    try:
        study = CostSeries("", [float(size) for size in sizes], [float(costs[size]) for size in sizes]).study()
    except UsageError as error:
        return MissingValue(error.message)
    if abs(study.best.misfit) > _WORST_MISFIT:
        return MissingValue(f"no scaling model fits: the best, `{study.law}`, misses by {study.best.misfit:+.0%}")
    return CostLaw(
        law=study.law,
        certainty=study.certainty,
        runner_up=study.runner_up.law if study.runner_up else None,
        constant=study.best.constant,
        slope=round(study.best.slope, 6),
        growth=study.growth_exponent,
        left_out=study.left_out,
        misfit=study.best.misfit,
    )


def law_table(costs: Mapping[str, CostLaw | MissingValue]) -> Table:
    """The laws, a row for each cost."""
    fields = (
        Field("Cost"), Field("Law"), Field("Certainty"), Field("Exponent of the growth", "number"), Field("from"),
        Field("Constant", "time"), Field("Slope", "time"), Field("Worst misfit", "percent"),
        Field("Largest, predicted by the others", "percent"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for name, law in costs.items():
        if isinstance(law, MissingValue):
            rows.append((name, law, *([None] * 7)))
            continue
        growth = law.growth
        rows.append(
            (
                name, law.law, law.certainty, None if growth is None else round(growth.value, 3),
                None if growth is None else f"{growth.low:.3f} to {growth.high:.3f}", round(law.constant),
                round(law.slope), round(law.misfit, 6), None if law.left_out is None else round(law.left_out.error, 6),
            )
        )  # fmt: skip
    below = (
        "cost = constant + slope * growth(n), n pseudo-terminals; where the law is `n` the slope is the cost of one. "
        "Instructions are given as times: one takes a nanosecond.",
        "The exponent is that of the cost above the cost of none, over the larger half of the sizes; `from` has the "
        "least and the largest between neighbouring sizes. The last column is the prediction error for the largest "
        "size by the model of all other sizes.",
    )
    return Table("law", "What a boot costs against the number of legacy pseudo-terminals", fields, tuple(rows), below)


def sizes_table(
    sizes: Mapping[int, Mapping[str, int | MissingValue] | MissingValue], numbers: Mapping[int, Mapping[str, int]]
) -> Table:
    """Every size with its costs.

    :param sizes: stages by size.
    :param numbers: what the guest counted, by size.
    """
    names = (*_TIMES, *_PROGRAMS)
    counted = {
        "uevents": "Uevents", "/sys/class/tty": "Terminals", "/run/udev/data": "Records of udev",
        "/run/udev/tags/systemd": "Device units",
    }  # fmt: skip
    fields = (
        Field("Count", "count"), *(Field(name, "time") for name in _TIMES),
        *(Field(name, "count") for name in _PROGRAMS), *(Field(title, "count") for title in counted.values()),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for size, times in sorted(sizes.items()):
        if isinstance(times, MissingValue):
            rows.append((size, *([times] * len(names)), *([None] * len(counted))))
        else:
            known = numbers.get(size, {})
            rows.append((size, *(times[name] for name in names), *(known.get(name) for name in counted)))
    return Table("sizes", "Each number of legacy pseudo-terminals", fields, tuple(rows))


def law_chart(sizes: Mapping[int, Mapping[str, int | MissingValue] | MissingValue]) -> Chart | None:
    """Stages against the number of pseudo-terminals."""
    series = []
    for name in (stages.KERNEL, stages.INITRAMFS, stages.SYSTEM, stages.WHOLE):
        points = []
        for size, times in sorted(sizes.items()):
            time = times if isinstance(times, MissingValue) else times[name]
            if not isinstance(time, MissingValue):
                points.append((float(size), float(time)))
        if points:
            series.append(Series(name, tuple(points)))
    if not series:
        return None
    across = "legacy pseudo-terminals"
    title = f"What each part of a boot takes, by number of {across}"
    return Chart("law", title, "lines", across, "virtual time", "time", tuple(series))

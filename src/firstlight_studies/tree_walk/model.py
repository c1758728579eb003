"""How the penalty grows with the number of directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firstlight import UsageError
from firstlight.study import LEAST_SIZES, Chart, Field, MissingValue, ScalingAnalysis, Series, Table, Value, missing_in
from firstlight.study import fit_scaling as study
from firstlight_studies.tree_walk.measured import WalkTimings
from firstlight_studies.tree_walk.penalty import Runs, shortest
from firstlight_studies.tree_walk.plan import MANNERS, Sized


@dataclass(frozen=True)
class Grown:
    """What a walk over one tree takes without and with the further stat, in ns."""

    directories: int
    shape: str
    without_ns: int
    with_ns: int

    @property
    def cost_ns(self) -> int:
        """The penalty."""
        return self.with_ns - self.without_ns


@dataclass(frozen=True)
class WalkModel:
    """What penalties by sizes follow, on one file system."""

    points: tuple[Grown | MissingValue, ...]
    penalty: ScalingAnalysis | MissingValue
    walk: ScalingAnalysis | MissingValue


def law_of(order: Sequence[Sized], runs: Runs, nothing: MissingValue) -> WalkModel:
    """Fit the laws of a walk's penalty, and of the walk itself."""
    points: list[Grown | MissingValue] = []
    for shape in dict.fromkeys(each.shape for each in order):
        without, with_ = (
            [runs.get(each.name, nothing) for each in order if (each.shape, each.manner) == (shape, manner)]
            for manner in MANNERS
        )
        failed = missing_in(*without, *with_)
        points.append(failed or Grown(shape.directories, str(shape), _least(without), _least(with_)))
    whole = [point for point in points if isinstance(point, Grown)]
    return WalkModel(
        tuple(points),
        _fit(whole, [point.cost_ns for point in whole], nothing),
        _fit(whole, [point.without_ns for point in whole], nothing),
    )


def _least(runs: Sequence[WalkTimings | MissingValue]) -> int:
    return shortest(run for run in runs if isinstance(run, WalkTimings)).elapsed_ns


def _fit(points: Sequence[Grown], costs: Sequence[int], nothing: MissingValue) -> ScalingAnalysis | MissingValue:
    if not points:
        return nothing
    if len(points) < LEAST_SIZES:
        return MissingValue(f"{len(points)} sizes are too few for a law; {LEAST_SIZES} are needed")
    if min(costs) < 0:
        return MissingValue("at one size the walk with the further stat took less: no law fits a saving")
    try:
        return study([point.directories for point in points], costs, exact=True)
    except UsageError as error:
        return MissingValue(error.message)


def sizes_table(found: Mapping[str, WalkModel]) -> Table:
    """The penalty of each tree."""
    fields = (
        Field("File system"), Field("Tree"), Field("Directories", "count"), Field("Without", "time"),
        Field("With", "time"), Field("Penalty", "change"), Field("Penalty, relative", "percent"),
        Field("Per directory", "time"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for kind, law in found.items():
        for point in law.points:
            if isinstance(point, MissingValue):
                rows.append((kind, *(point,) * (len(fields) - 1)))
                continue
            rows.append(
                (
                    kind, point.shape, point.directories, point.without_ns, point.with_ns, point.cost_ns,
                    point.cost_ns / point.without_ns, round(point.cost_ns / point.directories),
                )
            )  # fmt: skip
    below = ("Elapsed time, the shortest of three alternations; above 5,000 directories one run of each.",)
    return Table("sizes", "Our walk over trees of several sizes", fields, tuple(rows), below)


def law_table(found: Mapping[str, WalkModel]) -> Table:
    """The laws, with how sure they are."""
    fields = (
        Field("Of"), Field("File system"), Field("Law in directories"), Field("Certainty"), Field("Constant", "change"),
        Field("Per directory", "time"), Field("Exponent", "number"), Field("Largest, predicted", "percent"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for kind, law in found.items():
        for name, fitted in (("penalty", law.penalty), ("walk without it", law.walk)):
            if isinstance(fitted, MissingValue):
                rows.append((name, kind, *(fitted,) * (len(fields) - 2)))
                continue
            best = fitted.best
            exponent = fitted.exponent
            rows.append(
                (
                    name, kind, fitted.law, fitted.certainty, round(best.constant),
                    round(best.slope) if fitted.law == "n" else None,
                    round(exponent.value, 3) if exponent else None,
                    fitted.left_out.error if fitted.left_out else None,
                )
            )  # fmt: skip
    below = (
        "Exponent: d log time / d log directories over the larger half of the sizes, without a model. Largest, "
        "predicted: the error of the model of the smaller trees for the largest one.",
    )
    return Table("law", "The scaling model of the penalty", fields, tuple(rows), below)


def law_chart(found: Mapping[str, WalkModel]) -> Chart | None:
    """The penalty over the number of directories."""
    series = tuple(
        Series(kind, points)
        for kind, law in found.items()
        if (points := tuple((point.directories, point.cost_ns) for point in law.points if isinstance(point, Grown)))
    )
    if not series:
        return None
    title = "The penalty of one more stat per directory, by the size of the tree"
    return Chart("law", title, "lines", "directories", "penalty", "time", series, logarithmic=True)

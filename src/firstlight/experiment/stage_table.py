"""The classic table of stages: of every arm what each stage took, what each arm changed, and the change in all.

The layout is that of the comparisons of kernels A, B and C in which the table became known: A, B, change from A to B,
C, change from B to C, and the change from A to C. A percentage there is the new figure in percent of the old one, cut
off behind the whole percent (`trunc(100 * new / old)`): 100 % means no change.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from firstlight.analysis.mark_interval import measure
from firstlight.analysis.processes.sums import userspace_sums
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.reliability import check_reliable
from firstlight.errors import FirstlightError
from firstlight.experiment.cell_result import CellResult, mean
from firstlight.experiment.plan import Stage
from firstlight.experiment.results import Results
from firstlight.schema.spans import SpanKind
from firstlight.suggest import nearest


@dataclass(frozen=True)
class StageRow:
    """One stage."""

    name: str
    times: list[Fraction | None]
    """Of each arm, nanoseconds; `None`: it has no such stage."""
    share_of: str | None = None
    """The row that it is shown as a share of."""
    percents: list[int | None] | None = None
    """Of each arm, in whole percent of that row, cut off."""


@dataclass(frozen=True)
class StageTable:
    """Stages of arms."""

    arms: list[str]
    rows: list[StageRow]
    why_not: list[str]
    """Of what is missing, the reasons."""
    from_first: bool = False
    """Cells of factors: neighbours differ in several levels at once, so that each is compared with the first."""

    @property
    def steps(self) -> list[tuple[int, int]]:
        """The arms that are compared, by their places: from which to which.

        >>> StageTable(["A", "B", "C"], [], []).steps, StageTable(["A", "B", "C"], [], [], from_first=True).steps
        ([(0, 1), (1, 2)], [(0, 1), (0, 2)])
        """
        return [(0 if self.from_first else place - 1, place) for place in range(1, len(self.arms))]

    @property
    def whole_step(self) -> tuple[int, int] | None:
        """From the first arm to the last, where no step is that already."""
        return None if self.from_first or len(self.arms) < 3 else (0, len(self.arms) - 1)


def percent_of(new: Fraction | None, old: Fraction | None) -> int | None:
    """The new figure in whole percent of the old one, cut off; `None` where there is no old one.

    >>> percent_of(Fraction(59), Fraction(60)), percent_of(Fraction(1), Fraction(0))
    (98, None)
    """
    return None if new is None or not old else int(100 * new / old)


def stage_table(results: Results) -> StageTable:
    """The stages that the plan names, or else the phases of the boots, and the whole below.

    :raises FirstlightError: when no cell counts.
    """
    arms = [cell for cell in results.cells if cell.counted]
    if not arms:
        raise FirstlightError(
            "no boot counts yet", where=str(results.path), hint="`firstlight experiment show` states the reason"
        )
    boots = {cell.name: [open_boot(boot.path) for boot in cell.boots if boot.measured is not None] for cell in arms}
    problems = [f"{cell.name}: {cell.why_not}" for cell in results.cells if not cell.counted]
    named = results.plan.stages
    rows = _named(named, arms, boots, problems) if named else _phases(arms, boots)
    rows.append(StageRow("all", [cell.time for cell in arms]))
    return StageTable([cell.name for cell in arms], rows, problems, from_first=bool(results.plan.factors))


def _named(
    stages: list[Stage], arms: list[CellResult], boots: dict[str, list[Boot]], problems: list[str]
) -> list[StageRow]:
    rows: dict[str, StageRow] = {}
    for stage in stages:
        times = []
        for cell in arms:
            try:
                times.append(mean([_length(stage, boot) for boot in boots[cell.name]]))
            except FirstlightError as error:
                problems.append(f"{cell.name}, stage {stage.name}: {error.message}")
                times.append(None)
        if not any(times) and (wrong := _nowhere(stage, [boot for each in boots.values() for boot in each])):
            problems.append(f"stage {stage.name}: {wrong}")
            times = [None] * len(arms)
        percents = None
        if stage.of is not None:
            percents = [percent_of(part, whole) for part, whole in zip(times, rows[stage.of].times, strict=True)]
        rows[stage.name] = StageRow(stage.name, times, stage.of, percents)
    return list(rows.values())


def _nowhere(stage: Stage, boots: list[Boot]) -> str | None:
    """That no boot knows what a stage is of: it took no time, or its name is wrong, and it is unknown which."""
    if stage.function is not None:
        kind, name = "function", stage.function
        known = {each for boot in boots for each in boot.calls()["function"].unique().to_list()}
    elif stage.initcall is not None:
        kind, name = SpanKind.INITCALL, stage.initcall
        spans = (boot.spans().filter(pl.col("kind") == SpanKind.INITCALL) for boot in boots)
        known = {each for table in spans for each in table["name"].unique().to_list()}
    elif stage.of_userspace is not None:
        kind, name = stage.of_userspace[0].replace("_", " "), stage.of_userspace[1]
        known = {each for boot in boots for each in userspace_sums(boot, stage.of_userspace[0])}
    else:
        return None
    return None if name in known else f"no boot has {kind} `{name}`{nearest(name, known)}"


def _length(stage: Stage, boot: Boot) -> int | None:
    where = str(boot.directory)
    if stage.function is not None:
        check_reliable(boot.manifest, where, Concern.FUNCTIONS)
        table = boot.functions()
        rows = table.filter(pl.col("function") == stage.function)
        # One that is not called took nothing.
        return int(rows["total_ns"].sum()) if rows.height else 0
    if stage.initcall is not None:
        check_reliable(boot.manifest, where, Concern.INITCALLS)
        spans = boot.spans().filter((pl.col("kind") == SpanKind.INITCALL) & (pl.col("name") == stage.initcall))
        known = spans["duration_ns"]
        return None if known.null_count() else int(known.sum())
    if stage.of_userspace is not None:
        kind, name = stage.of_userspace
        # What did not run executed nothing.
        return userspace_sums(boot, kind).get(name, 0)
    return measure(boot, stage.first, stage.last).time_ns


def _phases(arms: list[CellResult], boots: dict[str, list[Boot]]) -> list[StageRow]:
    """Every phase between the two marks of the measurement, in the order of the first arm that has it."""
    lengths: dict[str, dict[str, list[int | None]]] = {}
    for cell in arms:
        for boot, measured in zip(boots[cell.name], cell.counted, strict=True):
            times = dict(boot.marks().select("mark", "time_ns").iter_rows())
            begin, end = times[measured.first], times[measured.last]
            inside = boot.phases().filter((pl.col("start_ns") >= begin) & (pl.col("end_ns") <= end))
            for phase, took in inside.select("phase", "duration_ns").iter_rows():
                lengths.setdefault(phase, {}).setdefault(cell.name, []).append(took)
    return [
        StageRow(phase, [_mean_of(took.get(cell.name), len(boots[cell.name])) for cell in arms])
        for phase, took in lengths.items()
    ]


def _mean_of(took: list[int | None] | None, number: int) -> Fraction | None:
    return mean(took) if took is not None and len(took) == number else None

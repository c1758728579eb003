"""The table of stages, for a terminal, Markdown or CSV."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from firstlight.experiment.stage_table import StageRow, StageTable, percent_of
from firstlight.render.model.table import Column, Table, Value, Written

CONVENTION = "A percentage is the new figure in percent of the old one, rounded down: 100 % means no change."
#: Names of two arms that are longer than this stand above their table, not in it.
_LONGEST_HEADS = 16
Unit = tuple[str, int, int]
_UNITS: tuple[Unit, ...] = (("s", 1_000_000_000, 6), ("ms", 1_000_000, 3), ("us", 1_000, 3), ("ns", 1, 0))


def stages_table(stages: StageTable) -> Table:
    """All arms beside one another: A, B, change, C, change, ..., and the change in all.

    Of cells of factors each change is that against the first cell.
    """
    unit = _unit(stages)
    first = stages.arms[0]
    columns = [Column(f"Stage ({unit[0]})", style="cyan", name="stage"), _time_column(first, f"{first}_ns", unit)]
    for one, other in stages.steps:
        before, arm = stages.arms[one], stages.arms[other]
        title = "change" if stages.from_first else f"{before}→{arm}"
        columns += [_time_column(arm, f"{arm}_ns", unit), *_change_columns(title, f"{before}_to_{arm}", unit)]
    pairs = stages.steps
    if stages.whole_step is not None:
        columns += _change_columns(f"{first}→{stages.arms[-1]}", "total", unit)
        pairs = [*pairs, stages.whole_step]
    rows = [_cells(row, pairs) for row in stages.rows]
    against = [f"Each change is relative to {first}."] if stages.from_first and len(stages.arms) > 2 else []
    return Table("Stages", columns, rows[:-1], [rows[-1]], [*against, CONVENTION, *stages.why_not], sums_are_data=True)


def step_tables(stages: StageTable) -> list[Table]:
    """The same for a narrow place: a table for each step, and one for the change in all."""
    pairs = stages.steps if stages.whole_step is None else [*stages.steps, stages.whole_step]
    return [_step_table(stages, step, last=step == pairs[-1]) for step in pairs] or [stages_table(stages)]


def _step_table(stages: StageTable, step: tuple[int, int], *, last: bool) -> Table:
    one, other = step
    names = [stages.arms[one], stages.arms[other]]
    rows = [_picked(row, one, other) for row in stages.rows]
    long = sum(map(len, names)) > _LONGEST_HEADS
    shown = ["before", "after"] if long else names
    made = stages_table(StageTable(shown, rows, stages.why_not if last else [], from_first=long))
    if not long:
        return made
    return replace(made, title=f"Stages, {names[1]}", notes=[f"Before: {names[0]}; after: {names[1]}.", *made.notes])


def _picked(row: StageRow, one: int, other: int) -> StageRow:
    percents = None if row.percents is None else [row.percents[one], row.percents[other]]
    return StageRow(row.name, [row.times[one], row.times[other]], row.share_of, percents)


def _time_column(title: str, name: str, unit: Unit) -> Column:
    return Column(title, "time", name=name, write=lambda time: _figure_text(time, unit))


def _change_columns(title: str, name: str, unit: Unit) -> list[Column]:
    change = Column(
        title, "change", style="bold", name=f"{name}_ns", write=lambda time: _figure_text(time, unit, signed=True)
    )
    return [change, Column("%", "percent", name=f"{name}_percent", write=lambda percent: f"{percent}%")]


def _unit(stages: StageTable) -> Unit:
    largest = max((time for row in stages.rows for time in row.times if time is not None), default=Fraction(0))
    return next((unit for unit in _UNITS if largest >= unit[1]), _UNITS[-1])


def _cells(row: StageRow, pairs: list[tuple[int, int]]) -> list[Value]:
    """The first figure, each of the others with its change, and the change in all, where there is one."""
    figures: list[Value] = list(row.times)
    found: list[tuple[Fraction | None, int | None]] = []
    for one, other in pairs:
        before, after = row.times[one], row.times[other]
        change = None if before is None or after is None else after - before
        found.append((change, percent_of(after, before)))
    changes: list[tuple[Value, Value]] = list(found)
    name: Value = row.name
    if row.percents is not None:
        figures = [
            Written(time, "-" if percent is None else f"{percent}%")
            for time, percent in zip(row.times, row.percents, strict=True)
        ]
        changes = [(Written(change, ""), Written(percent, "")) for change, percent in found]
        name = Written(row.name, f"(of which {row.name})") if row.share_of is not None else row.name
    cells: list[Value] = [name, figures[0]]
    for place, figure in enumerate(figures[1:]):
        cells += [figure, *changes[place]]
    return [*cells, *changes[-1]] if len(changes) == len(figures) else cells


def _figure_text(time: Fraction, unit: Unit, signed: bool = False) -> str:
    """A time in one unit for all of a table."""
    _, size, places = unit
    # Whole nanoseconds are rounded to the places shown without ever being a float.
    steps = round(time * 10**places / size)
    sign = "-" if steps < 0 else "+" if signed and steps > 0 else ""
    whole, rest = divmod(abs(steps), 10**places)
    if signed and not time:
        return "0"
    if signed and not steps:
        # Less than the last place shown, and no nothing: its percentage may well be 99.
        sign = "-" if time < 0 else "+"
    return f"{sign}{whole}" + (f".{rest:0{places}}" if places else "")

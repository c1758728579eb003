"""The table of stages, for a terminal, Markdown or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from firstlight.experiment.json import exact_number
from firstlight.experiment.stage_table import StageRow, StageTable, percent_of
from firstlight.render.model.table import Sheet
from firstlight.render.terminal.columns import Column

CONVENTION = "A percentage is the new figure in whole percent of the old one, cut off: 100 % is no change."
#: Names of two arms that are longer than this stand above their table, not in it.
_LONGEST_HEADS = 16
_Cell = TypeVar("_Cell")
_UNITS = (("s", 1_000_000_000, 6), ("ms", 1_000_000, 3), ("us", 1_000, 3), ("ns", 1, 0))


def stage_sheet(table: StageTable) -> Sheet:
    """All arms beside one another: A, B, change, C, change, ..., and the change in all.

    Of cells of factors each change is that against the first cell.
    """
    unit = _unit(table)
    columns = [Column(f"Stage ({unit[0]})", style="cyan"), Column(table.arms[0], number=True)]
    data = ["stage", f"{table.arms[0]}_ns"]
    for one, other in table.steps:
        before, arm = table.arms[one], table.arms[other]
        columns += [Column(arm, number=True), *_change_columns("change" if table.from_first else f"{before}→{arm}")]
        data += [f"{arm}_ns", f"{before}_to_{arm}_ns", f"{before}_to_{arm}_percent"]
    pairs = table.steps
    if table.whole_step is not None:
        columns += _change_columns(f"{table.arms[0]}→{table.arms[-1]}")
        data += ["total_ns", "total_percent"]
        pairs = [*pairs, table.whole_step]
    rows = [_cells(row, pairs, unit) for row in table.rows]
    first = [f"Each change is against {table.arms[0]}."] if table.from_first and len(table.arms) > 2 else []
    return Sheet(
        "Stages",
        columns,
        rows[:-1],
        [rows[-1]],
        [*first, CONVENTION, *table.why_not],
        data,
        [_data(row, pairs) for row in table.rows],
    )


def step_sheets(table: StageTable) -> list[Sheet]:
    """The same for a narrow place: a table for each step, and one for the change in all."""
    pairs = table.steps if table.whole_step is None else [*table.steps, table.whole_step]
    return [_step_sheet(table, step, last=step == pairs[-1]) for step in pairs] or [stage_sheet(table)]


def _step_sheet(table: StageTable, step: tuple[int, int], *, last: bool) -> Sheet:
    one, other = step
    names = [table.arms[one], table.arms[other]]
    rows = [_picked(row, one, other) for row in table.rows]
    long = sum(map(len, names)) > _LONGEST_HEADS
    shown = ["before", "after"] if long else names
    sheet = stage_sheet(StageTable(shown, rows, table.why_not if last else [], from_first=long))
    if not long:
        return sheet
    return replace(sheet, title=f"Stages, {names[1]}", below=[f"Before: {names[0]}; after: {names[1]}.", *sheet.below])


def _picked(row: StageRow, one: int, other: int) -> StageRow:
    percents = None if row.percents is None else [row.percents[one], row.percents[other]]
    return StageRow(row.name, [row.times[one], row.times[other]], row.share_of, percents)


def _change_columns(title: str) -> list[Column]:
    return [Column(title, number=True, style="bold"), Column("%", number=True)]


def _unit(table: StageTable) -> tuple[str, int, int]:
    largest = max((time for row in table.rows for time in row.times if time is not None), default=Fraction(0))
    return next((unit for unit in _UNITS if largest >= unit[1]), _UNITS[-1])


def _cells(row: StageRow, pairs: list[tuple[int, int]], unit: tuple[str, int, int]) -> list[str]:
    if row.percents is not None:
        shown = ["-" if percent is None else f"{percent}%" for percent in row.percents]
        name = f"(of which {row.name})" if row.share_of is not None else row.name
        return _arranged(name, shown, [("", "")] * len(pairs))
    changes = []
    for one, other in pairs:
        before, after = row.times[one], row.times[other]
        change = None if before is None or after is None else after - before
        percent = percent_of(after, before)
        changes.append((_figure(change, unit, signed=True), "-" if percent is None else f"{percent}%"))
    return _arranged(row.name, [_figure(time, unit) for time in row.times], changes)


def _arranged(name: str, figures: Sequence[_Cell], changes: Sequence[tuple[_Cell, _Cell]]) -> list[str | _Cell]:
    """The first figure, each of the others with its change, and the change in all, where there is one."""
    cells: list[str | _Cell] = [name, figures[0]]
    for place, figure in enumerate(figures[1:]):
        cells += [figure, *changes[place]]
    return [*cells, *changes[-1]] if len(changes) == len(figures) else cells


def _figure(time: Fraction | None, unit: tuple[str, int, int], signed: bool = False) -> str:
    if time is None:
        return "-"
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


def _data(row: StageRow, pairs: list[tuple[int, int]]) -> list[str | int | float | None]:
    changes: list[tuple[int | float | None, int | None]] = []
    for one, other in pairs:
        before, after = row.times[one], row.times[other]
        change = None if before is None or after is None else after - before
        changes.append((exact_number(change), percent_of(after, before)))
    return _arranged(row.name, [exact_number(time) for time in row.times], changes)

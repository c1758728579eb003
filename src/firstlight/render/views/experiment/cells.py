"""The table of the cells of an experiment, and what stands above it."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.cell_result import CellResult
from firstlight.experiment.estimates import estimate_cells, varies
from firstlight.experiment.results import Results
from firstlight.quantities import count_text
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.experiment.statistics import (
    against,
    bar_column,
    estimate_columns,
    estimate_notes,
    relative,
)

_LEVELS_ROOM = 30


def cells_table(results: Results) -> Table:
    """Every cell with its figures."""
    baseline = results.cells[0].time
    several = any(len(cell.boots) > 1 for cell in results.cells)
    estimates = estimate_cells(results) if varies(results) else {}
    factors = [factor.name for factor in results.plan.factors]
    by_level = _by_level(results)

    def change(cell: CellResult) -> Fraction | None:
        return None if cell.time is None or baseline is None else cell.time - baseline

    def level(factor: str) -> Column:
        # A level is never cut: it distinguishes one cell from another.
        return Column(
            factor, value=lambda cell: cell.levels[factor], style="cyan", fixed=True, shown=by_level, name=factor
        )

    return table(
        "Cells" if factors else "Arms",
        [
            Column("Cell" if factors else "Arm", value="name", style="cyan", name="cell", shown=not by_level),
            *map(level, factors),
            Column("Boots", "number", _counted, shown=several, name=""),
            Column("", "count", lambda cell: len(cell.boots), name="boots", shown=False),
            Column("", "count", lambda cell: len(cell.counted), name="counted", shown=False),
            Column("Mean" if several else "Time", "time", "time", style="bold", name="time_ns"),
            Column("Change", "change", change, name=""),
            Column("%", "share_change", lambda cell: relative(change(cell), baseline), name=""),
            *(estimate_columns(lambda cell: estimates.get(cell.name)) if estimates else []),
            Column("Instructions", "count", "instructions", wide=90, write=lambda figure: count_text(round(figure))),
            Column("Idle", "time", "idle", wide=100, name="idle_ns"),
            Column("", "change", change, name="change_ns", shown=False),
            Column("", value="why_not", shown=False),
            bar_column(
                lambda cell: cell.time, max((c.time for c in results.cells if c.time), default=Fraction(1)), 124
            ),
        ],
        results.cells,
        notes=[*against(results), *(estimate_notes("cell", estimates.items(), "Holm") if estimates else [])],
    )


def _counted(cell: CellResult) -> str:
    return f"{len(cell.counted)}/{len(cell.boots)}"


def _by_level(results: Results) -> bool:
    """Whether a cell is shown as a column of levels for each factor: where it has a long name, and they have room."""
    if not results.plan.factors or results.plan.design.kind == "one-at-a-time":
        return False
    widths = [max(map(len, (factor.name, *factor.levels))) + 2 for factor in results.plan.factors]
    return sum(widths) <= _LEVELS_ROOM

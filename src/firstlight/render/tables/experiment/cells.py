"""The table of the cells of an experiment, and what stands above it."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.estimates import judge_cells, varies
from firstlight.experiment.json import exact_number
from firstlight.experiment.results import CellResult, Results
from firstlight.quantities import count_text, signed_share, signed_time, time_text
from firstlight.render.model.table import Sheet
from firstlight.render.tables.experiment.cell_text import BAR, JUDGED, against, below_judged, judged_cells, whole_ns
from firstlight.render.terminal.columns import Column
from firstlight.render.terminal.console import bar

_LEVELS_ROOM = 30


def heading(results: Results) -> list[str]:
    """Of what the figures are, on which clock, between which marks; and whether they are exact."""
    span = results.span
    between = f", {span[0]} to {span[1]}" if span else ""
    title = f"{results.plan.title or results.path}, {results.unit}{between}"
    if results.plan.mode == "exact":
        sure = {
            True: "Exact: a second boot of one recipe was the same, byte for byte.",
            False: "NOT exact: two boots of one recipe differ.",
            None: "Exact mode; no second boot was compared.",
        }[results.canary]
    else:
        sure = f"Not exact: means of boots in randomised blocks, seed {results.state.seed}."
    return [title, sure]


def cells_sheet(results: Results, unicode: bool = True) -> Sheet:
    """Every cell with its figures."""
    baseline = results.cells[0].time
    largest = max((cell.time for cell in results.cells if cell.time is not None), default=Fraction(1))
    several = any(len(cell.boots) > 1 for cell in results.cells)
    judged = judge_cells(results) if varies(results) else {}
    by_level = _by_level(results)
    names = [Column("Cell" if results.plan.factors else "Arm", style="cyan")]
    if by_level:
        # A level is never cut: it is what tells one cell from another.
        names = [Column(factor.name, style="cyan", picture=True) for factor in results.plan.factors]
    columns = [
        *names,
        *([Column("Boots", number=True)] if several else []),
        Column("Mean" if several else "Time", number=True, style="bold"),
        Column("Change", number=True),
        Column("%", number=True),
        *(JUDGED if judged else []),
        Column("Instructions", number=True, wide=90),
        Column("Idle", number=True, wide=100),
        Column("", wide=124, style="blue", picture=True),
    ]
    rows: list[list[str]] = []
    for cell in results.cells:
        change = None if cell.time is None or baseline is None else round(cell.time - baseline)
        rows.append(
            [
                *(cell.levels.values() if by_level else [cell.name]),
                *([f"{len(cell.counted)}/{len(cell.boots)}"] if several else []),
                time_text(whole_ns(cell.time)),
                signed_time(change),
                "-" if change is None or baseline is None else signed_share(change, round(baseline)),
                *(judged_cells(judged.get(cell.name)) if judged else []),
                count_text(whole_ns(cell.instructions)),
                time_text(whole_ns(cell.idle)),
                "" if cell.time is None else bar(float(cell.time / largest), BAR, unicode),
            ]
        )
    factors = [factor.name for factor in results.plan.factors]
    return Sheet(
        "Cells" if factors else "Arms",
        columns,
        rows,
        below=[*against(results), *(below_judged("cell", judged.items(), "Holm") if judged else [])],
        data_columns=[
            "cell",
            *factors,
            "boots",
            "counted",
            "time_ns",
            "instructions",
            "idle_ns",
            "change_ns",
            "why_not",
        ],
        data_rows=[_cell_data(cell, factors, baseline) for cell in results.cells],
    )


def _by_level(results: Results) -> bool:
    """Whether a cell is shown as a column of levels for each factor: where it has a long name, and they have room."""
    if not results.plan.factors or results.plan.design.kind == "one-at-a-time":
        return False
    widths = [max(map(len, (factor.name, *factor.levels))) + 2 for factor in results.plan.factors]
    return sum(widths) <= _LEVELS_ROOM


def _cell_data(cell: CellResult, factors: list[str], baseline: Fraction | None) -> list[str | int | float | None]:
    change = None if cell.time is None or baseline is None else cell.time - baseline
    figures = [exact_number(each) for each in (cell.time, cell.instructions, cell.idle, change)]
    levels = [cell.levels[factor] for factor in factors]
    return [cell.name, *levels, len(cell.boots), len(cell.counted), *figures, cell.why_not]

"""An experiment: its plan, and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from firstlight.experiment.estimates import varies
from firstlight.experiment.quantiles import cell_quantiles
from firstlight.experiment.results import Results
from firstlight.experiment.schedule import Prepared
from firstlight.experiment.stage_table import stage_table
from firstlight.recipe.mode import RecordMode
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.experiment.cells import cells_table
from firstlight.render.views.experiment.effects import effects_table
from firstlight.render.views.experiment.interactions import interactions_table
from firstlight.render.views.experiment.quantiles import quantiles_table
from firstlight.render.views.experiment.shares import shares_table
from firstlight.render.views.stages import stages_table, step_tables

_TABLES: dict[str, Callable[[Results], Table | str | None]] = {
    "cells": cells_table,
    "effects": effects_table,
    "interactions": interactions_table,
    "shares": shares_table,
}
NAMES = tuple(_TABLES)


def plan_report(prepared: Prepared) -> Iterator[Block]:
    """What an experiment boots, and what of it is there already."""
    state, store, plan = prepared.state, prepared.store, prepared.plan
    boots = prepared.boots()
    lacking = [boot for boot in boots if not store.has(state.cells[boot[0]], boot[1])]
    yield Line(f"{plan.title or store.path}, {plan.mode} mode, {len(boots)} boots, {len(lacking)} to make", "bold")
    yield BLANK
    records: list[dict[str, Any]] = []
    for number, cell in enumerate(state.cells):
        own = [repeat for other, repeat in boots if other == number]
        there = sum(store.has(cell, repeat) for repeat in own)
        append = prepared.options[number].append
        records.append(
            {"cell": cell.name, "boots": len(own), "there": there, "digest": cell.key[:12], "append": append}
        )
    yield table(
        "",
        [
            Column("Cell", value="cell", style="cyan"),
            Column("Boots", "count", "boots"),
            Column("Done", "count", "there"),
            Column("Digest", value=lambda record: record["digest"] or "not built", wide=60),
            Column("Command line", value="append", wide=80),
        ],
        records,
    )
    if state.canary is not None:
        yield Line(f"`{state.cells[state.canary].name}` is booted twice, to check that boots are exact.", "dim")
    elif plan.mode == RecordMode.LIVE:
        yield Line(f"In {plan.boots_per_cell} randomised blocks, seed {state.seed}.", "dim")


def experiment_tables(results: Results, names: Sequence[str] = NAMES) -> tuple[dict[str, Table], list[str]]:
    """Tables of an experiment by name, and why others are not there.

    :param names: those that are wanted.
    """
    if not results.plan.factors:
        missing = [f"there are no {name}: the plan has arms but no factors" for name in names if name != "cells"]
        return ({"cells": cells_table(results)} if "cells" in names else {}), [] if "cells" in names else missing
    made: dict[str, Table] = {}
    missing = []
    for name in names:
        found = _TABLES[name](results)
        if isinstance(found, str):
            missing.append(f"no {name}: {found}")
        elif found is not None:
            made[name] = found
    return made, missing


def chosen_tables(results: Results, chosen: str, fits: Callable[[Table], bool] | None) -> tuple[list[Table], list[str]]:
    """The tables that were asked for, and why others are not there.

    :param chosen: `stages`, `all`, or one of the tables' names.
    :param fits: whether a terminal has room for a table; none where the tables are data.
    """
    if chosen == "stages":
        stages = stage_table(results)
        table = stages_table(stages)
        return ([table] if fits is None or fits(table) else step_tables(stages)), []
    tables, missing = experiment_tables(results, NAMES if chosen == "all" else (chosen,))
    return list(tables.values()), missing


def all_report(results: Results, statistics: Sequence[str] = ()) -> Iterator[Block]:
    """An experiment with every table that it has.

    :param statistics: which statistics of the cells have rows.
    """
    tables, missing = chosen_tables(results, "all", None)
    tables += quantile_tables(results, statistics)
    return results_report(results, tables, [*missing, *no_quantiles(results, statistics)])


def quantile_tables(results: Results, statistics: Sequence[str]) -> list[Table]:
    """The statistics of the cells against the first; nothing where none were asked for, or boots do not vary."""
    rows = cell_quantiles(results, statistics)
    return [quantiles_table(rows, results.cells[0].name)] if rows else []


def no_quantiles(results: Results, statistics: Sequence[str]) -> list[str]:
    """Why there are no statistics, where some were asked for."""
    return ["no quantiles: the boots of a cell do not vary"] if statistics and not varies(results) else []


def results_report(results: Results, tables: Sequence[Table], missing: Sequence[str] = ()) -> Iterator[Block]:
    """An experiment's heading, tables, and what does not count and why.

    :param missing: why other tables are not there.
    """
    title, sure = heading(results)
    yield Line(title, "bold", indent=2)
    yield Line(sure, "bold red" if results.canary is False else "dim", indent=2)
    for each in tables:
        yield BLANK
        if len(tables) > 1:
            yield Line(each.title, "bold", indent=2)
        yield each.untitled
    texts = [*missing, *not_counting(results)]
    if texts:
        yield BLANK
    yield from (Line(text, indent=2) for text in texts)


def not_counting(results: Results) -> list[str]:
    """What does not count, and why; and what else has to be known."""
    said = []
    for cell in results.cells:
        if cell.problem is not None:
            said.append(f"! {cell.name}: {cell.problem}")
        said += [
            f"! {cell.name}, boot {boot.repeat}, does not count: {boot.excluded}"
            for boot in cell.boots
            if boot.excluded is not None
        ]
    return said + [f"note: {note}" for note in results.notes]


def heading(results: Results) -> list[str]:
    """Of what the figures are, on which clock, between which marks; and whether they are exact."""
    span = results.span
    between = f", {span[0]} to {span[1]}" if span else ""
    title = f"{results.plan.title or results.path}, {results.unit}{between}"
    if results.plan.mode == RecordMode.EXACT:
        sure = {
            True: "Exact: a second boot of one recipe was equal, byte for byte.",
            False: "NOT exact: two boots of one recipe differ.",
            None: "Exact mode; no second boot was compared.",
        }[results.canary]
    else:
        sure = f"Not exact: means of boots in randomised blocks, seed {results.state.seed}."
    return [title, sure]

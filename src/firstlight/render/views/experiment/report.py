"""An experiment in the terminal: its plan, and its tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.experiment.results import Results
from firstlight.experiment.schedule import Prepared
from firstlight.render.model.table import Sheet
from firstlight.render.tables.experiment import heading
from firstlight.render.terminal.columns import Column, print_table, table_width
from firstlight.render.terminal.console import print_line, print_wrapped


def print_plan(out: Console, prepared: Prepared) -> None:
    """Print what an experiment boots, and what of it is there already."""
    state, store, plan = prepared.state, prepared.store, prepared.plan
    boots = prepared.boots()
    lacking = [boot for boot in boots if not store.has(state.cells[boot[0]], boot[1])]
    title = printable(plan.title or str(store.path), 200)
    print_line(out, Text(f"{title}, {plan.mode} mode, {len(boots)} boots, {len(lacking)} to make", style="bold"))
    print_line(out)
    columns = [
        Column("Cell", style="cyan"),
        Column("Boots", number=True),
        Column("There", number=True),
        Column("Digest", wide=60),
        Column("Command line", wide=80),
    ]
    rows = []
    for number, cell in enumerate(state.cells):
        own = [repeat for other, repeat in boots if other == number]
        there = sum(store.has(cell, repeat) for repeat in own)
        digest = cell.key[:12] or "not built"
        rows.append([cell.name, str(len(own)), str(there), digest, prepared.options[number].append])
    print_table(out, columns, rows)
    if state.canary is not None:
        name = printable(state.cells[state.canary].name)
        print_line(out, Text(f"`{name}` is booted twice, to see that boots are exact.", style="dim"))
    elif plan.mode == "live":
        print_line(out, Text(f"In {plan.boots_per_cell} randomised blocks, seed {state.seed}.", style="dim"))


def print_results(out: Console, results: Results, sheets: Sequence[Sheet], said: Sequence[str] = ()) -> None:
    """Print an experiment's heading, tables, and what does not count and why.

    :param said: what has to be said of tables that are not there.
    """
    title, sure = heading(results)
    print_wrapped(out, Text(printable(title, 300), style="bold"), indent=2)
    print_wrapped(out, Text(sure, style="bold red" if results.canary is False else "dim"), indent=2)
    for sheet in sheets:
        print_line(out)
        print_sheet(out, sheet, len(sheets) > 1)
    if said or not_counting(results):
        print_line(out)
    for text in (*said, *not_counting(results)):
        print_wrapped(out, printable(text, 600), indent=2)


def print_sheet(out: Console, sheet: Sheet, titled: bool) -> None:
    """Print one table, and below what has to be said of it."""
    if titled:
        print_wrapped(out, Text(printable(sheet.title, 200), style="bold"), indent=2)
    print_table(out, sheet.columns, sheet.rows, sheet.footer)
    for text in sheet.below:
        print_wrapped(out, Text(printable(text, 600), style="dim"), indent=2)


def fits(out: Console, sheet: Sheet) -> bool:
    """Whether a table's figures all have room beside one another."""
    return table_width(sheet.columns, [*sheet.rows, *sheet.footer], out.width) <= out.width


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

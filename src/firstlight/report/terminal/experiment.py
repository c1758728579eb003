"""An experiment in the terminal: its plan, and its cells."""

from __future__ import annotations

from fractions import Fraction

from rich.console import Console
from rich.text import Text

from firstlight.compare.experiment.prepare import Prepared
from firstlight.compare.experiment.results import CellResult, Results
from firstlight.report.terminal.columns import Column, print_table
from firstlight.report.terminal.console import bar, is_unicode, print_line, print_wrapped
from firstlight.report.terminal.printable import printable
from firstlight.report.units import count_text, signed_share, signed_time, time_text

_BAR = 20


def print_plan(out: Console, prepared: Prepared) -> None:
    """Print what an experiment boots, and what of it is there already."""
    state, store, plan = prepared.state, prepared.store, prepared.plan
    boots = prepared.boots()
    lacking = [boot for boot in boots if not store.has(state.cells[boot[0]], boot[1])]
    title = printable(plan.title or str(store.path), 200)
    print_line(
        out, Text(f"{title}, {plan.mode} mode, {len(boots)} boots, {len(lacking)} of them to make", style="bold")
    )
    print_line(out)
    columns = [
        Column("Cell", style="cyan"),
        Column("Boots", number=True),
        Column("There", number=True),
        Column("Digest", wide=60),
        Column("Changes", wide=80),
    ]
    rows = []
    for number, cell in enumerate(state.cells):
        own = [repeat for other, repeat in boots if other == number]
        there = sum(store.has(cell, repeat) for repeat in own)
        options = prepared.options[number]
        changes = [options.append, *filter(None, (str(options.kernel or ""), options.memory))]
        rows.append([cell.name, str(len(own)), str(there), cell.key[:12], " ".join(filter(None, changes))])
    print_table(out, columns, rows)
    if state.canary is not None:
        name = printable(state.cells[state.canary].name)
        print_line(out, Text(f"`{name}` is booted twice, to see that boots are exact.", style="dim"))
    elif plan.mode == "live":
        print_line(out, Text(f"In {plan.boots_per_cell} randomised blocks, seed {state.seed}.", style="dim"))


def print_cells(out: Console, results: Results) -> None:
    """Print every cell with its figures, and below which boots do not count and why."""
    print_experiment_heading(out, results)
    baseline = results.cells[0].time
    largest = max((cell.time for cell in results.cells if cell.time is not None), default=Fraction(0))
    several = any(len(cell.boots) > 1 for cell in results.cells)
    columns = [
        Column("Cell", style="cyan"),
        Column("Boots", number=True, wide=0 if several else 10_000),
        Column("Mean" if several else "Time", number=True, style="bold"),
        Column("Change", number=True),
        Column("%", number=True),
        Column("Instructions", number=True, wide=76),
        Column("Idle", number=True, wide=90),
        Column("", wide=110, style="blue", picture=True),
    ]
    rows = [_cell_row(cell, baseline, largest, is_unicode(out)) for cell in results.cells]
    print_table(out, columns, rows)
    print_below(out, results)


def _cell_row(cell: CellResult, baseline: Fraction | None, largest: Fraction, unicode: bool) -> list[str]:
    time = cell.time
    if time is None:
        return [cell.name, f"0/{len(cell.boots)}", "-", "", "", "", "", ""]
    change = "" if baseline is None else signed_time(round(time - baseline))
    return [
        cell.name,
        f"{len(cell.counted)}/{len(cell.boots)}",
        time_text(round(time)),
        change,
        "" if baseline is None else signed_share(round(time - baseline), round(baseline)),
        count_text(None if cell.instructions is None else round(cell.instructions)),
        time_text(None if cell.idle is None else round(cell.idle)),
        bar(float(time / largest), _BAR, unicode),
    ]


def print_experiment_heading(out: Console, results: Results, what: str = "") -> None:
    """Print of what the figures below are, on which clock, between which marks, and whether they are exact."""
    title = printable(results.plan.title or str(results.path), 200)
    span = results.span
    between = f", {printable(span[0])} to {printable(span[1])}" if span else ""
    print_line(out, Text(f"{title}{what}, {results.unit}{between}", style="bold"))
    if results.plan.mode == "exact":
        sure = {
            True: "Exact: a second boot of one recipe was the same, byte for byte.",
            False: "NOT exact: two boots of one recipe differ.",
            None: "Exact mode; no second boot was compared.",
        }[results.canary]
    else:
        sure = f"Not exact: means of boots in randomised blocks, seed {results.state.seed}."
    print_line(out, Text(sure, style="bold red" if results.canary is False else "dim"))
    print_line(out)


def print_below(out: Console, results: Results) -> None:
    """Print what does not count, and why."""
    for cell in results.cells:
        if cell.problem is not None:
            print_wrapped(out, printable(cell.problem, 400), f"! {printable(cell.name)}: ", 2)
        for boot in cell.boots:
            if boot.excluded is not None:
                head = f"! {printable(cell.name)}, boot {boot.repeat}, does not count: "
                print_wrapped(out, printable(boot.excluded, 400), head, 2)
    for note in results.notes:
        print_wrapped(out, printable(note, 400), "note: ", 2)

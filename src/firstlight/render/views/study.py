"""A study in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.render.tables.study import sheet_of
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import print_line, print_wrapped
from firstlight.render.views.experiment import print_sheet
from firstlight.study.catalogue import Study
from firstlight.study.outcome import Outcome
from firstlight.study.table import Table

_STYLES = {"holds": "green", "no longer holds": "yellow", "not testable here": "dim"}


def print_studies(out: Console, studies: Sequence[Study]) -> None:
    """Print the studies with their questions."""
    columns = [Column("Study", style="cyan", picture=True), Column("What it asks")]
    print_table(out, columns, [[study.name, study.title] for study in studies])


def print_outcome(out: Console, outcome: Outcome) -> None:
    """Print a study: its tables, those of then beside them, and what holds."""
    print_wrapped(out, Text(printable(outcome.title, 200), style="bold"), indent=2)
    print_wrapped(out, Text(printable(outcome.question, 400), style="dim"), indent=2)
    _print_tables(out, "Measured here", outcome.tables)
    _print_tables(out, "Measured then, by others, on machines of their time", outcome.historical)
    _heading(out, "What was concluded then, and what holds")
    for finding in outcome.findings:
        verdict = Text(finding.verdict, style=_STYLES[finding.verdict])
        print_wrapped(out, Text.assemble(verdict, ": ", printable(finding.claim, 400)), indent=2)
        said = [f"then {finding.then}" if finding.then else "", f"here {finding.now}" if finding.now else ""]
        for text in ("; ".join(filter(None, said)), finding.why):
            if text:
                print_wrapped(out, Text("  " + printable(text, 600), style="dim"), indent=4)
    for title, lines in (
        ("Not measured", [f"{each.what}: {each.reason}" for each in outcome.missing]),
        ("To be known", list(outcome.notes)),
        ("Recipe", list(outcome.recipe)),
    ):
        if lines:
            _heading(out, title)
            for line in lines:
                print_wrapped(out, printable(line, 600), indent=2)


def _print_tables(out: Console, title: str, tables: Sequence[Table]) -> None:
    if tables:
        _heading(out, title)
    for place, table in enumerate(tables):
        if place:
            print_line(out)
        print_sheet(out, sheet_of(table), titled=True)


def _heading(out: Console, text: str) -> None:
    print_line(out)
    print_line(out, Text(text, style="bold underline"))

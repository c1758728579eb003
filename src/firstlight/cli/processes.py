"""`firstlight processes`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form, shown_limit

if TYPE_CHECKING:
    import polars as pl

    from firstlight.render.model.report import Block

Order = Literal["cpu", "start", "wait"]


def processes(
    boot: Bundle,
    sort: Annotated[Order, SORT] = "cpu",
    tree: Annotated[
        bool,
        typer.Option("--tree", help="Show each process below the one that created it, with a chart of its states."),
    ] = False,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show every process: parent, executable, service, start, end, instructions and waiting.

    The instructions of all processes are those of the boot from the kernel's first instruction on.

    \b
    Examples:
      firstlight processes a.boot -n 20
      firstlight processes a.boot --tree
      firstlight processes a.boot --sort wait --csv
    """
    from firstlight.render.views.processes import processes_report

    check_form(csv, json)
    opened = api.open(boot)
    rows = opened.processes(tree=tree)
    if not tree:
        key = {"cpu": "cpu_ns", "start": "start_ns", "wait": "wait_ns"}[sort]
        rows = rows.sort(key, "process", descending=[sort != "start", False])
    print_rows(
        opened,
        rows,
        Form(limit, csv, json),
        "Processes",
        "processes",
        partial(processes_report, opened),
        lambda: opened.missing_hint("processes"),
    )


class Form(NamedTuple):
    """How rows are printed: as many as this, as CSV, as JSON."""

    limit: int | None
    csv: bool
    json: bool


def print_rows(
    boot: api.Boot,
    rows: pl.DataFrame,
    form: Form,
    title: str,
    key: str,
    report: Callable[[pl.DataFrame, pl.DataFrame], Iterator[Block]],
    hint: Callable[[], str],
    **data: object,
) -> None:
    """Print rows of a boot.

    :param key: their name in JSON, behind *data*.
    :param report: makes the tables of the rows that are shown and those that are left out.
    :param hint: what to do about no rows.
    """
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data

    shown = rows if form.limit is None else rows.head(form.limit)
    if form.csv:
        sys.stdout.write(shown.write_csv())
    elif form.json:
        nothing = {"hint": hint()} if rows.is_empty() else {}
        print_json(heading_data(boot) | data | {key: shown.to_dicts()} | nothing)
    elif rows.is_empty():
        print_report(heading(boot, title))
        say_nothing(title.lower(), hint())
    else:
        number = shown_limit(form.limit)
        print_report(report(rows.head(number), rows.slice(number)))

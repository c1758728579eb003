"""`firstlight processes`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form
from firstlight.cli.rows import Form, print_rows

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

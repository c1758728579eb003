"""`firstlight initcalls`."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form
from firstlight.cli.rows import Form, print_rows, sorted_rows

Order = Literal["duration", "start", "self"]


def initcalls(
    boot: Bundle,
    level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Show only initcalls of this level: `device`, `module`, ...")
    ] = None,
    by_level: Annotated[
        bool, typer.Option("--by-level", help="Show one row per level instead of one per call.")
    ] = False,
    sort: Annotated[Order, SORT] = "duration",
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the initcalls: level, start, duration with its grade, and the probes inside.

    The character after a duration is its grade, explained below the table. Overlapping probes count once.

    \b
    Examples:
      firstlight initcalls a.boot -n 20
      firstlight initcalls a.boot --by-level
      firstlight initcalls a.boot --level device --sort start
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.initcalls import initcalls_report, levels_report

    check_form(csv, json)
    opened = api.open(boot)
    chosen, levels = opened.initcalls(level=level), opened.initcalls(level=level, by_level=True)
    nothing = opened.initcalls().is_empty()
    if by_level and csv:
        sys.stdout.write(levels.write_csv())
        return
    if by_level and not json and not nothing:
        print_report(levels_report(opened, levels, chosen))
        return
    print_rows(
        opened,
        sorted_rows(chosen, {"duration": "duration_ns", "start": "start_ns", "self": "self_ns"}, sort),
        Form(limit, csv, json),
        "Initcalls",
        "initcalls",
        partial(initcalls_report, opened, opened.initcall_sums(), level),
        partial(opened.missing_hint, "initcalls"),
        nothing,
        levels=levels.to_dicts(),
        **opened.initcall_remarks(),
    )

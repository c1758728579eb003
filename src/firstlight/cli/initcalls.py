"""`firstlight initcalls`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form, shown_limit

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
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data
    from firstlight.render.views.initcalls import initcalls_report, levels_report

    check_form(csv, json)
    opened = api.open(boot)
    every, chosen = opened.initcalls(), opened.initcalls(level=level)
    levels = opened.initcalls(level=level, by_level=True)
    column = {"duration": "duration_ns", "start": "start_ns", "self": "self_ns"}[sort]
    rows = chosen.sort(column, "start_ns", descending=[sort != "start", False], nulls_last=True, maintain_order=True)
    if csv:
        data = levels if by_level else rows if limit is None else rows.head(limit)
        sys.stdout.write(data.write_csv())
    elif json:
        shown = rows if limit is None else rows.head(limit)
        print_json({**heading_data(opened), "initcalls": shown.to_dicts(), "levels": levels.to_dicts(),
                    **opened.initcall_remarks(),
                    **({"hint": opened.missing_hint("initcalls")} if every.is_empty() else {})})  # fmt: skip
    elif every.is_empty():
        print_report(heading(opened, "Initcalls"))
        say_nothing("initcalls", opened.missing_hint("initcalls"))
    elif by_level:
        print_report(levels_report(opened, levels, chosen))
    else:
        number = shown_limit(limit)
        found = opened.initcall_sums()
        print_report(initcalls_report(opened, rows.head(number), rows.slice(number), found, level))

"""`firstlight units`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Csv, Json, Limit, check_form, shown_limit

Order = Literal["blame", "start", "waiting"]


def units(
    boot: Bundle,
    sort: Annotated[
        Order,
        typer.Option(help="Sort by longest activation (`blame`), longest wait (`waiting`) or time (`start`)."),
    ] = "blame",
    kind: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Show only units of this type: `service`, `mount`, ...")
    ] = None,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the systemd units: how long each waited, and how long its activation took.

    Activations overlap, so they do not add up. The activation of a device is waiting for hardware.

    \b
    Examples:
      firstlight units a.boot --type service
      firstlight units a.boot --sort waiting -n 20
    """
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data
    from firstlight.render.views.units import units_report

    check_form(csv, json)
    opened = api.open(boot)
    every, rows = opened.units(), opened.units(kind=kind)
    column = {"blame": "duration_ns", "start": "start_ns", "waiting": "waiting_ns"}[sort]
    rows = rows.sort(column, "start_ns", "unit", descending=[sort != "start", False, False], nulls_last=True)
    parts = opened.stages()
    shown = rows if limit is None else rows.head(limit)
    nothing = every.is_empty() and parts.is_empty()
    if csv:
        sys.stdout.write(shown.write_csv())
    elif json:
        data = {"units": shown.to_dicts(), "stages": parts.to_dicts(), "failed": opened.failed_units()}
        print_json(heading_data(opened) | data | ({"hint": opened.missing_hint("units")} if nothing else {}))
    elif nothing:
        print_report(console(), heading(opened, "Units"))
        say_nothing("units", opened.missing_hint("units"))
    else:
        number = shown_limit(limit)
        failed = opened.failed_units()
        print_report(console(), units_report(opened, rows.head(number), rows.slice(number), parts, failed))
        if every.is_empty():
            say_nothing("units, only of stages", opened.missing_hint("units"))

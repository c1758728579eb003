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
    work: Annotated[
        bool, typer.Option("--work", help="Show who had the processor during each activation, and instructions.")
    ] = False,
    manager: Annotated[
        bool, typer.Option("--manager", help="Show the service manager's own time and its generators instead.")
    ] = False,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the systemd units: how long each waited, and how long its activation took.

    Activations overlap, so they do not add up. The activation of a device is waiting for hardware. With --work, the
    time of an activation is divided among the unit's own processes, the manager, others and idle. With --manager, the
    manager's time is divided likewise, from its exec on.

    \b
    Examples:
      firstlight units a.boot --type service
      firstlight units a.boot --sort waiting -n 20
      firstlight units a.boot --work --type service
      firstlight units a.boot --manager
    """
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data
    from firstlight.render.views.unit_work import unit_work_report
    from firstlight.render.views.units import units_report

    check_form(csv, json)
    opened = api.open(boot)
    if manager:
        _print_manager(opened, csv=csv, json=json)
        return
    every, rows = opened.units(), opened.unit_work(kind=kind)
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
        print_report(heading(opened, "Units"))
        say_nothing("units", opened.missing_hint("units"))
    elif work and rows["processes"].null_count() < rows.height:
        number = shown_limit(limit)
        print_report(unit_work_report(opened, rows.head(number), rows.slice(number)))
    else:
        number = shown_limit(limit)
        failed = opened.failed_units()
        print_report(units_report(opened, rows.head(number), rows.slice(number), parts, failed))
        if every.is_empty():
            say_nothing("units, only of stages", opened.missing_hint("units"))
        elif work:
            say_nothing("processes", opened.missing_hint("instructions"))


def _print_manager(boot: api.Boot, *, csv: bool, json: bool) -> None:
    """Print what the service manager itself did; as CSV its parts."""
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data
    from firstlight.render.views.unit_work import manager_report

    found = boot.manager()
    known = not boot.table("processes").is_empty()
    hint = "systemd is not the first process of this boot" if known else boot.missing_hint("instructions")
    if json:
        parts = ("parts", "generators", "sums")
        data = {"manager": None if found is None else {part: getattr(found, part).to_dicts() for part in parts}}
        print_json(heading_data(boot) | data | ({"hint": hint} if found is None else {}))
    elif found is None:
        print_report(heading(boot, "The service manager"))
        say_nothing("the service manager", hint)
    elif csv:
        sys.stdout.write(found.parts.write_csv())
    else:
        print_report(manager_report(boot, found))

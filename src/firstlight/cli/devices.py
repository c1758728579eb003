"""`firstlight devices`."""

from __future__ import annotations

import dataclasses
import sys
from functools import partial
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form, shown_limit
from firstlight.cli.processes import Form, print_rows
from firstlight.errors import UsageError

Order = Literal["duration", "start", "waited"]


def devices(
    boot: Bundle,
    uevents: Annotated[bool, typer.Option("--uevents", help="Show uevents and udev's queue instead.")] = False,
    costs: Annotated[
        bool, typer.Option("--costs", help="Show what udev's workers did for each device: calls, instructions, time.")
    ] = False,
    sort: Annotated[Order, SORT] = "duration",
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the probes of each device, its deferrals and their reasons. With --uevents, show what udev did.

    With --uevents, `duration` is the latency and `waited` is the time in the queue. With --costs, each row is an event
    that a worker of udev handled, as its system calls show it; `duration` sorts by instructions.

    \b
    Examples:
      firstlight devices a.boot --sort waited
      firstlight devices a.boot --uevents -n 20
      firstlight devices a.boot --costs -n 20
    """
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.devices import devices_report, uevents_report
    from firstlight.render.views.heading import heading, heading_data

    check_form(csv, json)
    if costs and uevents:
        raise UsageError("`--costs` and `--uevents` are two tables", hint="leave one of them out")
    opened = api.open(boot)
    if costs:
        _print_costs(opened, sort, Form(limit, csv, json))
        return
    table = opened.uevents() if uevents else opened.devices()
    columns = {"duration": "latency_ns", "start": "arrival_ns", "waited": "queued_ns"} if uevents else {
        "duration": "duration_ns", "start": "start_ns", "waited": "waited_ns"}  # fmt: skip
    rows = table.sort(columns[sort], columns["start"], descending=[sort != "start", False], nulls_last=True,
                      maintain_order=True)  # fmt: skip
    hint = opened.missing_hint("uevents" if uevents else "devices")
    shown = rows if limit is None else rows.head(limit)
    if csv:
        sys.stdout.write(shown.write_csv())
    elif json:
        data = heading_data(opened) | {"uevents" if uevents else "devices": shown.to_dicts()}
        if uevents:
            data["queue"] = dataclasses.asdict(opened.udev_queue())
            data["queue_over_time"] = opened.udev_queue_over_time().to_dicts()
        print_json(data | ({"hint": hint} if table.is_empty() else {}))
    elif table.is_empty():
        print_report(heading(opened, "Uevents" if uevents else "Devices"))
        say_nothing("uevents" if uevents else "probes of devices", hint)
    elif uevents:
        number = shown_limit(limit)
        queue = opened.udev_queue()
        print_report(uevents_report(opened, rows.head(number), rows.slice(number), queue))
    else:
        number = shown_limit(limit)
        print_report(devices_report(opened, rows.head(number), rows.slice(number)))


def _print_costs(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print what udev did for each device."""
    from firstlight.render.views.device_costs import device_costs_report

    key = {"duration": "instructions", "start": "start_ns", "waited": "wait_ns"}[sort]
    rows = boot.device_costs().sort(key, "start_ns", descending=[sort != "start", False])
    sums = boot.udev_sums()
    print_rows(
        boot,
        rows,
        form,
        "What udev did for each device",
        "costs",
        partial(device_costs_report, boot, sums),
        lambda: boot.missing_hint("device costs"),
        sums=sums.to_dicts(),
    )

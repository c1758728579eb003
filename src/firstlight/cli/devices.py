"""`firstlight devices`."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form
from firstlight.cli.rows import Form, print_rows, sorted_rows
from firstlight.errors import UsageError

Order = Literal["duration", "start", "waited"]


def devices(
    boot: Bundle,
    uevents: Annotated[bool, typer.Option("--uevents", help="Show uevents and udev's queue instead.")] = False,
    costs: Annotated[
        bool, typer.Option("--costs", help="Show the work of udev for each device: calls, instructions, time.")
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
    check_form(csv, json)
    if costs and uevents:
        raise UsageError("`--costs` and `--uevents` cannot be combined", hint="leave one of them out")
    show = _print_costs if costs else _print_uevents if uevents else _print_devices
    show(api.open(boot), sort, Form(limit, csv, json))


def _print_devices(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print the probes of each device."""
    from firstlight.render.views.devices import devices_report

    rows = sorted_rows(boot.devices(), {"duration": "duration_ns", "start": "start_ns", "waited": "waited_ns"}, sort)
    report, hint = partial(devices_report, boot), partial(boot.missing_hint, "devices")
    print_rows(boot, rows, form, "Devices", "devices", report, hint)


def _print_uevents(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print the uevents and udev's queue."""
    from firstlight.render.views.devices import uevents_report

    rows = sorted_rows(boot.uevents(), {"duration": "latency_ns", "start": "arrival_ns", "waited": "queued_ns"}, sort)
    queue = boot.udev_queue()
    report, hint = partial(uevents_report, boot, queue), partial(boot.missing_hint, "uevents")
    print_rows(
        boot, rows, form, "Uevents", "uevents", report, hint,
        queue=dataclasses.asdict(queue), queue_over_time=boot.udev_queue_over_time().to_dicts(),
    )  # fmt: skip


def _print_costs(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print what udev did for each device."""
    from firstlight.render.views.device_costs import device_costs_report

    columns = {"duration": "instructions", "start": "start_ns", "waited": "wait_ns"}
    rows, sums = sorted_rows(boot.device_costs(), columns, sort), boot.udev_sums()
    report, hint = partial(device_costs_report, boot, sums), partial(boot.missing_hint, "device costs")
    print_rows(boot, rows, form, "What udev did for each device", "costs", report, hint, sums=sums.to_dicts())

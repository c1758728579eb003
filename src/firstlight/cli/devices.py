"""`firstlight devices`."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.output import SORT, Bundle, Csv, Json, Limit, check_form
from firstlight.cli.rows import Form, print_rows
from firstlight.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

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
    check_form(csv, json)
    if costs and uevents:
        raise UsageError("`--costs` and `--uevents` are two tables", hint="leave one of them out")
    show = _print_costs if costs else _print_uevents if uevents else _print_devices
    show(api.open(boot), sort, Form(limit, csv, json))


def _print_devices(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print the probes of each device."""
    from firstlight.render.views.devices import devices_report

    rows = _sorted(boot.devices(), {"duration": "duration_ns", "start": "start_ns", "waited": "waited_ns"}, sort)
    hint = partial(boot.missing_hint, "devices")
    print_rows(boot, rows, form, "Devices", "devices", partial(devices_report, boot), hint)


def _print_uevents(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print the uevents and udev's queue."""
    from firstlight.render.views.devices import uevents_report

    rows = _sorted(boot.uevents(), {"duration": "latency_ns", "start": "arrival_ns", "waited": "queued_ns"}, sort)
    queue = boot.udev_queue()
    print_rows(
        boot,
        rows,
        form,
        "Uevents",
        "uevents",
        partial(uevents_report, boot, queue),
        partial(boot.missing_hint, "uevents"),
        queue=dataclasses.asdict(queue),
        queue_over_time=boot.udev_queue_over_time().to_dicts(),
    )


def _sorted(rows: pl.DataFrame, columns: dict[Order, str], sort: Order) -> pl.DataFrame:
    """Rows with the largest first, of equal ones the earlier first; or by their start alone."""
    by = [columns[sort], columns["start"]]
    return rows.sort(by, descending=[sort != "start", False], nulls_last=True, maintain_order=True)


def _print_costs(boot: api.Boot, sort: Order, form: Form) -> None:
    """Print what udev did for each device."""
    from firstlight.render.views.device_costs import device_costs_report

    rows = _sorted(boot.device_costs(), {"duration": "instructions", "start": "start_ns", "waited": "wait_ns"}, sort)
    sums = boot.udev_sums()
    print_rows(
        boot,
        rows,
        form,
        "What udev did for each device",
        "costs",
        partial(device_costs_report, boot, sums),
        partial(boot.missing_hint, "device costs"),
        sums=sums.to_dicts(),
    )

"""What udev did for each device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from firstlight.analysis.processes.device_costs import COUNTS
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.quantities import share
from firstlight.render.model.pictures import Bar, Interval
from firstlight.render.model.report import BLANK, Block
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import heading
from firstlight.render.views.sums import sum_rows

_BAR = 24
#: From which width of the terminal on each count is shown.
_WIDE = {"opens": 80, "stats": 90, "accesses": 170, "readlinks": 180, "mknods": 100, "symlinks": 160, "renames": 190,
         "forks": 110, "execs": 110}  # fmt: skip


def device_costs_report(boot: Boot, sums: pl.DataFrame, rows: pl.DataFrame, left_out: pl.DataFrame) -> Iterator[Block]:
    """Each event with its system calls, instructions and times, and what udev's processes executed in all.

    :param sums: of :func:`~firstlight.analysis.processes.device_costs.udev_sums`.
    :param rows: of :func:`~firstlight.analysis.processes.device_costs.device_costs`.
    :param left_out: the rows that are not shown.
    """
    yield from heading(boot, "What udev did for each device")
    whole = window(boot)
    summed = ["calls", *COUNTS, "not_found", "instructions", "program_instructions", "cpu_ns"]

    yield table(
        "",
        [
            Column("Device", value="device", style="cyan", longest=60),
            Column("Subsystem", value=lambda row: row["subsystem"] or "-", wide=150, longest=14),
            Column("Worker", "count", "pid", write=str, wide=140),
            Column("Calls", "count", "calls"),
            *(Column(name, "count", name, wide=_WIDE[name]) for name in COUNTS),
            Column("not found", "count", "not_found", wide=125),
            Column("Instructions", "count", "instructions", style="bold"),
            Column("programs", "count", "program_instructions", wide=150),
            Column("Time", "time", "duration_ns", wide=70),
            Column("CPU", "time", "cpu_ns", wide=135),
            Column(
                "", "picture", lambda row: Interval(row["start_ns"], row["end_ns"], whole, _BAR), style="blue",
                wide=200,
            ),
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "device", summed),
        notes=[
            "Each row is an event: from the time when a worker had the device until it slept before the next one. "
            "Instructions: of the worker and of the programs that it ran for the device.",
        ],
    )  # fmt: skip
    if sums.height:
        executed = int(sums["instructions"].sum())

        def part(row: Mapping[str, Any]) -> float | None:
            return share(row["instructions"], executed)

        yield BLANK
        yield table(
            "",
            [
                Column("udev's processes", value="part", style="cyan"),
                Column("Instructions", "count", "instructions", style="bold"),
                Column("Share", "share", part),
                Column("", "picture", lambda row: Bar(part(row), _BAR), style="blue", wide=80),
            ],
            sums.iter_rows(named=True),
            footer=[{"part": "all", "instructions": executed}],
        )

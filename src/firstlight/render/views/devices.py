"""Devices and udev's queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from firstlight.analysis.udev_queue import Bin, QueueSummary
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.quantities import count_text, counted, ratio_text, time_text
from firstlight.render.model.pictures import Interval, WideBar
from firstlight.render.model.report import BLANK, Block, Heading, pairs
from firstlight.render.model.table import Column, Value, table
from firstlight.render.views.heading import grade_column, grade_lines, heading, timeline_column

_BAR = 24


def devices_report(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Iterator[Block]:
    """Devices with their probes; what is left out is a line of its own."""
    yield from heading(boot, "Devices")
    every = pl.concat([rows, left_out])
    yield table(
        "",
        [
            Column("Device", value="device", style="cyan"),
            Column("Driver", value=_driver, wide=70, longest=40),
            Column("Tries", "count", "tries", wide=40),
            Column("Deferred", "count", lambda row: row["deferrals"] or "", wide=50, name="deferrals"),
            Column("Cost", "time", _of_deferred("deferred_ns"), wide=90),
            Column("Waited", "time", _of_deferred("waited_ns"), wide=80),
            Column("Reason", value="deferral", wide=125, longest=50),
            Column("Suppliers", value="supplier", wide=105, longest=50),
            Column("Consumers", value="consumers", wide=130, longest=40),
            Column("Start", "time", "start_ns", wide=110),
            Column("Probe", "time", "duration_ns", style="bold"),
            grade_column(),
            Column("Result", value=lambda row: row["result"] or "-", longest=30),
            Column("Initcall", value="initcall", wide=140, longest=40),
            timeline_column(window(boot), _BAR, wide=160),
        ],
        rows.iter_rows(named=True),
        left_out={"device": f"({left_out.height:,} more)"} if left_out.height else None,
        footer=[
            {
                "device": counted(every.height, "device"),
                "tries": int(every["tries"].sum()),
                "deferrals": int(every["deferrals"].sum()),
            }
        ],
        notes=["Probes run inside initcalls and workers, and in parallel, so they do not add up to a total."],
    )
    yield from grade_lines(every)


def _driver(row: dict[str, Any]) -> str:
    return " ".join(part for part in (row["driver"], f"({row['bus']})" if row["bus"] else None) if part) or "-"


def _of_deferred(name: str) -> Any:
    """A figure that only a deferred probe has."""

    def value(row: dict[str, Any]) -> Value:
        found: Value = row[name]
        return found if row["deferrals"] else ""

    return value


def uevents_report(boot: Boot, queue: QueueSummary, rows: pl.DataFrame, left_out: pl.DataFrame) -> Iterator[Block]:
    """Uevents one by one, then the queue as a whole."""
    yield from heading(boot, "Uevents")
    whole = window(boot)
    yield table(
        "",
        [
            Column("Device", value="device", style="cyan"),
            Column("Action", value=lambda row: row["action"] or "-", wide=70, longest=12),
            Column("Seqnum", "number", "seqnum", wide=90, write=str),
            Column("Arrival", "time", "arrival_ns", wide=80),
            Column("Latency", "time", "latency_ns", style="bold"),
            grade_column(),
            Column("queued", "time", "queued_ns", wide=40),
            Column("blocked", "time", "blocked_ns", wide=50),
            Column("by", value="blocked_by", wide=100, longest=20),
            Column("Service", "time", "service_ns"),
            Column("Worker", value=lambda row: row["worker"] or "-", wide=110, longest=12),
            Column("Failure", value="failure", wide=120, longest=30),
            Column(
                "",
                "picture",
                lambda row: Interval(row["arrival_ns"], row["end_ns"], whole, _BAR),
                style="blue",
                wide=150,
            ),
        ],
        rows.iter_rows(named=True),
        left_out={"device": f"({left_out.height:,} more)"} if left_out.height else None,
    )
    yield from grade_lines(pl.concat([rows, left_out]))
    yield from _queue(queue)


def _queue(queue: QueueSummary) -> Iterator[Block]:
    """How udev's queue went, with histograms of arrivals and latencies."""
    yield Heading("udev's queue")
    percent, use = ("-" if value is None else ratio_text(value) for value in (queue.share, queue.utilisation))
    bins = "" if queue.bin_ns is None else f" (in bins of {time_text(queue.bin_ns)})"
    yield from pairs(
        [
            ("events", f"{queue.events:,}, {queue.finished:,} of them with both instants"),
            ("from", f"{time_text(queue.first_ns)} to {time_text(queue.last_ns)}"),
            ("busy", f"{time_text(queue.busy_ns)}, {percent} of the boot"),
            ("waiting at once", f"at most {count_text(queue.most_waiting)}"),
            ("at work at once", f"at most {count_text(queue.most_at_work)}"),
            ("workers", f"{queue.workers:,} seen, used {use} of the busy time" if queue.workers else "not known"),
            (
                "latency",
                f"mean {time_text(queue.mean_ns)}, median {time_text(queue.median_ns)}, "
                f"mode {time_text(queue.mode_ns)}{bins}, standard deviation {time_text(queue.stddev_ns)}",
            ),
        ],
        16,
    )
    yield from _histogram("Latency", queue.latencies, queue.bin_ns)
    yield from _histogram("Arrivals", queue.arrivals, queue.arrival_bin_ns)


def _histogram(title: str, bins: Sequence[Bin], width: int | None) -> Iterator[Block]:
    if not bins:
        return
    most = max(each.count for each in bins)
    yield BLANK
    yield table(
        "",
        [
            Column(title, "time", "start_ns", write=lambda start: f"{time_text(start)} +"),
            Column("Events", "count", "count"),
            Column("", "picture", lambda each: WideBar(each.count / most), style="blue"),
        ],
        bins,
        notes=[f"Each bin is {time_text(width)} wide."],
    )

"""Devices and udev's queue in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.udev_queue import Bin, QueueSummary
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.quantities import count_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_line
from firstlight.render.views.heading import grade_mark, print_grades, print_heading, timeline

_BAR = 24


def print_devices(out: Console, boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> None:
    """Print devices with their probes; what is left out is a line of its own."""
    print_heading(out, boot, "Devices")
    columns = [
        Column("Device", style="cyan"),
        Column("Driver", wide=70, longest=40),
        Column("Tries", number=True, wide=40),
        Column("put off", number=True, wide=50),
        Column("costing", number=True, wide=90),
        Column("Waited", number=True, wide=80),
        Column("for", wide=100, longest=50),
        Column("Start", number=True, wide=110),
        Column("Probe", number=True, style="bold"),
        Column("", longest=1),
        Column("Result", longest=30),
        Column("in initcall", wide=140, longest=40),
        Column("", wide=160, style="blue", picture=True),
    ]
    whole = window(boot)
    body = [
        [
            row["device"],
            " ".join(part for part in (row["driver"], f"({row['bus']})" if row["bus"] else None) if part) or "-",
            count_text(row["tries"]),
            count_text(row["deferrals"]) if row["deferrals"] else "",
            time_text(row["deferred_ns"]) if row["deferrals"] else "",
            time_text(row["waited_ns"]) if row["deferrals"] else "",
            row["supplier"] or "",
            time_text(row["start_ns"]),
            time_text(row["duration_ns"]),
            grade_mark(row["grade"]),
            row["result"] or "-",
            row["initcall"] or "",
            timeline(row["start_ns"], row["end_ns"], whole, _BAR, is_unicode(out)),
        ]
        for row in rows.iter_rows(named=True)
    ]
    every = pl.concat([rows, left_out])
    footer = [[f"({left_out.height:,} more)", *[""] * 12]] if left_out.height else []
    tries, put_off = int(every["tries"].sum()), int(every["deferrals"].sum())
    footer.append([f"{every.height:,} devices", "", count_text(tries), count_text(put_off), *[""] * 9])
    print_table(out, columns, body, footer)
    print_line(
        out, Text("Probes run inside initcalls and workers, and side by side: they add up to nothing.", style="dim")
    )
    print_grades(out, every)


def print_uevents(out: Console, boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, queue: QueueSummary) -> None:
    """Print uevents one by one, then the queue as a whole."""
    print_heading(out, boot, "Uevents")
    columns = [
        Column("Device", style="cyan"),
        Column("Action", wide=70, longest=12),
        Column("Seqnum", number=True, wide=90),
        Column("Arrival", number=True, wide=80),
        Column("Latency", number=True, style="bold"),
        Column("", longest=1),
        Column("queued", number=True, wide=40),
        Column("blocked", number=True, wide=50),
        Column("by", wide=100, longest=20),
        Column("Service", number=True),
        Column("Worker", wide=110, longest=12),
        Column("Failure", wide=120, longest=30),
        Column("", wide=150, style="blue", picture=True),
    ]
    whole = window(boot)
    body = [
        [
            row["device"],
            row["action"] or "-",
            "-" if row["seqnum"] is None else str(row["seqnum"]),
            time_text(row["arrival_ns"]),
            time_text(row["latency_ns"]),
            grade_mark(row["grade"]),
            time_text(row["queued_ns"]),
            time_text(row["blocked_ns"]),
            row["blocked_by"] or "",
            time_text(row["service_ns"]),
            row["worker"] or "-",
            row["failure"] or "",
            timeline(row["arrival_ns"], row["end_ns"], whole, _BAR, is_unicode(out)),
        ]
        for row in rows.iter_rows(named=True)
    ]
    footer = [[f"({left_out.height:,} more)", *[""] * 12]] if left_out.height else []
    print_table(out, columns, body, footer)
    print_grades(out, pl.concat([rows, left_out]))
    print_queue(out, queue)


def print_queue(out: Console, queue: QueueSummary) -> None:
    """Print how udev's queue went, with histograms of arrivals and latencies."""
    print_line(out)
    print_line(out, Text("udev's queue", style="bold underline"))
    percent = "-" if queue.share is None else f"{queue.share:.1%}".replace("%", " %")
    use = "-" if queue.utilisation is None else f"{queue.utilisation:.1%}".replace("%", " %")
    bins = "" if queue.bin_ns is None else f" (in bins of {time_text(queue.bin_ns)})"
    pairs = [
        ("events", f"{queue.events:,}, {queue.finished:,} of them with both instants"),
        ("from", f"{time_text(queue.first_ns)} to {time_text(queue.last_ns)}"),
        ("busy", f"{time_text(queue.busy_ns)}, {percent} of the boot"),
        ("waiting at once", f"at most {count_text(queue.most_waiting)}"),
        ("at work at once", f"at most {count_text(queue.most_at_work)}"),
        ("workers", f"{queue.workers:,} seen, used {use} of the busy time" if queue.workers else "not told"),
        ("latency", f"mean {time_text(queue.mean_ns)}, median {time_text(queue.median_ns)}, "
                    f"mode {time_text(queue.mode_ns)}{bins}, standard deviation {time_text(queue.stddev_ns)}"),
    ]  # fmt: skip
    for name, value in pairs:
        print_line(out, Text.assemble((f"  {name:16}", "dim"), value))
    _histogram(out, "Latency", queue.latencies, queue.bin_ns)
    _histogram(out, "Arrivals", queue.arrivals, queue.arrival_bin_ns)


def _histogram(out: Console, title: str, bins: Sequence[Bin], width: int | None) -> None:
    if not bins:
        return
    print_line(out)
    most = max(each.count for each in bins)
    columns = [Column(title, number=True), Column("Events", number=True), Column("", style="blue")]
    room = max(10, min(50, out.width - 40))
    rows = [
        [f"{time_text(each.start_ns)} +", count_text(each.count), bar(each.count / most, room, is_unicode(out))]
        for each in bins
    ]
    print_table(out, columns, rows)
    print_line(out, Text(f"Each bin is {time_text(width)} wide.", style="dim"))

"""What the report page carries of initcalls, devices, udev, units, gaps and the critical path."""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.devices import devices
from firstlight.analysis.initcalls import initcalls
from firstlight.analysis.log_lines import gaps
from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.path.fold import folded
from firstlight.analysis.udev_queue import queue_over_time, queue_summary
from firstlight.analysis.uevents import uevents
from firstlight.analysis.units import units
from firstlight.bundle.boot import Boot
from firstlight.render.page.text import columns_of, shortened
from firstlight.schema.spans import SpanKind

#: No more rows of one analysis than this go into a page: of each the longest, and how many there are.
ROWS = 2_000
#: No more instants of the queue than this: beyond, the largest values of as many stretches of time.
QUEUE_POINTS = 2_000
GAPS = 40
_TEXT = 300

Json = dict[str, Any]


def page_timing(boot: Boot, path: CriticalPath) -> Json:
    """The analyses of spans as columns; an analysis without rows has empty columns.

    :param path: the critical path of the boot.

    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> opened = firstlight.open(bundle)
    >>> page_timing(opened, opened.path())["path"]["name"][:2]
    ['firmware', 'decompression']
    """
    calls = initcalls(boot).with_columns(pl.col("function").alias("name"))
    probes = devices(boot).with_columns(pl.col("device").alias("name"))
    events = uevents(boot).with_columns(
        pl.col("device").alias("name"),
        pl.col("arrival_ns").alias("start_ns"),
        pl.col("latency_ns").alias("duration_ns"),
    )
    on_path = path.rows.filter(pl.col("kind") == SpanKind.UNIT)["name"].unique()
    started = units(boot).with_columns(
        pl.col("unit").alias("name"), pl.col("unit").is_in(on_path.implode()).fill_null(False).alias("critical")
    )
    return {
        "initcalls": _columns(
            calls, "name", "level", "module", "start_ns", "end_ns", "duration_ns", "grade", "reason", "probes",
            "probes_ns", "self_ns",
        ),
        "devices": _columns(
            probes, "name", "driver", "tries", "deferrals", "waited_ns", "supplier", "result", "start_ns", "end_ns",
            "duration_ns", "grade",
        ),
        "units": _columns(
            started, "name", "critical", "wanted_ns", "start_ns", "end_ns", "duration_ns", "ordered_ns", "held_ns",
            "hardware_ns", "waited_for", "state", "grade", "reason",
        ),
        "uevents": _columns(
            events, "name", "action", "start_ns", "end_ns", "duration_ns", "queued_ns", "blocked_ns",
            "service_start_ns", "service_ns", "worker", "grade",
        ),
        "queue": _queue(boot, events),
        "path": _path(path),
        "gaps": _gaps(boot, GAPS, "before", "after", "running"),
    }  # fmt: skip


def page_gaps(boot: Boot) -> Json:
    """The longest times without a console line, as columns in order of time: `gap_ns`, `start_ns` and `end_ns` in
    nanoseconds, and how many there are.

    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> sorted(page_gaps(firstlight.open(bundle)))
    ['end_ns', 'gap_ns', 'rows', 'start_ns']
    """
    return _gaps(boot, 0)


def _gaps(boot: Boot, explained: int, *more: str) -> Json:
    found = gaps(boot, least_ns=1, explained=explained)
    return _columns(found, "gap_ns", "start_ns", "end_ns", *more, longest="gap_ns", most=GAPS)


def _columns(frame: pl.DataFrame, *names: str, longest: str = "duration_ns", most: int = ROWS) -> Json:
    """Some columns of the longest rows, in order of time, with the number of all."""
    kept = frame.sort(longest, descending=True, nulls_last=True, maintain_order=True).head(most)
    kept = kept.sort("start_ns", nulls_last=True, maintain_order=True)
    return columns_of(kept, names, _TEXT) | {"rows": frame.height}


def _queue(boot: Boot, events: pl.DataFrame) -> Json:
    summary = queue_summary(boot, events)
    over = queue_over_time(events)
    if over.height > QUEUE_POINTS:
        stretch = pl.int_range(pl.len()) * QUEUE_POINTS // pl.len()
        most = (pl.col("waiting").max(), pl.col("at_work").max())
        over = over.group_by(stretch.alias("stretch"), maintain_order=True).agg(pl.col("time_ns").first(), *most)
    figures = ("events", "finished", "busy_ns", "share", "most_waiting", "most_at_work", "workers", "utilisation",
               "mean_ns", "median_ns", "mode_ns", "bin_ns", "stddev_ns")  # fmt: skip
    return {
        **{figure: getattr(summary, figure) for figure in figures},
        "latency_start_ns": [each.start_ns for each in summary.latencies],
        "latency_count": [each.count for each in summary.latencies],
        **{column: over[column].to_list() for column in ("time_ns", "waiting", "at_work")},
    }


def _path(path: CriticalPath) -> Json:
    """The path with its longest parts; the others are folded, so that the sum stays."""
    names = ("kind", "name", "edge", "start_ns", "end_ns", "duration_ns", "during", "ran", "before", "after",
             "service", "reason")  # fmt: skip
    columns: Json = columns_of(folded(path, ROWS // 2), names, _TEXT)
    near = path.steps.filter(~pl.col("critical") & (pl.col("duration_ns") > 0)).drop_nulls("slack_ns").head(20)
    beside = ("kind", "name", "start_ns", "duration_ns", "slack_ns")
    who = ("name", "kind", "threads", "run_ns", "unexplained_ns")
    return columns | {
        "processor": columns_of(path.ran.head(ROWS), who, _TEXT),
        "charged": columns_of(path.charged.head(ROWS), path.charged.columns, _TEXT),
        "load": columns_of(path.load.intervals.head(ROWS), path.load.intervals.columns, _TEXT),
        "goal": shortened(path.goal, _TEXT),
        "first": shortened(path.first, _TEXT),
        "unfinished": path.unfinished,
        "beside": columns_of(near, beside, _TEXT),
    }

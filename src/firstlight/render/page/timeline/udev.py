"""Tracks of udev as a queue: how many uevents wait, and which worker handles which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import polars as pl

from firstlight.analysis.processes.udev_events import queue_of, udev_events
from firstlight.analysis.udev_queue import queue_over_time
from firstlight.analysis.uevents import uevents
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.quantities import counted, time_text
from firstlight.render.page.timeline.lanes import Bar, Look, Sign, Track, packed

#: A queue has at most so many bars; of more, each is a stretch of time with the largest number that waited in it.
MOST_STEPS = 4000
_GROUP = "udev"
_QUEUE = "Queue"
WORKERS = "Workers"
"""The label of the track with what workers handle."""
_NAMELESS = "(no device)"


def udev_tracks(boot: Boot, whole: Window, least: int = 0) -> Iterator[Track]:
    """The queue of udev and its workers, from a record of uevents or else from the system calls of udev's processes.

    :param least: shorter events of a record are left out of the workers' tracks, and counted; in nanoseconds.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> from firstlight.analysis.window import window
    >>> opened = firstlight.open(bundle)
    >>> list(udev_tracks(opened, window(opened)))
    []
    """
    recorded = uevents(boot)
    if not recorded.is_empty():
        yield from _queue(queue_over_time(recorded))
        yield from _recorded_workers(recorded, whole, least)
        return
    events = udev_events(boot)
    if events.is_empty():
        return
    yield from _queue(queue_over_time(queue_of(events)))
    named = events.with_columns(pl.col("device").fill_null(_NAMELESS))
    waits = named.drop_nulls("arrival_ns").select("arrival_ns", "start_ns", "device")
    bars = [Bar(start, max(start, end), name, Look.WAITING) for start, end, name in waits.iter_rows()]
    if bars:
        yield Track(
            _GROUP,
            "waiting",
            packed(bars),
            role="waits",
            parent=_QUEUE,
            note=f"{len(bars):,} of {events.height:,} events",
        )
    yield from _workers(
        (str(worker if pid is None else pid), Bar(start, end, name, Look.WORK))
        for worker, pid, start, end, name in named.select("worker", "pid", "start_ns", "end_ns", "device").iter_rows()
    )


def _queue(steps: pl.DataFrame) -> Iterator[Track]:
    """One lane of bars, each as long as the same number of events waits."""
    rows = steps.select("time_ns", "waiting").with_columns(end_ns=pl.col("time_ns").shift(-1)).drop_nulls("end_ns")
    changes = pl.col("waiting") != pl.col("waiting").shift(1)
    rows = rows.with_columns(stretch=changes.fill_null(True).cum_sum())
    if rows["stretch"].n_unique() > MOST_STEPS:
        rows = rows.with_columns(stretch=pl.int_range(pl.len()) * MOST_STEPS // pl.len())
    parts = rows.group_by("stretch", maintain_order=True).agg(
        pl.col("time_ns").first(), pl.col("end_ns").last(), pl.col("waiting").max()
    )
    parts = parts.filter(pl.col("waiting") > 0)
    if parts.is_empty():
        return
    bars = [
        Bar(start, end, f"{count:,} waiting", Look.WAITING)
        for start, end, count in parts.select("time_ns", "end_ns", "waiting").iter_rows()
    ]
    heights: list[int] = parts["waiting"].to_list()
    yield Track(_GROUP, _QUEUE, [bars], role="queue", note=f"at most {max(heights):,}", heights=heights)


def _recorded_workers(events: pl.DataFrame, whole: Window, least: int) -> Iterator[Track]:
    rows = events.drop_nulls(["worker", "service_start_ns"])
    short = pl.col("service_ns").fill_null(least) < least
    left_out = rows.filter(short).select(pl.len(), pl.col("service_ns").sum()).row(0)
    rows = rows.filter(~short)
    tracks = _workers(
        (
            str(worker),
            Bar(start, max(start, whole.last_ns), device, Look.WORK | Sign.OPEN)
            if took is None
            else Bar(start, start + max(0, took), device, Look.WORK),
        )
        for worker, device, start, took in rows.select("worker", "device", "service_start_ns", "service_ns").iter_rows()
    )
    for track in tracks:
        if track.label == WORKERS:
            track.left_out, track.left_out_ns = left_out
        yield track


def _workers(handled: Iterable[tuple[str, Bar]]) -> Iterator[Track]:
    """What all workers handle, in as few lanes as it needs, and the same by worker, in order of their first event."""
    own: dict[str, list[Bar]] = defaultdict(list)
    for worker, bar in handled:
        own[worker].append(bar)
    if not own:
        return
    every = [bar for bars in own.values() for bar in bars]
    yield Track(_GROUP, WORKERS, packed(every), note=f"{counted(len(own), 'worker')}, {counted(len(every), 'event')}")
    for worker, bars in sorted(own.items(), key=lambda each: (min(each[1]), each[0])):
        took = time_text(sum(bar.end_ns - bar.start_ns for bar in bars))
        yield Track(
            _GROUP, f"worker {worker}", packed(bars), parent=WORKERS, note=f"{counted(len(bars), 'event')}, {took}"
        )

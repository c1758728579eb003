"""udev as a queue: arrivals, waiting, workers, latency."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.interval_union import clipped, most_at_once, union_ns
from firstlight.analysis.partial_sums import known
from firstlight.analysis.uevents import uevents
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot

#: About so many bins hold all latencies.
_BINS = 16


@dataclass(frozen=True)
class Bin:
    """Some of a range: from its start up to, and without, the next one's."""

    start_ns: int
    count: int


@dataclass(frozen=True)
class QueueSummary:
    """How udev's queue went; times in nanoseconds, null where the record does not show."""

    events: int
    finished: int
    first_ns: int | None
    last_ns: int | None
    busy_ns: int
    """The union of all events' times: while udev had anything to do."""
    share: float | None
    """`busy_ns` of the whole boot."""
    most_waiting: int | None
    most_at_work: int | None
    workers: int
    service_ns: int | None
    """Of all events, added up: the workers' time."""
    utilisation: float | None
    """`service_ns` of all workers' time while udev was busy."""
    mean_ns: int | None
    median_ns: int | None
    mode_ns: int | None
    """The middle of the bin with most latencies; it means nothing without `bin_ns`."""
    stddev_ns: int | None
    bin_ns: int | None
    latencies: tuple[Bin, ...]
    arrivals: tuple[Bin, ...]
    arrival_bin_ns: int | None


def queue_summary(boot: Boot, events: pl.DataFrame | None = None) -> QueueSummary:
    """How udev's queue went in a boot.

    Latency is from an event's arrival to the end of udev's work on it; its standard deviation is that of all events
    (the population's). The bin is a round figure; the mode is the middle of the fullest bin, the first of several.

    :param events: rows of :func:`firstlight.analysis.uevents.uevents`, where they were made already.

    >>> import firstlight
    >>> queue_summary(firstlight.open(bundle)).events
    0
    """
    rows = uevents(boot) if events is None else events
    done = rows.drop_nulls(["arrival_ns", "end_ns"]).filter(pl.col("end_ns") >= pl.col("arrival_ns"))
    whole = window(boot)
    busy = list(done.select("arrival_ns", "end_ns").iter_rows())
    served = _intervals(rows, "service_start_ns", pl.col("service_start_ns") + pl.col("service_ns"))
    queued = _intervals(rows, "arrival_ns", pl.col("arrival_ns") + pl.col("queued_ns"))
    workers = rows["worker"].drop_nulls().n_unique()
    service = known(rows["service_ns"]) if rows["service_ns"].count() else None
    busy_ns = union_ns(busy)
    in_boot = union_ns(clipped(busy, whole.first_ns, whole.last_ns))
    latencies = sorted(latency for latency in rows["latency_ns"].drop_nulls().to_list() if latency >= 0)
    width, bins = histogram(latencies)
    arrivals = rows["arrival_ns"].drop_nulls().to_list()
    first = min(arrivals, default=None)
    arrival_width, arrived = histogram([arrival - (first or 0) for arrival in arrivals])
    fullest = max(bins, key=lambda each: each.count, default=None)
    return QueueSummary(
        events=rows.height,
        finished=done.height,
        first_ns=first,
        last_ns=max((end for _, end in busy), default=None),
        busy_ns=busy_ns,
        share=in_boot / whole.length_ns if whole.length_ns > 0 and busy else None,
        most_waiting=most_at_once(queued) if queued else None,
        most_at_work=most_at_once(served) if served else None,
        workers=workers,
        service_ns=service,
        utilisation=service / (workers * busy_ns) if service is not None and workers and busy_ns else None,
        mean_ns=round(statistics.fmean(latencies)) if latencies else None,
        median_ns=round(statistics.median(latencies)) if latencies else None,
        mode_ns=None if fullest is None or width is None else fullest.start_ns + width // 2,
        stddev_ns=round(statistics.pstdev(latencies)) if latencies else None,
        bin_ns=width,
        latencies=tuple(bins),
        arrivals=tuple(Bin(each.start_ns + (first or 0), each.count) for each in arrived),
        arrival_bin_ns=arrival_width,
    )


def queue_over_time(events: pl.DataFrame) -> pl.DataFrame:
    """How many events waited and how many a worker was on, at each instant at which that changed.

    Where the record does not distinguish queue and service, all events that had arrived and not ended count as
    `waiting`.

    :param events: rows of :func:`firstlight.analysis.uevents.uevents`.

    >>> import polars as pl
    >>> row = {"arrival_ns": 0, "queued_ns": None, "service_start_ns": 4, "service_ns": 6, "end_ns": 10}
    >>> queue_over_time(pl.DataFrame([row])).rows()
    [(0, 1, 0), (4, 0, 1), (10, 0, 0)]
    """
    served = pl.col("service_start_ns").is_not_null() & pl.col("service_ns").is_not_null()
    until = pl.when(served).then("service_start_ns").otherwise("end_ns")
    done = pl.col("service_start_ns") + pl.col("service_ns")
    rows = events.lazy().cast(dict.fromkeys(("arrival_ns", "service_start_ns", "service_ns", "end_ns"), pl.Int64))
    waits = rows.filter(pl.col("arrival_ns").is_not_null() & (until >= pl.col("arrival_ns")))
    works = rows.filter(served)
    steps = [
        waits.select(time_ns="arrival_ns", waiting=1, at_work=0),
        waits.select(time_ns=until, waiting=-1, at_work=0),
        works.select(time_ns="service_start_ns", waiting=0, at_work=1),
        works.select(time_ns=done, waiting=0, at_work=-1),
    ]
    changes = pl.concat(steps).group_by("time_ns").agg(pl.col("waiting", "at_work").cast(pl.Int64).sum())
    return changes.sort("time_ns").with_columns(pl.col("waiting", "at_work").cum_sum()).collect()


def histogram(figures: Sequence[int]) -> tuple[int | None, list[Bin]]:
    """Bins of one round width, 1, 2 or 5 times a power of ten, that hold all figures; none of them negative.

    >>> width, bins = histogram([1_000, 2_000, 30_000])
    >>> width, [(each.start_ns, each.count) for each in bins if each.count]
    (2000, [(0, 1), (2000, 1), (30000, 1)])
    """
    if not figures:
        return None, []
    width, largest = 1, max(figures)
    while largest // width >= _BINS:
        width = width * 5 // 2 if str(width)[0] == "2" else width * 2
    counts = [0] * (largest // width + 1)
    for figure in figures:
        counts[figure // width] += 1
    return width, [Bin(number * width, count) for number, count in enumerate(counts)]


def _intervals(rows: pl.DataFrame, start: str, end: pl.Expr) -> list[tuple[int, int]]:
    return list(rows.select(pl.col(start), end.alias("end")).drop_nulls().iter_rows())

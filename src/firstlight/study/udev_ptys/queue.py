"""udev's queue: how long an event waits, is held back by others, and is worked on."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.intervals import most_at_once, union_ns
from firstlight.study.table import Chart, Field, Hole, Series, Table, Value


@dataclass(frozen=True)
class Queue:
    """One stage of one arm; times in nanoseconds, of one event on the average where not said otherwise."""

    events: int
    waiting: int
    """In the queue, or ready without a worker."""
    blocked: int
    """Held back by an event of a device above or below it."""
    service: int
    """A worker on it."""
    latency: int
    """The sum of the three: from the moment when udevd has read the event."""
    most_waiting: int
    most_at_work: int
    workers: int
    busy: int
    """While udev had anything to do, in all."""
    held_back: int
    """How many events were blocked at all."""

    @property
    def utilisation(self) -> float:
        """Of the workers' time while udev was busy."""
        return self.service * self.events / (self.workers * self.busy) if self.workers and self.busy else 0.0


def queue_of(events: pl.DataFrame | Hole) -> Queue | Hole:
    """Take the latencies of one stage of one arm apart, by udev's debug log."""
    if isinstance(events, Hole):
        return events
    done = events.drop_nulls(["arrival_ns", "end_ns", "service_start_ns", "service_ns"])
    rows = list(
        done.select(
            "arrival_ns", "end_ns", "service_start_ns", "service_ns", pl.col("blocked_ns").fill_null(0)
        ).iter_rows()
    )
    if not rows:
        return Hole("the log tells of no event from beginning to end")

    def mean(figures: list[int]) -> int:
        return round(statistics.fmean(figures))

    latency = mean([end - arrival for arrival, end, *_ in rows])
    service = mean([took for _, _, _, took, _ in rows])
    blocked = mean([held for *_, held in rows])
    return Queue(
        events=len(rows),
        waiting=latency - service - blocked,
        blocked=blocked,
        service=service,
        latency=latency,
        most_waiting=most_at_once([(arrival, begun) for arrival, _, begun, _, _ in rows]),
        most_at_work=most_at_once([(begun, begun + took) for _, _, begun, took, _ in rows]),
        workers=done["worker"].drop_nulls().n_unique(),
        busy=union_ns([(arrival, end) for arrival, end, *_ in rows]),
        held_back=sum(held > 0 for *_, held in rows),
    )


def queue_table(queues: Mapping[tuple[str, str], Queue | Hole]) -> Table:
    """Every arm and stage, in the order given.

    :param queues: by arm and stage.
    """
    fields = (
        Field("Arm"), Field("Stage"), Field("Events", "count"), Field("Waiting", "time"), Field("Blocked", "time"),
        Field("Service", "time"), Field("Latency", "time"), Field("Events blocked", "count"),
        Field("Most waiting", "count"), Field("Most at work", "count"), Field("Workers", "count"),
        Field("Workers' time used", "share"), Field("Busy", "time"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for (arm, stage), queue in queues.items():
        if isinstance(queue, Hole):
            rows.append((arm, stage, queue, *([None] * (len(fields) - 3))))
        else:
            rows.append(
                (arm, stage, queue.events, queue.waiting, queue.blocked, queue.service, queue.latency, queue.held_back,
                 queue.most_waiting, queue.most_at_work, queue.workers, queue.utilisation, queue.busy)
            )  # fmt: skip
    below = (
        "Means of one event: waiting, blocked and service add up to the latency. It begins when udevd has read the "
        "event from its socket, and ends when the worker says that it is done; by udevd's own debug log, which makes "
        "everything slower (see what the observers cost).",
    )
    return Table("queue", "What an event's time in udev is made of", fields, tuple(rows), below)


def queue_chart(queues: Mapping[tuple[str, str], Queue | Hole]) -> Chart | None:
    """Waiting, blocked and service, stacked, of each arm and stage."""
    known = {f"{arm}, {stage}": each for (arm, stage), each in queues.items() if isinstance(each, Queue)}
    if not known:
        return None
    parts = ("waiting", "blocked", "service")
    series = tuple(
        Series(part, tuple((name, float(getattr(queue, part))) for name, queue in known.items())) for part in parts
    )
    return Chart("queue", "What an event's time in udev is made of", "stacked", "arm", "mean", "time", series)

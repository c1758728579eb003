"""udev's queue: how long an event lies unread, waits, is held back by others, and is worked on."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from firstlight.study import Chart, Field, MissingValue, Series, Table, Value, missing_row, most_at_once, union_ns
from firstlight_studies.udev_ptys.latency import Latency


@dataclass(frozen=True)
class Queue:
    """One stage of one arm; times in nanoseconds, of one event on the average where not said otherwise."""

    events: int
    left_out: int
    """Others: they were not seen by both observers, or their instants stand in the wrong order."""
    socket: int
    """Sent by the kernel, and not yet read by udevd."""
    waiting: int
    """In udevd's queue, or ready without a worker."""
    blocked: int
    """Held back by an event of a device above or below it."""
    service: int
    """From the moment when a worker begins until udev passes the event on."""
    latency: int
    """The sum of the four."""
    most_in_socket: int
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


_INSTANTS = ("sent", "read", "begun", "passed")


def queue_of(logged: pl.DataFrame | MissingValue, monitored: pl.DataFrame | MissingValue) -> Queue | MissingValue:
    """Take the latencies of one stage of one arm apart.

    :param logged: events by udev's debug log: when udevd read them, and when a worker began.
    :param monitored: the same events by udev's monitor, in the same clock: when the kernel sent them, and when udev
        passed them on.
    """
    if isinstance(logged, MissingValue):
        return logged
    if isinstance(monitored, MissingValue):
        return monitored
    seen = monitored.select("seqnum", pl.col("arrival_ns").alias("sent"), pl.col("end_ns").alias("passed")).join(
        logged.select(
            "seqnum", pl.col("arrival_ns").alias("read"), pl.col("service_start_ns").alias("begun"),
            pl.col("blocked_ns").fill_null(0).alias("blocked"), "worker",
        ),
        on="seqnum", how="inner",
    )  # fmt: skip
    done = seen.drop_nulls(_INSTANTS).filter(
        (pl.col("sent") <= pl.col("read")) & (pl.col("read") <= pl.col("begun")) & (pl.col("begun") <= pl.col("passed"))
    )
    rows = list(done.select(*_INSTANTS, "blocked").sort("sent").iter_rows())
    if not rows:
        return MissingValue("no event was seen from beginning to end by both log and monitor")

    def mean(figures: list[int]) -> int:
        return round(statistics.fmean(figures))

    latency = mean([passed - sent for sent, _, _, passed, _ in rows])
    socket = mean([read - sent for sent, read, *_ in rows])
    service = mean([passed - begun for _, _, begun, passed, _ in rows])
    blocked = mean([held for *_, held in rows])
    return Queue(
        events=len(rows),
        left_out=monitored.height - len(rows),
        socket=socket,
        waiting=latency - socket - service - blocked,
        blocked=blocked,
        service=service,
        latency=latency,
        most_in_socket=most_at_once([(sent, read) for sent, read, *_ in rows]),
        most_waiting=most_at_once([(read, begun) for _, read, begun, _, _ in rows]),
        most_at_work=most_at_once([(begun, passed) for _, _, begun, passed, _ in rows]),
        workers=done["worker"].drop_nulls().n_unique(),
        busy=union_ns([(sent, passed) for sent, _, _, passed, _ in rows]),
        held_back=sum(held > 0 for *_, held in rows),
    )


def queue_table(
    queues: Mapping[tuple[str, str], Queue | MissingValue], alone: Mapping[tuple[str, str], Latency | MissingValue]
) -> Table:
    """Every arm and stage, in the order given.

    :param queues: by arm and stage.
    :param alone: by stage and arm, the latencies that the monitor sees without logging.
    """
    fields = (
        Field("Arm"), Field("Stage"), Field("Events", "count"), Field("In the socket", "time"),
        Field("Waiting", "time"), Field("Blocked", "time"), Field("Service", "time"), Field("Latency", "time"),
        Field("Latency without the log", "time"), Field("Events blocked", "count"),
        Field("Most in the socket", "count"), Field("Most waiting", "count"),
        Field("Most at work", "count"), Field("Workers", "count"),
        Field("Workers' time used", "share"), Field("Busy", "time"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for (arm, stage), queue in queues.items():
        if isinstance(queue, MissingValue):
            rows.append((arm, stage, *missing_row(queue, len(fields) - 2)))
        else:
            other = alone.get((stage, arm))
            rows.append(
                (arm, stage, queue.events, queue.socket, queue.waiting, queue.blocked, queue.service, queue.latency,
                 other.mean if isinstance(other, Latency) else other, queue.held_back, queue.most_in_socket,
                 queue.most_waiting, queue.most_at_work, queue.workers, queue.utilisation, queue.busy)
            )  # fmt: skip
    unseen = [f"{arm}, {stage}: {each.left_out}" for (arm, stage), each in queues.items() if isinstance(each, Queue)]
    below = (
        "Means of one event. In the socket: from the kernel's uevent until udevd has read it, including the time "
        "before udevd is up. Waiting: in udevd's own queue, not blocked. Blocked: behind an event of a parent or "
        "child device. Service: from the start of a worker until udev passes the event on. The four add up to the "
        "latency.",
        "Here udevd's debug log and the monitor observe at the same time. udevd itself writes the log, which makes "
        "everything slower; the mean latency without it is shown as well.",
        f"Events that are left out because one observer did not see them completely or their instants are in the "
        f"wrong order ({'; '.join(unseen) or 'none'}).",
    )
    return Table("queue", "What an event's time in udev is made of", fields, tuple(rows), below)


def queue_chart(queues: Mapping[tuple[str, str], Queue | MissingValue]) -> Chart | None:
    """The four parts, stacked, of each arm and stage."""
    known = {f"{arm}, {stage}": each for (arm, stage), each in queues.items() if isinstance(each, Queue)}
    if not known:
        return None
    parts = {"in the socket": "socket", "waiting": "waiting", "blocked": "blocked", "service": "service"}
    series = tuple(
        Series(title, tuple((name, float(getattr(queue, part))) for name, queue in known.items()))
        for title, part in parts.items()
    )
    return Chart("queue", "What an event's time in udev is made of", "stacked", "arm", "mean", "time", series)

"""udev's queue in a boot without a record of it: when each uevent arrived and which worker handled it.

A worker's events are those of :mod:`firstlight.analysis.processes.device_costs`. What was written to the file `uevent`
of a device (`udevadm trigger`, and the daemon after a device was closed) made the kernel send an event: its arrival is
the end of that write. An event that the kernel sent by itself arrived before the daemon read it from its socket
(`device_monitor_receive` in `src/libsystemd/sd-device/device-monitor.c` of systemd).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import polars as pl

from firstlight.analysis.processes.device_costs import udev_processes, worker_events
from firstlight.analysis.processes.system_calls import system_calls
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns

#: `/sys/devices/…/uevent`, `/sys/module/…/uevent`, `/sys/bus/…/uevent`: the device, driver, module or bus of an event.
_SUBJECT = r"^/sys(/.+)/uevent$"
_WRITES = ("write", "writev", "pwrite64")
_OPENS = ("open", "openat", "openat2", "creat")

_SCHEMA = columns("device worker:int pid:int arrival_ns:int read_ns:int start_ns:int end_ns:int")


def udev_events(boot: Boot) -> pl.DataFrame:
    """One row for each uevent that a worker of udev handled, in order of the moment at which the worker had it.

    Columns: `device` (or driver, module, bus; below `/sys`; null where the worker opened no file `uevent`), `worker`
    (the process) and its `pid`, `arrival_ns` (when the kernel sent it, where something triggered it), `read_ns` (when
    the daemon read it: the n-th read for the n-th start; of events that start at about the same time, one may have the
    read of another), `start_ns` and `end_ns` (a worker on it). All in nanoseconds of the boot's clock.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> udev_events(firstlight.open(bundle)).columns[:3]
    ['device', 'worker', 'pid']
    """
    udev = udev_processes(boot)
    if not udev.workers:
        return pl.DataFrame(schema=_SCHEMA)
    calls = system_calls(boot)
    own = calls.filter(pl.col("process").is_in(list(udev.workers)))
    opened = _opened(own)
    pids = dict(boot.table("processes").select("process", "pid").iter_rows())
    events = sorted(worker_events(boot, own), key=lambda event: (event.start, event.process))
    devices = [_first_in(opened.get(event.process, []), event.start, event.end) for event in events]
    reads = _reads(calls.filter(pl.col("process").is_in(list(udev.daemons))))
    arrivals = _arrivals(zip(devices, (event.start for event in events), strict=True), _writes(calls, udev.workers))
    # As many reads as events, in the same order: where a record of either is missing, none is known to belong to one.
    known = reads if len(reads) == len(events) else [None] * len(events)
    rows = [
        (
            *(device, event.process, pids.get(event.process), arrival),
            *(read if read is not None and read <= event.start else None, event.start, event.end),
        )
        for device, event, arrival, read in zip(devices, events, arrivals, known, strict=True)
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def queue_of(events: pl.DataFrame) -> pl.DataFrame:
    """The arrivals and services of :func:`udev_events`, as :func:`firstlight.analysis.udev_queue.queue_over_time` reads
    them. An event whose arrival is unknown waits from the moment at which the daemon read it.

    >>> import polars as pl
    >>> row = {"arrival_ns": None, "read_ns": 3, "start_ns": 4, "end_ns": 10}
    >>> queue_of(pl.DataFrame([row])).row(0)
    (3, 4, 6, 10)
    """
    return events.select(
        arrival_ns=pl.coalesce(pl.col("arrival_ns").cast(pl.Int64), "read_ns"),
        service_start_ns="start_ns",
        service_ns=pl.col("end_ns") - pl.col("start_ns"),
        end_ns="end_ns",
    )


def _opened(calls: pl.DataFrame) -> dict[int, list[tuple[int, str]]]:
    """Of each worker, when it opened which file `uevent`."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = calls.select("process", "start_ns", pl.col("path").str.extract(_SUBJECT).alias("device")).drop_nulls()
    for process, start, device in rows.sort("start_ns").iter_rows():
        found[process].append((start, device))
    return found


def _first_in(opened: Sequence[tuple[int, str]], start: int, end: int) -> str | None:
    return next((device for at, device in opened if start <= at < end), None)


def _writes(calls: pl.DataFrame, workers: frozenset[int]) -> dict[str, list[int]]:
    """When the kernel had an event to send because of a write to a device's file `uevent`: the ends of these writes."""
    closed = pl.col("name") == "close"
    files = calls.filter((pl.col("name").is_in(_OPENS) | closed) & (pl.col("result") >= 0)).select(
        "process", "end_ns", "path", descriptor=pl.when(closed).then("argument_0").otherwise("result")
    )
    done = calls.filter(
        pl.col("name").is_in(_WRITES) & (pl.col("result") > 0) & ~pl.col("process").is_in(list(workers))
    )
    written = done.select("process", "end_ns", descriptor="argument_0")
    joined = written.sort("end_ns").join_asof(
        files.sort("end_ns"), on="end_ns", by=["process", "descriptor"], check_sortedness=False
    )
    found: dict[str, list[int]] = defaultdict(list)
    rows = joined.select(pl.col("path").str.extract(_SUBJECT).alias("device"), "end_ns").drop_nulls()
    for device, at in rows.iter_rows():
        found[device].append(at)
    return found


def _arrivals(events: Iterable[tuple[str | None, int]], writes: dict[str, list[int]]) -> list[int | None]:
    """The write that each event of a device came from: the oldest one before it that no event came from yet."""
    found: list[int | None] = []
    for device, start in events:
        left = writes.get(device or "", [])
        found.append(left.pop(0) if left and left[0] <= start else None)
    return found


def _reads(calls: pl.DataFrame) -> list[int]:
    """When a daemon read an event: its messages from the socket through which it sends events to its workers.

    A daemon that never gave a second event to a worker has sent none; then none is known.
    """
    moved = calls.filter(pl.col("name").is_in(["recvmsg", "sendmsg"]) & (pl.col("result") > 0))
    sent = moved.filter(pl.col("name") == "sendmsg").select("process", "argument_0").unique()
    received = moved.filter(pl.col("name") == "recvmsg").join(sent, on=["process", "argument_0"], how="semi")
    most = received.group_by("process", "argument_0").len().sort("len", "argument_0", descending=[True, False])
    sockets = most.unique("process", keep="first", maintain_order=True)
    reads = received.join(sockets, on=["process", "argument_0"], how="semi")
    return [int(at) for at in reads["end_ns"].sort()]

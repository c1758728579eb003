"""What udev did for each device: calls, instructions and time of its workers, event by event, without a log of udev.

A worker sleeps until the daemon sends it a device, receives it, handles it, and sleeps again (`src/udev/udev-worker.c`
of systemd); it has its first device when it is created. It also sleeps while it waits for a program that it runs. So an
event ends with the last sleep before the next device is received. The device is the first one below `/sys/devices` that
it opens `uevent` of.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import polars as pl

from firstlight.analysis.processes.system_calls import system_calls
from firstlight.analysis.processes.work import work
from firstlight.analysis.uevents import uevents
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns

HINT = "no worker of udev handled a device in this boot"
"""Why a boot with processes has no rows."""

#: A worker waits in one of these, and receives a device by one of those.
_SLEEPS = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll")
_RECEIVES = ("recvfrom", "recvmsg")
#: Where a worker works on a device.
_WORKS_ON = r"^/(?:sys/devices|sys/module|run/udev/data|dev)/"
_DEVICE = r"^/sys(/devices/.+)/uevent$"
_DATABASE = r"^/run/udev/data/([^.][^/]*)$"
_DAEMONS = r"(?:^|/)(?:systemd-)?udevd$"

COUNTS: dict[str, tuple[str, ...]] = {
    "opens": ("open", "openat", "openat2", "creat"),
    "stats": ("stat", "lstat", "fstat", "newfstatat", "statx"),
    "accesses": ("access", "faccessat", "faccessat2"),
    "readlinks": ("readlink", "readlinkat"),
    "mknods": ("mknod", "mknodat"),
    "symlinks": ("symlink", "symlinkat"),
    "renames": ("rename", "renameat", "renameat2"),
    "forks": ("clone", "clone3", "fork", "vfork"),
    "execs": ("execve", "execveat"),
}
"""The calls that are counted for an event, by column."""


class UdevPart(StrEnum):
    """What udev's processes executed instructions for."""

    EVENTS = "events"
    """Workers on a device, with the programs that they ran for it."""
    WORKERS = "workers between events"
    """Their begin and end, and waiting for the next device."""
    DAEMON = "daemon"


_SCHEMA = columns(
    "device subsystem action seqnum:int pid:int start_ns:int end_ns:int duration_ns:int cpu_ns:int wait_ns:int "
    + "calls:int "
    + " ".join(f"{name}:int" for name in COUNTS)
    + " not_found:int instructions:int program_instructions:int"
)
_SUMS = columns("part instructions:int")


class WorkerEvent(NamedTuple):
    """A worker between two sleeps; times in nanoseconds."""

    process: int
    start: int
    end: int


class UdevProcesses(NamedTuple):
    """Those of udev."""

    daemons: frozenset[int]
    workers: frozenset[int]
    programs: dict[int, int]
    """Processes that a worker or its programs started, each with the worker."""


def device_costs(boot: Boot) -> pl.DataFrame:
    """One row for each event that a worker of udev handled, in order of time.

    Columns: `device` (below `/sys`), `subsystem` (where udev's database or a record of its events has it), `action` and
    `seqnum` (where such a record has them), `pid` (of the worker), `start_ns`, `end_ns`, `duration_ns` (from the
    worker's waking to its next sleep), `cpu_ns` (it or its programs had the processor), `wait_ns`, `calls`, of these
    `opens`, `stats`, `accesses`, `readlinks`, `mknods`, `symlinks`, `renames`, `forks` and `execs` (the last two that
    succeeded), `not_found` (calls that ended with ENOENT), `instructions` (of the worker and of the programs that it
    ran), `program_instructions` (of the programs).

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> device_costs(firstlight.open(bundle)).height
    0
    """
    found = udev_processes(boot)
    if not found.workers:
        return pl.DataFrame(schema=_SCHEMA)
    involved = [*found.workers, *found.programs]
    calls = system_calls(boot).filter(pl.col("process").is_in(involved))
    events = list(worker_events(boot, calls.filter(pl.col("process").is_in(list(found.workers)))))
    if not events:
        return pl.DataFrame(schema=_SCHEMA)
    numbered = pl.DataFrame(
        [(number, *event) for number, event in enumerate(events)],
        {"event": pl.Int64, "worker": pl.Int64, "from_ns": pl.Int64, "until_ns": pl.Int64},
        orient="row",
    ).sort("from_ns")
    counted = _in_events(_of_worker(calls, found), "start_ns", numbered)
    sums = _counts(counted).join(_executed(boot, found, numbered), on="event", how="left")
    pids = dict(boot.table("processes").select("process", "pid").iter_rows())
    rows = numbered.join(sums, on="event", how="left", maintain_order="left").filter(pl.col("device").is_not_null())
    rows = rows.with_columns(
        pl.col("cpu_ns", "instructions", "program_instructions").fill_null(0),
        pid=pl.col("worker").replace_strict(pids, return_dtype=pl.Int64),
        start_ns="from_ns",
        end_ns="until_ns",
        duration_ns=pl.col("until_ns") - pl.col("from_ns"),
    ).with_columns(wait_ns=(pl.col("duration_ns") - pl.col("cpu_ns")).clip(0))
    return _with_records(boot, rows).select(*_SCHEMA)


def udev_sums(boot: Boot, costs: pl.DataFrame) -> pl.DataFrame:
    """What udev's processes executed instructions for: `part` (of :class:`UdevPart`), `instructions`.

    They sum up to the instructions of the daemons, their workers, and all that these ran.

    :param costs: from :func:`device_costs`.
    """
    found = udev_processes(boot)
    sums = dict(work(boot).group_by("process").agg(pl.col("instructions").sum()).iter_rows())
    workers = sum(sums.get(process, 0) for process in (*found.workers, *found.programs))
    events = int(costs["instructions"].sum())
    daemon = sum(sums.get(process, 0) for process in found.daemons)
    parts = [(UdevPart.EVENTS, events), (UdevPart.WORKERS, workers - events), (UdevPart.DAEMON, daemon)]
    rows = [(str(part), instructions) for part, instructions in parts] if found.daemons else []
    return pl.DataFrame(rows, schema=_SUMS, orient="row")


def udev_processes(boot: Boot) -> UdevProcesses:
    """The processes of udev in a boot, by what they do.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> udev_processes(firstlight.open(bundle)).workers
    frozenset()
    """
    images = boot.table("images")
    named = images.filter(
        pl.col("arguments").str.split("\0").list.first().str.contains(_DAEMONS) | pl.col("image").str.contains(_DAEMONS)
    )
    execs = dict(images.group_by("process").agg(pl.col("start_ns").n_unique()).iter_rows())
    parents = dict(boot.table("processes").select("process", "parent").iter_rows())
    udevs = set(named["process"])
    # A worker is a copy of the daemon: it executes nothing.
    workers = {each for each in udevs if parents.get(each) in udevs and execs.get(each, 0) == 1}
    daemons = udevs - workers
    programs: dict[int, int] = {}
    for process in sorted(parents):  # a process has a larger number than its parent
        parent = parents[process]
        if parent is None or process in workers:
            continue
        worker = parent if parent in workers else programs.get(parent)
        if worker is not None:
            programs[process] = worker
    return UdevProcesses(frozenset(daemons - programs.keys()), frozenset(workers), programs)


def _ends(boot: Boot) -> dict[int, int]:
    """When each process ended, or else the recording."""
    last = int(boot.table("runs")["end_ns"].max() or 0)  # type: ignore[arg-type]
    known = boot.table("processes").select("process", pl.col("end_ns").fill_null(last))
    return dict(known.iter_rows())


def worker_events(boot: Boot, calls: pl.DataFrame) -> Iterator[WorkerEvent]:
    """What each worker did from the moment that it had a device to the sleep before the next one.

    :param calls: the system calls of the workers, of :func:`firstlight.analysis.processes.system_calls.system_calls`.
    :raises BundleError: when a table is missing or damaged.
    """
    ends = _ends(boot)
    works = pl.col("path").str.contains(_WORKS_ON).fill_null(False)
    marked = calls.select("process", "name", "start_ns", "end_ns", works.alias("works"))
    for (process,), own in marked.group_by("process", maintain_order=True):
        awake = int(own["start_ns"][0])
        sleep: tuple[int, int | None] | None = None
        worked = False
        for _, name, start, end, works_now in own.iter_rows():
            if name in _SLEEPS:
                sleep, worked = (start, end), False
            elif name in _RECEIVES and sleep is not None and sleep[1] is not None and not worked:
                yield WorkerEvent(process, awake, sleep[0])
                awake, sleep = sleep[1], None
            worked = worked or works_now
        # A worker that ended handles nothing after its last sleep; one that was at work when the recording ended does.
        yield WorkerEvent(process, awake, sleep[0] if sleep is not None and not worked else ends[process])


def _of_worker(rows: pl.DataFrame, found: UdevProcesses) -> pl.DataFrame:
    """With the worker that each process works for."""
    workers = {**{worker: worker for worker in found.workers}, **found.programs}
    return rows.with_columns(worker=pl.col("process").replace_strict(workers, default=None, return_dtype=pl.Int64))


def _in_events(rows: pl.DataFrame, at: str, events: pl.DataFrame) -> pl.DataFrame:
    """Rows with the number of the event in which they began; others are left out."""
    joined = rows.sort(at, maintain_order=True).join_asof(
        events, left_on=at, right_on="from_ns", by="worker", check_sortedness=False
    )
    return joined.filter(pl.col(at) < pl.col("until_ns"))


def _counts(calls: pl.DataFrame) -> pl.DataFrame:
    name, done = pl.col("name"), pl.col("result") >= 0
    # A new process's own return from the call has the result 0.
    counts = {
        column: (
            name.is_in(names) & (pl.col("result") > 0 if column == "forks" else done if column == "execs" else True)
        )
        for column, names in COUNTS.items()
    }
    own = pl.col("process") == pl.col("worker")
    return calls.group_by("event").agg(
        calls=pl.len().cast(pl.Int64),
        **{column: count.sum().cast(pl.Int64) for column, count in counts.items()},
        not_found=(pl.col("result") == -2).sum().cast(pl.Int64),
        device=pl.col("path").filter(own).str.extract(_DEVICE).drop_nulls().first(),
        database=pl.col("path").filter(own).str.extract(_DATABASE).drop_nulls().first(),
    )


def _executed(boot: Boot, found: UdevProcesses, events: pl.DataFrame) -> pl.DataFrame:
    """Time on the processor and instructions of each event: the stretches of its worker and programs in it."""
    stretches = _of_worker(work(boot), found).filter(pl.col("worker").is_not_null())
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    # A stretch may hold several events: the events in it, and the event in which it began.
    began = _in_events(stretches, "start_ns", events).select("event", *stretches.columns, "from_ns", "until_ns")
    inside = events.sort("from_ns").join_asof(
        stretches.filter(pl.col("process") == pl.col("worker")).sort("start_ns"),
        left_on="from_ns", right_on="start_ns", by="worker", strategy="backward", allow_exact_matches=False,
        check_sortedness=False,
    ).filter(pl.col("end_ns") > pl.col("from_ns"))  # fmt: skip
    parts = pl.concat([began, inside.select(began.columns)])
    took = pl.min_horizontal("end_ns", "until_ns") - pl.max_horizontal("start_ns", "from_ns")
    # What a program executes after its event has ended is the event's all the same.
    own = pl.col("process") == pl.col("worker")
    parts = parts.with_columns(took=pl.when(own).then(took).otherwise(pl.col("end_ns") - pl.col("start_ns")))
    return parts.group_by("event").agg(
        cpu_ns=pl.col("took").sum(),
        instructions=(pl.col("took") // step).sum(),
        program_instructions=(pl.col("took") // step).filter(~own).sum(),
    )


def _with_records(boot: Boot, rows: pl.DataFrame) -> pl.DataFrame:
    """With action, number and subsystem of the last event of the device that had arrived, where one is known."""
    subsystem = pl.col("database").str.extract(r"^\+([^:]+):")
    kinds = {"b": "block", "n": "net"}
    by_kind = pl.col("database").str.slice(0, 1).replace_strict(kinds, default=None, return_dtype=pl.String)
    own = pl.coalesce(subsystem, pl.when(~pl.col("database").str.starts_with("+")).then(by_kind))
    known = uevents(boot).filter(pl.col("arrival_ns").is_not_null()).sort("arrival_ns")
    known = known.select("device", "action", "seqnum", "arrival_ns", reported="subsystem")
    known = known.with_columns(device=pl.col("device").str.strip_prefix("/sys"))
    return (
        rows.sort("start_ns", maintain_order=True)
        .join_asof(known, left_on="start_ns", right_on="arrival_ns", by="device", check_sortedness=False)
        .with_columns(subsystem=pl.coalesce("reported", own))
    )

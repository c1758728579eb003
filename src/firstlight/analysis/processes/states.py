"""What each thread did over time: it ran, was ready to run, or slept until something woke it."""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns


class ThreadState(StrEnum):
    """What a thread does at an instant."""

    RUNNING = "running"
    """It has the processor."""
    RUNNABLE = "runnable"
    """It could run, and another thread has the processor."""
    BLOCKED = "blocked"
    """It sleeps."""


_SCHEMA = columns("thread:int process:int start_ns:int end_ns:int state waker:int")


def thread_states(boot: Boot) -> pl.DataFrame:
    """The intervals of every thread from its first run to the end of its process, in order of thread and time.

    Columns: `thread`, `process`, `start_ns`, `end_ns`, `state` (:class:`ThreadState`), `waker` (of an interval that
    began by a wake-up: the thread that ran then). The intervals of one thread have no gaps and do not overlap, and
    those of all threads in which they run are the runs of the boot.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> thread_states(firstlight.open(bundle)).height
    0
    """
    if boot.table("processes").is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    ends = boot.table("processes").select("process", process_end="end_ns")
    threads = boot.threads().select("thread", "process").join(ends, on="process", how="left")
    last = boot.manifest.totals.virtual_ns or 0
    runs = (
        boot.runs()
        .sort("thread", "start_ns", maintain_order=True)
        .with_columns(next_ns=pl.col("start_ns").shift(-1).over("thread"))
        .join(threads, on="thread", how="left", maintain_order="left")
        .with_columns(next_ns=pl.coalesce("next_ns", pl.col("process_end").fill_null(last)))
    )
    wakes = boot.table("wakeups").drop_nulls("wakee").select(thread="wakee", wake_ns="time_ns", waker="waker")
    gaps = (
        runs.filter(pl.col("next_ns") > pl.col("end_ns"))
        .sort("end_ns", maintain_order=True)
        .join_asof(
            wakes.sort("wake_ns"),
            left_on="end_ns",
            right_on="wake_ns",
            by="thread",
            strategy="forward",
            check_sortedness=False,
        )
        .with_columns(sleeps=pl.col("state").fill_null(0) != 0, woken=pl.col("wake_ns") < pl.col("next_ns"))
        .with_columns(
            ready_ns=pl.when("sleeps").then(pl.when("woken").then("wake_ns").otherwise("next_ns")).otherwise("end_ns")
        )
    )

    def intervals(frame: pl.DataFrame, start: str, end: str, state: ThreadState, waker: pl.Expr) -> pl.DataFrame:
        kept = frame.filter(pl.col(end) > pl.col(start))
        return kept.select(
            "thread",
            "process",
            start_ns=pl.col(start),
            end_ns=pl.col(end),
            state=pl.lit(str(state)),
            waker=waker.cast(pl.Int64),
        )

    nobody = pl.lit(None)
    woken = pl.when(pl.col("sleeps") & pl.col("woken")).then("waker")
    parts = [
        intervals(runs, "start_ns", "end_ns", ThreadState.RUNNING, nobody),
        intervals(gaps, "end_ns", "ready_ns", ThreadState.BLOCKED, nobody),
        intervals(gaps, "ready_ns", "next_ns", ThreadState.RUNNABLE, woken),
    ]
    return pl.concat(parts).sort("thread", "start_ns").select(*_SCHEMA)


def process_states(boot: Boot) -> pl.DataFrame:
    """The intervals of every process: it runs while one of its threads does, else it is runnable while one is.

    Columns: `process`, `start_ns`, `end_ns`, `state`; neighbours of one state are one interval.

    >>> import firstlight
    >>> process_states(firstlight.open(bundle)).height
    0
    """
    states = thread_states(boot)
    if states.is_empty():
        return states.select("process", "start_ns", "end_ns", "state")
    ranks = {str(state): rank for rank, state in enumerate(ThreadState)}
    ranked = states.with_columns(rank=pl.col("state").replace_strict(ranks, return_dtype=pl.Int64))
    several = set(states.group_by("process").agg(pl.col("thread").n_unique()).filter(pl.col("thread") > 1)["process"])
    rows: list[tuple[int, int, int, int]] = []
    for (process,), frame in ranked.sort("start_ns").partition_by("process", as_dict=True).items():
        own = frame.select("start_ns", "end_ns", "rank").rows()
        for start, end, rank in _foremost(own) if process in several else own:
            if rows and rows[-1][0] == process and rows[-1][2] == start and rows[-1][3] == rank:
                rows[-1] = (process, rows[-1][1], end, rank)
            else:
                rows.append((process, start, end, rank))
    names = list(ThreadState)
    return pl.DataFrame(
        [(process, start, end, str(names[rank])) for process, start, end, rank in rows],
        schema=columns("process:int start_ns:int end_ns:int state"),
        orient="row",
    ).sort("process", "start_ns")


def _foremost(intervals: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Overlapping intervals as ones that do not overlap, the lowest rank first where several hold."""
    changes: dict[int, list[int]] = {}
    for start, end, rank in intervals:
        changes.setdefault(start, [0, 0, 0])[rank] += 1
        changes.setdefault(end, [0, 0, 0])[rank] -= 1
    held, found = [0, 0, 0], []
    before: int | None = None
    for at in sorted(changes):
        if before is not None and any(held):
            found.append((before, at, next(rank for rank, number in enumerate(held) if number)))
        held = [one + other for one, other in zip(held, changes[at], strict=True)]
        before = at
    return found

"""Tracks of what had the processor: the critical path, idle time, processes, threads and system calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import polars as pl

from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.processes import processes
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.quantities import time_text
from firstlight.render.page.timeline.lanes import Bar, Look, Sign, Track, packed

_WAITS = ("waiting", "idle", "silence", "behind")


def path_track(path: CriticalPath) -> Track | None:
    """The critical path: one bar for each of its parts."""
    bars = [
        Bar(start, end, name, (Look.WAITING if kind in _WAITS else Look.RUNNING) | Sign.CRITICAL)
        for start, end, name, kind in path.rows.select("start_ns", "end_ns", "name", "kind").iter_rows()
        if end > start
    ]
    return Track("Boot", "Critical path", packed(bars), role="path") if bars else None


def idle_track(boot: Boot) -> Track | None:
    """When the processor idled, from the counter of idle time."""
    bars, before = [], 0
    counters = boot.counters().filter(pl.col("counter") == "idle_ns").sort("time_ns")
    for time, value in counters.select("time_ns", "value").iter_rows():
        if value > before:
            bars.append(Bar(time - (value - before), time, "idle", Look.WAITING))
        before = value
    return Track("Boot", "Idle", packed(bars)) if bars else None


def process_tracks(boot: Boot, whole: Window, least: int) -> Iterator[Track]:
    """A track for each process with its life and its runs, those with the most processor time first.

    Below a process with several threads stand its threads, and below each that made system calls these calls. Without
    processes, the tracks are of threads.

    :param least: shorter runs and calls are left out, and counted; in nanoseconds.
    """
    rows = processes(boot).sort("cpu_ns", "process", descending=[True, False], nulls_last=True)
    threads, runs = boot.threads(), _runs(boot, least)
    if rows.is_empty():
        yield from _thread_tracks(threads, runs, whole)
        return
    owners: dict[int, list[tuple[int, str]]] = defaultdict(list)
    if "process" in threads.columns:
        for thread, process, name in threads.select("thread", "process", "name").iter_rows():
            owners[process].append((thread, name or f"thread {thread}"))
    names, calls = process_names_of(boot), _system_calls(boot, least)
    for process, pid, cpu, start, end in rows.select("process", "pid", "cpu_ns", "start_ns", "end_ns").iter_rows():
        text = names[process].text
        label = f"{text} · {pid}" if pid is not None else f"{text} · {process}"
        own = owners.get(process, [])
        life = [] if start is None else [_life(start, end, text, whole)]
        ran = sorted(bar for thread, _ in own for bar in runs.get(thread, []))
        note = "" if cpu is None else time_text(cpu)
        yield Track("Processes", label, [life, ran], role="process", note=note, key=process)
        if sum(thread in runs for thread, _ in own) > 1:
            for thread, name in own:
                if thread in runs:
                    yield Track("Processes", f"thread {name}", [runs[thread]], parent=label)
        made = [bar for thread, _ in own for bar in calls.get(thread, [])]
        if made:
            yield Track("Processes", "system calls", packed(made), parent=label, role="calls")


def _life(start: int, end: int | None, name: str, whole: Window) -> Bar:
    last = max(start, whole.last_ns)
    return Bar(start, last if end is None else max(start, end), name, Look.LIFE | (Sign.OPEN if end is None else 0))


def _thread_tracks(threads: pl.DataFrame, runs: dict[int, list[Bar]], whole: Window) -> Iterator[Track]:
    rows = threads.sort("run_ns", "thread", descending=[True, False])
    for thread, name, start, end, ran in rows.select("thread", "name", "start_ns", "end_ns", "run_ns").iter_rows():
        text = name or f"thread {thread}"
        life = [_life(start, end, text, whole)]
        yield Track("Threads", f"{text} · {thread}", [life, runs.get(thread, [])], role="process", note=time_text(ran))


def _runs(boot: Boot, least: int) -> dict[int, list[Bar]]:
    """The runs of each thread, by the name that it had then; runs that follow at once are one."""
    names: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for thread, time, name in boot.thread_names().sort("time_ns").select("thread", "time_ns", "name").iter_rows():
        names[thread].append((time, name))
    found: dict[int, list[Bar]] = defaultdict(list)
    rows = boot.runs()
    rows = rows.filter(pl.col("end_ns") - pl.col("start_ns") >= max(1, least)).sort("start_ns")
    for thread, start, end in rows.select("thread", "start_ns", "end_ns").iter_rows():
        known = names.get(thread, [])
        while len(known) > 1 and known[1][0] <= start:
            known.pop(0)
        name = known[0][1] if known else f"thread {thread}"
        own = found[thread]
        if own and own[-1].end_ns == start and own[-1].name == name:
            own[-1] = own[-1]._replace(end_ns=end)
        else:
            own.append(Bar(start, end, name, Look.RUNNING))
    return found


def _system_calls(boot: Boot, least: int) -> dict[int, list[Bar]]:
    found: dict[int, list[Bar]] = defaultdict(list)
    rows = boot.table("system_calls")
    rows = rows.filter(pl.col("end_ns").is_not_null() & (pl.col("end_ns") - pl.col("start_ns") >= least))
    for thread, name, start, end in rows.select("thread", "name", "start_ns", "end_ns").iter_rows():
        found[thread].append(Bar(start, end, name, Look.SYSTEM_CALL))
    return found

"""Tracks of what had the processor: the critical path, idle time, processes, threads and system calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import polars as pl

from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.path.load import SampledLoad
from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.imported_calls import imported_calls
from firstlight.analysis.processes.processes import processes
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.quantities import time_text
from firstlight.recipe.mode import RecordMode
from firstlight.render.page.timeline.lanes import Bar, Look, Sign, Track, packed

#: System calls that end their thread.
_EXITS = ("exit", "exit_group")
_WAITS = ("waiting", "idle", "silence", "behind")


def path_track(boot: Boot, path: CriticalPath) -> Track | None:
    """The critical path: one bar for each of its parts."""
    recorded, exact = not boot.runs().is_empty(), boot.manifest.mode == RecordMode.EXACT

    def look(kind: str, track: str | None) -> Look:
        if kind in _WAITS:
            return Look.WAITING
        # Without runs no record shows what had the processor.
        ran = recorded and (exact or kind == "running" or (track or "").startswith("task "))
        return Look.RUNNING if ran else Look.OTHER

    columns = ("start_ns", "end_ns", "name", "kind", "track")
    bars = [
        Bar(start, end, name, look(kind, track) | Sign.CRITICAL)
        for start, end, name, kind, track in path.rows.select(columns).iter_rows()
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


def load_tracks(boot: Boot) -> Iterator[Track]:
    """How busy processors and disks were, from samples: a bar for each interval, as high as its share.

    >>> import firstlight
    >>> list(load_tracks(firstlight.open(bundle)))
    []
    """
    samples = SampledLoad(boot).samples
    for label, place in (("Processors busy, sampled", 2), ("Waits for disks, sampled", 3)):
        busy = [(row[0], row[1], row[place]) for row in samples if row[place] > 0]
        if busy:
            heights = [max(1, round(100 * ns / (end - start))) for start, end, ns in busy]
            bars = [
                Bar(start, end, f"{height} %", Look.WORK) for (start, end, _), height in zip(busy, heights, strict=True)
            ]
            note = time_text(sum(ns for *_, ns in busy))
            yield Track("Boot", label, [bars], role="load", note=note, heights=heights)


def process_tracks(boot: Boot, whole: Window, least: int) -> Iterator[Track]:
    """A track for each process with its life and its runs, those with the most processor time first.

    Below a process with several threads stand its threads, and below each that made system calls these calls. Without
    processes, the tracks are of threads.

    :param least: shorter runs and calls are left out, and counted; in nanoseconds.
    """
    rows = processes(boot).sort("cpu_ns", "process", descending=[True, False], nulls_last=True)
    threads, runs, short_runs = boot.threads(), _runs(boot, least), _left_out(boot.runs(), "thread", least)
    if rows.is_empty():
        yield from _thread_tracks(boot, threads, runs, whole, short_runs)
        return
    owners: dict[int, list[tuple[int, int | None, str]]] = defaultdict(list)
    if "process" in threads.columns:
        for thread, number, process, name in threads.select("thread", "pid", "process", "name").iter_rows():
            owners[process].append((thread, number, name or f"thread {thread}"))
    earlier = _earlier_names(boot)
    names, calls = process_names_of(boot), _call_rows(boot, whole)
    bars, short_calls = _call_bars(calls, least), _left_out(calls, "process", least)
    columns = ("process", "pid", "name", "cpu_ns", "start_ns", "end_ns")
    for process, pid, called, cpu, start, end in rows.select(columns).iter_rows():
        text = _label(called, names[process].text)
        label = f"{text} · {pid}" if pid is not None else f"{text} · {process}"
        own = owners.get(process, [])
        life = [] if start is None else [_life(start, end, text, whole)]
        # One process has one name, whatever its threads are called.
        ran = sorted(bar._replace(name=called or text) for thread, *_ in own for bar in runs.get(thread, []))
        note = "" if cpu is None else time_text(cpu)
        short = [*(short_runs.get(thread, (0, 0)) for thread, *_ in own), short_calls.get(process, (0, 0))]
        number, ns = _summed(short)
        made = Track("Processes", label, [life, ran], role="process", note=note, key=process)
        made.left_out, made.left_out_ns = number, ns
        first = next((thread for thread, number, _ in own if number == pid), None)
        made.earlier = [] if first is None else earlier.get(first, [])
        yield made
        if sum(thread in runs for thread, *_ in own) > 1:
            for thread, _, name in own:
                if thread in runs:
                    yield Track(
                        "Processes", f"thread {name}", [runs[thread]], parent=label, earlier=earlier.get(thread, [])
                    )
        if process in bars:
            yield Track("Processes", "system calls", packed(bars[process]), parent=label, role="calls")


def _label(name: str | None, text: str) -> str:
    """What a process is called, with its command line.

    >>> _label("systemd", "init splash"), _label("systemd-cryptse", "systemd-cryptsetup-generator /run")
    ('systemd (init splash)', 'systemd-cryptsetup-generator /run')
    >>> _label("kworker/0:1", "[kworker/0] (2)")
    '[kworker/0:1]'
    """
    if not name or text.startswith((name, f"[{name}]")):
        return text
    return f"[{name}]" if text.startswith("[") else f"{name} ({text})"


def _life(start: int, end: int | None, name: str, whole: Window) -> Bar:
    last = max(start, whole.last_ns)
    return Bar(start, last if end is None else max(start, end), name, Look.LIFE | (Sign.OPEN if end is None else 0))


def _thread_tracks(
    boot: Boot, threads: pl.DataFrame, runs: dict[int, list[Bar]], whole: Window, short: dict[int, tuple[int, int]]
) -> Iterator[Track]:
    earlier = _earlier_names(boot)
    rows = threads.sort("run_ns", "thread", descending=[True, False])
    for thread, name, start, end, ran in rows.select("thread", "name", "start_ns", "end_ns", "run_ns").iter_rows():
        text = name or f"thread {thread}"
        life = [_life(start, end, text, whole)]
        made = Track("Threads", f"{text} · {thread}", [life, runs.get(thread, [])], role="process", note=time_text(ran))
        made.left_out, made.left_out_ns = short.get(thread, (0, 0))
        made.earlier = earlier.get(thread, [])
        yield made


def _earlier_names(boot: Boot) -> dict[int, list[tuple[int, str]]]:
    """The names that each thread had before its last one, with the instants until which it had them."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    last: dict[int, str] = {}
    for thread, time, name in boot.thread_names().sort("time_ns").select("thread", "time_ns", "name").iter_rows():
        before = last.get(thread, name)
        if before != name:
            found[thread].append((time, before))
        last[thread] = name
    return found


def _runs(boot: Boot, least: int) -> dict[int, list[Bar]]:
    """The runs of each thread, by the last name that it had; runs that follow at once are one."""
    names = dict(boot.threads().select("thread", "name").iter_rows())
    found: dict[int, list[Bar]] = defaultdict(list)
    rows = boot.runs()
    rows = rows.filter(pl.col("end_ns") - pl.col("start_ns") >= max(1, least)).sort("start_ns")
    for thread, start, end in rows.select("thread", "start_ns", "end_ns").iter_rows():
        own = found[thread]
        if own and own[-1].end_ns == start:
            own[-1] = own[-1]._replace(end_ns=end)
        else:
            own.append(Bar(start, end, names.get(thread) or f"thread {thread}", Look.RUNNING))
    return found


def _left_out(rows: pl.DataFrame, by: str, least: int) -> dict[int, tuple[int, int]]:
    """The number and the time of what is shorter than a page has a place for, by thread or process."""
    length = pl.col("end_ns") - pl.col("start_ns")
    sums = rows.filter((length > 0) & (length < least)).group_by(by).agg(pl.len(), length.sum().alias("ns"))
    return {owner: (number, ns) for owner, number, ns in sums.iter_rows()}


def _summed(short: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(number for number, _ in short), sum(ns for _, ns in short)


def _call_rows(boot: Boot, whole: Window) -> pl.DataFrame:
    """The system calls of processes; those that did not return last until the end of their process or of the boot."""
    rows = boot.table("system_calls")
    if rows.is_empty():
        rows = imported_calls(boot).drop_nulls(["process", "start_ns"]).with_columns(last_ns=pl.lit(None, pl.Int64))
    else:
        threads = boot.threads().select("thread", "process", last_ns="end_ns")
        rows = rows.join(threads, on="thread", how="left").drop_nulls("process")
    ends = processes(boot).select("process", process_end_ns="end_ns")
    last = pl.coalesce(
        pl.when(pl.col("name").is_in(_EXITS)).then("last_ns"), "process_end_ns", pl.lit(whole.last_ns, pl.Int64)
    )
    return rows.join(ends, on="process", how="left").with_columns(
        is_open=pl.col("end_ns").is_null(), end_ns=pl.max_horizontal("start_ns", pl.coalesce("end_ns", last))
    )


def _call_bars(rows: pl.DataFrame, least: int) -> dict[int, list[Bar]]:
    rows = rows.filter(pl.col("end_ns") - pl.col("start_ns") >= least)
    found: dict[int, list[Bar]] = defaultdict(list)
    for process, name, start, end, is_open in rows.select(
        "process", "name", "start_ns", "end_ns", "is_open"
    ).iter_rows():
        found[process].append(Bar(start, end, name, Look.SYSTEM_CALL | (Sign.OPEN if is_open else 0)))
    return found

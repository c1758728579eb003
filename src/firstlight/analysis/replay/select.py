"""The work of a boot that a change takes out or speeds up: of a unit, a process, an initcall, a call, a function."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

import polars as pl

from firstlight.analysis.path.processor import Processor
from firstlight.analysis.path.thread_names import threads_of
from firstlight.analysis.path.wakeups import WakeGraph
from firstlight.analysis.processes.packages import LINKER
from firstlight.analysis.processes.processes import service_of
from firstlight.analysis.processes.system_calls import process_names
from firstlight.analysis.processes.user_functions import HINT
from firstlight.analysis.replay.processor import Cut
from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.schema.spans import SpanKind
from firstlight.suggest import unknown_name

_ALL = 1_000_000
_FORKS = ("clone", "clone3", "fork", "vfork")
_FOREVER = 1 << 62

Interval = tuple[int, int]


class WorkPart(StrEnum):
    """What a name is of."""

    UNIT = "unit"
    PROCESS = "process"
    INITCALL = SpanKind.INITCALL.value
    CALL = "system call"
    FUNCTION = "function"
    FILE = "file"
    """A program or library, by the code of it that was executed in user mode; its kernel work is not part of it."""
    USER_FUNCTION = "user function"


@dataclass(frozen=True)
class WorkShare:
    """A part of what ran between two instants of the record, whose own instants are not known."""

    thread: int | None
    """Of this thread alone; else of all that ran."""
    start: int
    end: int
    part: int
    """In millionths."""


@dataclass
class Selected:
    """The work that a name stands for."""

    name: str
    part: WorkPart
    times: dict[int, list[Interval]] = field(default_factory=dict)
    """When each thread did it; the intervals of a thread do not overlap."""
    shares: list[WorkShare] = field(default_factory=list)
    """Of a function or file."""
    processes: set[int] = field(default_factory=set)

    def covers(self, thread: int | None, time: int) -> bool:
        """Whether a thread does this work at an instant."""
        if thread is None:
            return False
        times = self.times.get(thread, [])
        place = bisect_right(times, (time, _FOREVER)) - 1
        return place >= 0 and times[place][0] <= time < times[place][1]

    def add(self, thread: int, start: int, end: int) -> None:
        """Add work of a thread."""
        if end > start:
            self.times[thread] = _union([*self.times.get(thread, []), (start, end)])


class Selector:
    """Finds the work that names stand for, in one boot."""

    def __init__(self, boot: Boot, graph: WakeGraph, processor: Processor) -> None:
        self._boot, self._graph, self._processor = boot, graph, processor
        self._threads = boot.threads().select("thread", "process", "pid", "name")
        self._parents: dict[int, int | None] = dict(boot.table("processes").select("process", "parent").iter_rows())
        self._of_process: dict[int, list[int]] = {}
        for thread, process in self._threads.select("thread", "process").iter_rows():
            self._of_process.setdefault(process, []).append(thread)
        self.init = frozenset(self._threads.filter(pl.col("pid") == 1)["thread"])
        self._initcalls = spans_of(boot, SpanKind.INITCALL).drop_nulls(["start_ns", "end_ns"])

    def find(self, name: str) -> Selected:
        """The work of a name.

        :raises BundleError: when the boot has nothing of that name; the hint has the nearest names.
        """
        if found := self._processes(name) or self._initcall(name) or self._call(name):
            return found
        functions = set(self._boot.functions()["function"])
        if name not in functions and (found := self._user_code(name)):
            return found
        names = {*process_names(self._boot), *self._initcalls["name"], *self._boot.table("system_calls")["name"]}
        code = self._boot.table("user_functions").select("file", "function")
        known = (names - {name}) | functions | set(code["function"].drop_nulls())
        known |= {PurePosixPath(file).name for file in code["file"].drop_nulls().unique()}
        kinds = "process, unit, initcall, system call, function or file"
        try:
            unknown_name(kinds, name, known, str(self._boot.directory), "processes")
        except BundleError as error:
            if code.is_empty() and error.hint:
                error.hint = f"{error.hint}\nfiles and functions of user mode: {HINT}"
            raise
        return self._function(name)

    def taken_out(self, selected: Selected) -> Selected:
        """The work that nobody does without this: also that of the processes that it creates, of the calls that
        create it, and what threads of the kernel are asked to do by it.
        """
        found = Selected(selected.name, selected.part, dict(selected.times), selected.shares, set(selected.processes))
        calls = self._boot.table("system_calls").filter(pl.col("name").is_in(_FORKS)).drop_nulls("end_ns")
        forks: dict[int, list[Interval]] = {}
        for thread, start, end in calls.sort("start_ns").select("thread", "start_ns", "end_ns").iter_rows():
            forks.setdefault(thread, []).append((start, end))
        process_of = dict(self._threads.select("thread", "process").iter_rows())
        for thread, (time, by) in self._graph.created.items():
            if process_of.get(thread) in selected.processes and not found.covers(by, time):
                for start, end in forks.get(by, []):
                    if start <= time <= end:
                        found.add(by, start, end)
        self._follow(found)
        return found

    def cuts(self, selected: Selected, left: int) -> dict[int, list[Cut]]:
        """The cuts that leave a part of the work, in millionths."""
        cuts = {thread: [Cut(start, end, left) for start, end in times] for thread, times in selected.times.items()}
        for share in selected.shares:
            rest = Cut(share.start, share.end, _ALL - share.part * (_ALL - left) // _ALL)
            for thread in self._graph.runs if share.thread is None else [share.thread]:
                cuts.setdefault(thread, []).append(rest)
        return cuts

    def ns(self, selected: Selected, until: int) -> int:
        """How long this work had the processor before an instant."""
        total = sum(self._ran(thread, times, until) for thread, times in selected.times.items())
        for share in selected.shares:
            if share.thread is None:
                ran = max(0, min(share.end, until) - share.start)
            else:
                ran = self._ran(share.thread, [(share.start, share.end)], until)
            total += ran * share.part // _ALL
        return total

    def _ran(self, thread: int, times: list[Interval], until: int = _FOREVER) -> int:
        """How long a thread had the processor in some intervals, before an instant."""
        runs, total = self._graph.runs.get(thread), 0
        for start, end in zip(runs.starts, runs.ends, strict=True) if runs else ():
            total += sum(max(0, min(end, high, until) - max(start, low)) for low, high in times)
        return total

    def _follow(self, found: Selected) -> None:
        """Add what follows from this work: threads that it creates, and what threads of the kernel do when woken."""
        graph = self._graph
        workers = set(self._threads.filter(pl.col("name").str.starts_with("kworker"))["thread"])
        events = [(time, thread, 0) for thread, (time, _) in graph.created.items()]
        for thread in graph.kernel & graph.runs.keys():
            for run in range(1, len(graph.runs[thread].starts)):
                if not graph.could_run(thread, run - 1) and (woken := graph.wake(thread, run)) and not woken[2]:
                    events.append((woken[0], thread, run))
        for time, thread, run in sorted(events):
            if run:
                woken = graph.wake(thread, run)
                if woken is not None and found.covers(woken[1], time):
                    found.add(thread, graph.runs[thread].starts[run], self._burst(thread, run))
            elif found.covers(graph.created[thread][1], time):
                found.add(thread, time, self._burst(thread, 0) if thread in workers else _FOREVER)

    def _burst(self, thread: int, run: int) -> int:
        """When a thread that began to run goes to sleep."""
        runs = self._graph.runs[thread]
        while run + 1 < len(runs.starts) and self._graph.could_run(thread, run):
            run += 1
        return runs.ends[run]

    def _processes(self, name: str) -> Selected | None:
        boot = self._boot
        table = boot.table("processes").with_columns(service_of("cgroup"))
        images = boot.table("images").sort("start_ns").with_columns(service_of("cgroup"))
        last = images.group_by("process", maintain_order=True).agg(last=pl.col("image").last())
        ran = pl.col("last").is_in([name]) | pl.col("last").str.ends_with("/" + name)
        number = pl.col("pid") == (int(name) if name.isdecimal() and len(name) < 18 else -1)
        whole = table.join(last, on="process", how="left").filter(
            ((pl.col("service") == name) | (pl.col("name") == name) | ran | number).fill_null(False)
        )
        unit = name in table["service"].to_list() or name in images["service"].to_list()
        found = Selected(name, WorkPart.UNIT if unit else WorkPart.PROCESS, processes=set(whole["process"]))
        for process in found.processes:
            for thread in self._of_process.get(process, []):
                found.add(thread, 0, _FOREVER)
        for thread in self._threads.filter(pl.col("name") == name)["thread"]:
            found.add(thread, 0, _FOREVER)
        # A process that ran something else later did this only until then.
        rest = images.filter(~pl.col("process").is_in(list(found.processes)))
        rest = rest.with_columns(until=pl.col("start_ns").shift(-1).over("thread").fill_null(_FOREVER))
        same = (pl.col("image") == name) | pl.col("image").str.ends_with("/" + name) | (pl.col("service") == name)
        for thread, start, end in rest.filter(same.fill_null(False)).select("thread", "start_ns", "until").iter_rows():
            found.add(thread, start, end)
        return found if found.times else None

    def _initcall(self, name: str) -> Selected | None:
        rows = self._initcalls.filter(pl.col("name") == name)
        threads = threads_of(self._boot, self._processor, rows)
        found = Selected(name, WorkPart.INITCALL)
        for span, start, end in rows.select("span", "start_ns", "end_ns").iter_rows():
            if span in threads:
                found.add(threads[span], start, end)
        return found if found.times else None

    def _call(self, name: str) -> Selected | None:
        rows = self._boot.table("system_calls").filter(pl.col("name") == name).drop_nulls("end_ns")
        found = Selected(name, WorkPart.CALL)
        gathered: dict[int, list[Interval]] = {}
        for thread, start, end in rows.select("thread", "start_ns", "end_ns").iter_rows():
            gathered.setdefault(thread, []).append((start, end))
        found.times = {thread: _union(times) for thread, times in gathered.items()}
        return found if found.times else None

    def _function(self, name: str) -> Selected:
        found = Selected(name, WorkPart.FUNCTION)
        profiled = set(self._boot.table("phase_calls")["phase"])
        for phase, start, end in self._boot.phases().select("phase", "start_ns", "end_ns").iter_rows():
            if phase not in profiled:
                continue
            rows = self._boot.functions(phase).filter(pl.col("function") == name)
            if rows.height and end > start:
                share = int(rows["total_ns"].sum()) * _ALL // (end - start)
                found.shares.append(WorkShare(None, start, end, min(_ALL, share)))
        return found

    def _user_code(self, name: str) -> Selected | None:
        """A file of which code was executed in user mode, by its path or file name, or a function of one."""
        boot = self._boot
        code = boot.table("user_functions")
        files = (pl.col("file") == name) | pl.col("file").str.ends_with(f"/{name}")
        # What everybody calls it, though no two distributions name the file alike.
        files |= pl.lit(name == "ld.so") & pl.col("file").str.contains(LINKER)
        rows, part = code.filter(files), WorkPart.FILE
        if rows.is_empty():
            rows, part = code.filter(pl.col("function") == name), WorkPart.USER_FUNCTION
        if rows.is_empty():
            return None
        found = Selected(name, part)
        step = 1 << (boot.manifest.clock.icount_shift or 0)
        images = boot.table("images").sort("start_ns").select(
            "thread", "image", "start_ns", until=pl.col("start_ns").shift(-1).over("thread").fill_null(_FOREVER)
        )  # fmt: skip
        by_program = rows.group_by("thread", "image").agg(pl.col("self_instructions").sum())
        for thread, image, instructions in by_program.sort("thread", "image").iter_rows():
            times = images.filter((pl.col("thread") == thread) & pl.col("image").eq_missing(pl.lit(image)))
            parts = times.select("start_ns", "until").rows() or [(0, _FOREVER)]
            if ran := self._ran(thread, parts):
                part_of_it = min(_ALL, instructions * step * _ALL // ran)
                found.shares.extend(WorkShare(thread, start, end, part_of_it) for start, end in parts)
        return found


def _union(times: Iterable[Interval]) -> list[Interval]:
    joined: list[Interval] = []
    for start, end in sorted(times):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined

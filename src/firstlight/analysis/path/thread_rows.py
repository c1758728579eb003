"""The path of threads as rows: what each thread did, with the steps that name it, who it ran behind, and idle time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import polars as pl

from firstlight.analysis.kernel_phases import UNKNOWN, KernelPhases
from firstlight.analysis.path.processor import BEFORE_TASKS, Processor, ran_text
from firstlight.analysis.path.thread_names import Named, Programs, threads_of
from firstlight.analysis.path.wakeups import Did, WakeGraph, WakeupPart, Woken
from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.schema.spans import SpanKind

#: Columns of :attr:`ThreadPath.charged`.
CHARGED = columns("name service ran_ns:int ahead_ns:int waited_ns:int idle_ns:int total_ns:int")

#: So many rows behind a part of the path are searched for a thread that slept through it.
_FOLLOWING = 50
_STEPS = (SpanKind.INITCALL, SpanKind.PROBE, SpanKind.ASYNC)
Row = dict[str, Any]


@dataclass(frozen=True)
class _Step:
    start: int
    end: int
    row: Row


class ThreadPath:
    """The path through the threads of a boot whose wake-ups were recorded."""

    def __init__(self, boot: Boot, processor: Processor, first: int, goal: int) -> None:
        """:param first: the first mark; *goal* the instant that the path leads to."""
        self._processor = processor
        self._phases = KernelPhases(boot)
        self.programs = Programs(boot, processor)
        self._graph = WakeGraph(boot)
        self._steps = _steps(boot, processor)
        self.rows: list[Row] = []
        self._sums: dict[Named, list[int]] = {}
        parts = self._graph.walk(first, goal)
        self._before(first, parts[0].start if parts else goal)
        for part in parts:
            self._add(part)

    @property
    def charged(self) -> pl.DataFrame:
        """What the path consists of, by program, the most first. `total_ns` adds up to the path.

        Columns: `name`, `service`, `ran_ns` (executed as the thread on the path), `ahead_ns` (executed while the
        thread on the path could have run), `waited_ns` (slept on the path until a timer or device; others may have
        executed), `idle_ns` (of the path, nothing executed), `total_ns`.
        """
        rows = [(*named, *figures, sum(figures)) for named, figures in self._sums.items()]
        frame = pl.DataFrame(rows, schema=CHARGED, orient="row")
        return frame.sort("total_ns", "name", descending=[True, False], maintain_order=True)

    def sleeper(self, place: int) -> tuple[int, str] | None:
        """Who slept through a part of the path until it was woken, with what it waited for.

        That is the thread of the part; of a thread of the kernel that had nothing to do, the next one on the path that
        slept through the part and waited for something.

        :param place: the number of the row, of kind `idle`.
        """
        row = self.rows[place]
        if not row["track"]:
            return None
        for later in self.rows[place : place + _FOLLOWING]:
            if later["track"] and later["end_ns"] > row["start_ns"]:
                thread = int(later["track"].removeprefix("task "))
                wait = self._graph.slept(thread, row["start_ns"], row["end_ns"])
                if wait is not None and not (thread in self._graph.kernel and wait.of_main_loop):
                    return thread, str(wait)
        return int(row["track"].removeprefix("task ")), row["reason"] or ""

    def text(self, start: int, end: int) -> str | None:
        """Who executed between two instants, as one text."""
        return ran_text(_by_name(self.programs.who(start, end)))

    def _charge(self, named: Named, place: int, ns: int) -> None:
        self._sums.setdefault(named, [0, 0, 0, 0])[place] += ns

    def _row(self, kind: str, name: str, start: int, end: int, **more: Any) -> None:
        if end > start:
            blank = dict.fromkeys(("edge", "grade", "span", "during", "ran", "process", "service", "reason"))
            self.rows.append(
                {"track": "", **blank, "kind": kind, "name": name, "start_ns": start, "end_ns": end, **more}
            )

    def _before(self, first: int, until: int) -> None:
        """What was before the first thread: the phases of firmware and decompression."""
        for low, high, idles in self._processor.by_idleness(first, until):
            if idles:
                self._row("idle", self._until(high), low, high)
                self._charge(Named(BEFORE_TASKS, None), 3, high - low)
                continue
            for row in reversed(self._phases.cover(low, high, UNKNOWN)):
                start, end = row["start_ns"], row["end_ns"]
                known = row["name"] != UNKNOWN
                name, kind = (row["name"], "phase") if known else (BEFORE_TASKS, str(Did.RUNNING))
                self._row(kind, name, start, end, edge=row["edge"], ran=self.text(start, end))
            for named, ns in self.programs.who(low, high).items():
                self._charge(named, 0, ns)

    def _add(self, part: WakeupPart) -> None:
        """The rows of one part of the path: it is divided by idle time, and where the thread began another program."""
        edge: str | None = part.edge
        reason = None if part.wait is None else str(part.wait)
        for start, end, idles in self._processor.by_idleness(part.start, part.end):
            for low, high, named in self.programs.between(part.thread, start, end):
                same = {"track": f"task {part.thread}", "process": named.name, "service": named.service,
                        "reason": reason}  # fmt: skip
                if idles:
                    self._row("idle", self._until(high), low, high, **same)
                    self._charge(named, 3, high - low)
                elif part.did is Did.RUNNING:
                    self._running(part.thread, low, high, named, {**same, "edge": edge})
                    self._charge(named, 0, high - low)
                    edge = Woken.TURN
                elif part.did is Did.BEHIND:
                    self._behind(low, high, same)
                else:
                    self._row(Did.WAITING, str(part.wait), low, high, **same, ran=self.text(low, high))
                    self._charge(named, 2, high - low)

    def _behind(self, start: int, end: int, same: Row) -> None:
        who = self.programs.who(start, end)
        for named, ns in who.items():
            self._charge(named, 1, ns)
        ahead = _by_name(who)
        more = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
        self._row(Did.BEHIND, f"behind {next(iter(ahead))[0]}{more}", start, end, **same, ran=ran_text(ahead))

    def _until(self, time: int) -> str:
        """What ended an idle time: the timer or device that woke a thread."""
        ended = self._graph.ended_by(time)
        if ended is None:
            return "idle until an interrupt"
        thread, wait = ended
        return f"idle until {self.programs.at(thread, time).name} was woken from {wait}"

    def _running(self, thread: int, start: int, end: int, named: Named, same: Row) -> None:
        """What a thread executed, by the steps and phases of the kernel that name it."""
        steps = self._steps.get(thread, [])
        place = max(0, bisect_right(steps, start, key=lambda step: step.start) - 1)
        at = start
        for step in steps[place:]:
            if step.start >= end:
                break
            low, high = max(at, step.start), min(end, step.end)
            if high > low:
                self._plain(thread, at, low, named, same)
                self._row(start=low, end=high, **{**same, **step.row, "ran": named.name})
                same, at = {**same, "edge": Woken.TURN}, high
        self._plain(thread, at, end, named, same)

    def _plain(self, thread: int, start: int, end: int, named: Named, same: Row) -> None:
        """What no step names: a phase of the kernel on its own first threads, elsewhere the program."""
        if thread not in self.programs.idle | self.programs.init:
            self._row(Did.RUNNING, named.name, start, end, **same, ran=named.name)
            return
        for row in reversed(self._phases.cover(start, end, UNKNOWN)):
            known = row["name"] != UNKNOWN
            kind, name = ("phase", row["name"]) if known else (str(Did.RUNNING), named.name)
            self._row(kind, name, row["start_ns"], row["end_ns"], **same, ran=named.name)


def _steps(boot: Boot, processor: Processor) -> dict[int, list[_Step]]:
    """The outermost steps of each thread, in order of time."""
    spans = spans_of(boot, *_STEPS).with_columns(pl.coalesce("end_ns", pl.col("start_ns") + pl.col("duration_ns")))
    spans = spans.drop_nulls(["start_ns", "end_ns"])
    threads = threads_of(boot, processor, spans)
    steps: dict[int, list[_Step]] = {}
    spans = spans.sort("start_ns", "end_ns", descending=[False, True], maintain_order=True)
    for row in spans.select("kind", "name", "grade", "span", "start_ns", "end_ns").iter_rows(named=True):
        start, end = row.pop("start_ns"), row.pop("end_ns")
        if (thread := threads.get(row["span"])) is None or end <= start:
            continue
        own = steps.setdefault(thread, [])
        if not own or start >= own[-1].end:
            own.append(_Step(start, end, row))
    return steps


def _by_name(who: dict[Named, int]) -> dict[tuple[str, str], int]:
    took: dict[tuple[str, str], int] = {}
    for named, ns in who.items():
        took[named.name, ""] = took.get((named.name, ""), 0) + ns
    return dict(sorted(took.items(), key=lambda entry: -entry[1]))

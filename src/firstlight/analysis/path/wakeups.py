"""The chain of threads that decided when an instant was reached: backwards by who woke, preempted or created whom."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import polars as pl

from firstlight.analysis.path.wait_reasons import Wait, preempted, wait_of
from firstlight.bundle.boot import Boot


class Did(StrEnum):
    """What the thread on the path did in a part of it."""

    RUNNING = "running"
    BEHIND = "behind"
    """It could have run; others had the processor."""
    WAITING = "waiting"
    """It slept until an interrupt: a timer or a device."""


class Woken(StrEnum):
    """Why a run began."""

    WAKER = "woken"
    INTERRUPT = "interrupt"
    CREATED = "created"
    TURN = "serial"


@dataclass(frozen=True)
class WakeupPart:
    """The thread on the path between two instants."""

    did: Did
    thread: int
    start: int
    end: int
    edge: Woken | None = None
    wait: Wait | None = None
    """What it slept for: in this part, or before it was woken."""


@dataclass(frozen=True)
class _Runs:
    starts: list[int]
    ends: list[int]
    states: list[int | None]
    nodes: list[int | None]


class WakeGraph:
    """The runs of a boot, and what made each thread able to run: a wake-up, its creation, or its turn."""

    def __init__(self, boot: Boot) -> None:
        runs = boot.runs().sort("start_ns")
        self.runs: dict[int, _Runs] = {
            thread: _Runs(*(rows[name].to_list() for name in ("start_ns", "end_ns", "state", "node")))
            for (thread,), rows in runs.partition_by("thread", as_dict=True, maintain_order=True).items()
        }
        self._starts: list[int] = runs["start_ns"].to_list()
        self._threads: list[int] = runs["thread"].to_list()
        woken = boot.table("wakeups").drop_nulls(["time_ns", "waker", "wakee"]).sort("time_ns", maintain_order=True)
        self._woken: dict[int, list[tuple[int, int, bool]]] = {}
        self._wakes = [(time, waker, wakee, bool(by)) for time, waker, wakee, by in woken.iter_rows()]
        for time, waker, wakee, by in self._wakes:
            self._woken.setdefault(wakee, []).append((time, waker, by))
        self._times = [time for time, *_ in self._wakes]
        calls = boot.table("calls").select("node", "parent", "function").iter_rows()
        self._calls: dict[int, tuple[int | None, str]] = {node: (above, name) for node, above, name in calls}
        threads = boot.threads()
        self.idle = frozenset(threads.filter(pl.col("kind") == "idle")["thread"])
        self.kernel = frozenset(threads.filter(pl.col("kind") == "kernel")["thread"])
        self.created = self._creations(boot, threads)
        self._stack = cache(self._read_stack)

    def at(self, time: int) -> int | None:
        """The thread that had the processor just before an instant; null before the first switch."""
        place = bisect_right(self._starts, time - 1) - 1
        return self._threads[place] if place >= 0 else None

    def walk(self, first: int, goal: int) -> list[WakeupPart]:
        """The parts of the path to an instant, in order of time, without gaps.

        They end at the goal and begin at *first*, or where no record says what was before: at the first run of the
        first thread.
        """
        parts: list[WakeupPart] = []

        def add(did: Did, start: int, end: int, edge: Woken | None = None, wait: Wait | None = None) -> None:
            if thread is not None and end > max(start, first):
                parts.append(WakeupPart(did, thread, max(start, first), end, edge, wait))

        thread, at = self.at(goal), goal
        asked: int | None = None
        seen: set[tuple[int, int]] = set()
        while thread is not None and at > first and (thread, at) not in seen:
            seen.add((thread, at))
            runs = self.runs[thread]
            place = bisect_right(runs.starts, at - 1) - 1
            if place < 0 or (not place and at <= runs.starts[0]):
                _, thread = self.created.get(thread, (at, None))
                continue
            if at > runs.ends[place]:
                left, slept = runs.ends[place], not self.could_run(thread, place)
                add(Did.WAITING if slept else Did.BEHIND, left, at, wait=self.wait(thread, place) if slept else None)
                at = left
                continue
            start = runs.starts[place]
            if not place:
                created, by = self.created.get(thread, (start, None))
                add(Did.RUNNING, start, at, None if by is None else Woken.CREATED)
                add(Did.BEHIND, min(created, start), start)
                thread, at = by, min(created, start)
                continue
            slept = not self.could_run(thread, place - 1)
            wait = self.wait(thread, place - 1) if slept else None
            woken = self.wake(thread, place) if slept else None
            if woken is None:
                add(Did.RUNNING, start, at, Woken.INTERRUPT if slept else Woken.TURN, wait)
                at = start
                continue
            time, waker, by_interrupt = woken
            serves = thread in self.kernel and wait is not None and wait.of_main_loop
            add(Did.RUNNING, start, at, Woken.INTERRUPT if by_interrupt else Woken.WAKER, wait)
            add(Did.BEHIND, time, start)
            at = time
            if not by_interrupt:
                asked = None if waker not in self.kernel else asked if serves else thread
                thread = waker
            elif serves and asked is not None:
                # The interrupt belongs to what was asked of this thread: the wait is of the one that asked.
                thread, asked = asked, None
        return parts[::-1]

    def wait(self, thread: int, run: int) -> Wait:
        """What a thread waited for after one of its runs."""
        return wait_of(self._stack(self.runs[thread].nodes[run]))

    def slept(self, thread: int, start: int, end: int) -> Wait | None:
        """What a thread waited for that slept from before one instant until after another; none of one that did not."""
        runs = self.runs[thread]
        run = bisect_right(runs.ends, start) - 1
        if run < 0 or self.could_run(thread, run) or (run + 1 < len(runs.starts) and runs.starts[run + 1] < end):
            return None
        return self.wait(thread, run)

    def ended_by(self, time: int) -> tuple[int, Wait] | None:
        """The thread that an interrupt woke first from an instant on, with what it had waited for."""
        for place in range(bisect_right(self._times, time - 1), len(self._wakes)):
            when, _, wakee, by_interrupt = self._wakes[place]
            run = bisect_right(self.runs[wakee].ends, when) - 1 if wakee in self.runs else -1
            if by_interrupt and run >= 0:
                return wakee, self.wait(wakee, run)
        return None

    def could_run(self, thread: int, run: int) -> bool:
        """Whether a thread left the processor without going to sleep. The idle thread never sleeps."""
        runs = self.runs[thread]
        return thread in self.idle or runs.states[run] == 0 or preempted(self._stack(runs.nodes[run]))

    def wake(self, thread: int, run: int) -> tuple[int, int, bool] | None:
        """The first wake-up of a thread between a run and the one before it: when, in which thread, whether by an
        interrupt. What wakes in the idle thread is an interrupt.
        """
        left, start = self.runs[thread].ends[run - 1], self.runs[thread].starts[run]
        woken = self._woken.get(thread, [])
        place = bisect_right(woken, left - 1, key=lambda each: each[0])
        if place == len(woken) or woken[place][0] > start:
            return None
        time, waker, by_interrupt = woken[place]
        runs = self.runs.get(waker)
        run = bisect_right(runs.starts, time) - 1 if runs else -1
        had_it = runs is not None and run >= 0 and time <= runs.ends[run]
        return time, waker, by_interrupt or not had_it or (waker in self.idle and run > 0)

    def _read_stack(self, node: int | None) -> tuple[str, ...]:
        names: list[str] = []
        while node is not None and node in self._calls:
            node, name = self._calls[node]
            names.append(name)
        return tuple(names[:-1] if len(names) > 1 else names)

    def _creations(self, boot: Boot, threads: pl.DataFrame) -> dict[int, tuple[int, int]]:
        """When each thread could run first, and who had the processor then.

        The first thread of a process is created with it. Another one is created by a thread of its process: by the
        one that ran last before, at the end of that run.
        """
        processes = boot.table("processes").filter(pl.col("parent").is_not_null())
        begins: dict[int, tuple[int, int]] = {
            process: (pid, start) for process, pid, start in processes.select("process", "pid", "start_ns").iter_rows()
        }
        members: dict[int, list[int]] = {}
        created: dict[int, tuple[int, int]] = {}
        for thread, pid, process in threads.select("thread", "pid", "process").sort("thread").iter_rows():
            if thread not in self.runs or process not in begins:
                continue
            runs_from = self.runs[thread].starts[0]
            leader, start = begins[process]
            by = self.at(start) if pid == leader else None
            time = start
            if by is None:
                ran = [(min(self.runs[each].ends[place], runs_from), each) for each in members.get(process, [])
                       if (place := bisect_right(self.runs[each].starts, runs_from - 1) - 1) >= 0]  # fmt: skip
                time, by = max(ran, default=(start, self.at(start)))
            members.setdefault(process, []).append(thread)
            if by is not None and by != thread and time <= runs_from:
                created[thread] = (time, by)
        return created

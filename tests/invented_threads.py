"""Invented boots of threads: who ran when, who woke whom, and in which stack of the kernel each one slept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import strategies as st

import firstlight
from bundles import write_table
from firstlight.api import Boot
from firstlight.bundle.tables import SCHEMAS
from imported_bundle import MS, Spans, write_bundle

#: Stacks of the kernel in which threads leave the processor, the outermost function first.
STACKS = {
    "epoll": ["do_epoll_wait", "schedule_timeout", "schedule", "__schedule"],
    "child": ["do_wait", "schedule", "__schedule"],
    "nap": ["hrtimer_nanosleep", "do_nanosleep", "schedule", "__schedule"],
    "rcu": ["synchronize_rcu", "__wait_for_common", "schedule_timeout", "schedule", "__schedule"],
    "worker": ["kthread", "worker_thread", "schedule", "__schedule"],
}
SLEEPS, GOES_ON = 1, 0

#: Thread, start and end in milliseconds, whether it sleeps then, and in which stack.
Turn = tuple[int, float, float, int, str | None]
#: Time, waker, wakee, by an interrupt.
Wake = tuple[float, int, int, int]

IDLE, INIT, SHELL, TOOL, WORKER = 0, 1, 2, 3, 4
NAMES = {INIT: "/sbin/init", SHELL: "/bin/sh", TOOL: "/usr/bin/tool"}
CREATED = {INIT: 300, SHELL: 1700, TOOL: 1900, WORKER: 350}


def frame(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([{**dict.fromkeys(SCHEMAS[table]), **row} for row in rows], schema=SCHEMAS[table])


def bundle(directory: Path, turns: list[Turn], wakes: list[Wake], idle: Sequence[tuple[float, float]] = ()) -> Boot:
    """A boot of 4,800 ms whose userspace begins at 1,600 ms; process and thread numbers and pids are the same."""
    spans = Spans()
    for phase, start, end in (("early_init", 0, 400), ("initcalls", 400, 1600), ("userspace", 1600, 4800)):
        spans.add("phase", phase, (start, end), track="boot")
    spans.add("initcall", "disk_init", (500, 600), track="task 1")
    path = write_bundle(directory, "a.boot", spans=spans)
    calls = [{"node": 0, "function": "[boot]", "kind": "root"}]
    nodes: dict[str | None, int | None] = {None: None}
    for name, functions in STACKS.items():
        above = 0
        for function in functions:
            calls.append({"node": len(calls), "parent": above, "function": function, "kind": "function"})
            above = len(calls) - 1
        nodes[name] = above
    used = sorted({thread for thread, *_ in turns})
    kinds = {IDLE: "idle", WORKER: "kernel"}
    tables: dict[str, list[dict[str, Any]]] = {
        "calls": [{**call, **dict.fromkeys(("calls", "self_ns", "total_ns"), 0)} for call in calls],
        "runs": [
            {"thread": thread, "start_ns": round(start * MS), "end_ns": round(end * MS), "state": state,
             "node": nodes[stack], "cpu": 0}
            for thread, start, end, state, stack in turns
        ],
        "threads": [
            {"thread": each, "kind": kinds.get(each, "user"), "name": f"t{each}", "first_name": f"t{each}", "pid": each,
             "process": each, "user_start_ns": 1600 * MS if each == INIT else None}
            for each in used
        ],
        "thread_names": [{"thread": each, "time_ns": 0, "name": f"t{each}"} for each in used],
        "wakeups": [dict(zip(SCHEMAS["wakeups"], (round(time * MS), *who), strict=True)) for time, *who in wakes],
        "processes": [
            {"process": each, "pid": each, "parent": 0 if each else None, "start_ns": CREATED.get(each, 0) * MS}
            for each in used
        ],
        "images": [
            {"process": each, "thread": each, "start_ns": CREATED[each] * MS, "image": NAMES[each],
             "cgroup": "/system.slice/a.service" if each == TOOL else "/"}
            for each in used if each in NAMES
        ],
        "counters": [
            {"counter": "idle_ns", "time_ns": round(idle[at][1] * MS), "value": round(total * MS)}
            for at, total in enumerate(accumulate(end - start for start, end in idle))
        ],
    }  # fmt: skip
    for table, rows in tables.items():
        write_table(path, table, frame(table, rows))
    return firstlight.open(path)


START: list[Turn] = [(IDLE, 100, 300, GOES_ON, None), (INIT, 300, 1700, GOES_ON, None)]


@st.composite
def any_boot(draw: st.DrawFn) -> tuple[list[Turn], list[Wake], list[tuple[float, float]]]:
    """Turns of a few threads to the boot's end, wake-ups at any time by anything, and idle ends of idle turns."""
    borders = sorted(draw(st.lists(st.integers(1, 4799), min_size=1, max_size=30, unique=True)))
    turns: list[Turn] = []
    idle: list[tuple[float, float]] = []
    for start, end in zip(borders, [*borders[1:], 4800], strict=True):
        thread = draw(st.integers(IDLE, WORKER))
        stack = draw(st.sampled_from([None, *STACKS]))
        turns.append((thread, start, end, draw(st.sampled_from([GOES_ON, SLEEPS, 2])), stack))
        if thread == IDLE and draw(st.booleans()):
            idle.append((draw(st.integers(start, end - 1)), end))
    threads = st.integers(IDLE, WORKER)
    wakes = draw(
        st.lists(st.tuples(st.integers(0, 4800), threads, threads, st.integers(0, 1)), min_size=1, max_size=40)
    )
    return turns, sorted(wakes), idle

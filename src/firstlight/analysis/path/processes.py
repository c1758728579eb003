"""Processes as steps of a path: a process works, starts a child, and goes on when the child has ended.

Samplers such as bootchart record when a process lived and who started it. Which child a process waited for follows from
the times: the one that ended last before it went on, and so backwards. Those edges are inferred.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from firstlight.analysis.path.steps import INFERRED, Step
from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.schema.spans import SpanKind


@dataclass
class _Process:
    span: int
    name: str
    pid: str
    track: str
    start: int
    end: int | None
    grade: str
    children: list[_Process] = field(default_factory=list)
    """Those that ended, in order of their ends."""
    steps: list[int] = field(default_factory=list)
    """The numbers of its steps, in order of time."""


def add_processes(boot: Boot, steps: list[Step], by_name: dict[str, list[int]]) -> None:
    """Add the processes of a boot with their edges: `parent` (it was started), and `inferred` (a child had ended).

    A process without an end, such as a daemon, has steps up to the end of its last child that ended.
    """
    frame = spans_of(boot, SpanKind.PROCESS, keys=("pid", "parent_pid"))
    # Traces give the number in the name of the track alone.
    frame = frame.with_columns(pl.coalesce("pid", pl.col("track").str.extract(r"(\d+)$")))
    rows = frame.drop_nulls(["start_ns", "pid"]).to_dicts()
    processes = [
        _Process(row["span"], row["name"], row["pid"], row["track"] or "", row["start_ns"], row["end_ns"], row["grade"])
        for row in rows
        if row["end_ns"] is None or row["end_ns"] > row["start_ns"]
    ]
    parents = _parents(processes, rows)
    for process in sorted(processes, key=lambda each: (each.end is None, each.end or 0)):
        parent = parents.get(process.span)
        if parent is not None and process.end is not None:
            parent.children.append(process)
    waited = {process.span: _place(process, steps, by_name) for process in processes}
    for process in processes:
        parent = parents.get(process.span)
        if parent is not None and process.steps and parent.steps:
            ends = [steps[number].end for number in parent.steps]
            place = bisect_right(ends, process.start)
            if place:
                steps[process.steps[0]].before.append((parent.steps[place - 1], "parent"))
        for number, child in waited[process.span]:
            if child.steps:
                steps[number].before.append((child.steps[-1], INFERRED))


def _parents(processes: list[_Process], rows: list[dict[str, Any]]) -> dict[int, _Process]:
    """The process that started each one: of those with the number of the parent the last that had begun."""
    by_pid: dict[str, list[_Process]] = {}
    for process in processes:
        by_pid.setdefault(process.pid, []).append(process)
    found: dict[int, _Process] = {}
    for row in rows:
        alike = by_pid.get(row["parent_pid"] or "", [])
        place = bisect_right(alike, row["start_ns"], key=lambda each: each.start)
        if place and alike[place - 1].span != row["span"]:
            found[row["span"]] = alike[place - 1]
    return found


def _place(process: _Process, steps: list[Step], by_name: dict[str, list[int]]) -> list[tuple[int, _Process]]:
    """Make the steps of a process; returns those that went on after a child, each with the child."""
    end = process.end if process.end is not None else max((_end(each) for each in process.children), default=None)
    if end is None:
        return []
    parts: list[tuple[int, int, _Process | None]] = []
    at, inside = end, {end}
    for ended in reversed(process.children):
        if process.start <= ended.start and _end(ended) <= at:
            parts.append((_end(ended), at, ended))
            at = ended.start
        elif process.start < ended.start < end:
            inside.add(ended.start)
    parts.append((process.start, at, None))
    went_on: list[tuple[int, _Process]] = []
    cuts = sorted(inside)
    for start, finish, child in reversed(parts):
        # It started other children meanwhile: each has a step of its parent that ends where it begins.
        low, high = bisect_right(cuts, start), bisect_right(cuts, finish - 1)
        edges = [start, *cuts[low:high], finish]
        for begin, stop in pairwise(edges):
            # Between two children that follow at once it took no time, but one of them came after the other.
            span = process.span if stop > begin else -1
            step = Step(SpanKind.PROCESS, process.name, process.track, begin, stop, process.grade, span)
            number = len(steps)
            if process.steps:
                step.before.append((process.steps[-1], "serial"))
            if child is not None and begin == start:
                went_on.append((number, child))
            steps.append(step)
            process.steps.append(number)
            if stop > begin:
                by_name.setdefault(process.name, []).append(number)
    return went_on


def _end(process: _Process) -> int:
    return process.start if process.end is None else process.end

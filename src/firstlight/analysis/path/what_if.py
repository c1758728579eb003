"""When a goal would be reached if steps took longer or shorter, in the model of the critical path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.path.goal import goal_step, with_goal
from firstlight.analysis.path.graph import path_graph
from firstlight.analysis.path.steps import INFERRED, Step
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.suggest import unknown_name


@dataclass(frozen=True)
class WhatIf:
    """What a change of durations does to the goal, in the model of this module."""

    goal_ns: int
    """When the goal is reached then."""
    change_ns: int
    """Against the record: negative is earlier."""
    changes: tuple[tuple[str, int], ...]
    """What was changed, by how much at most: nothing takes less than no time."""
    rows: pl.DataFrame
    """The path then: `kind`, `name`, `start_ns`, `end_ns`, `duration_ns`."""


def what_if(boot: Boot, changes: Mapping[str, int], to: str | None = None) -> WhatIf:
    """When the goal would be reached if steps took longer or shorter.

    :param changes: nanoseconds by name of an initcall, device, unit or event; negative is shorter. A part of a step
        (a probe in an initcall) shortens the step. What has a name more than once is changed every time.
    :param to: as of :func:`~firstlight.analysis.path.critical.find_path`.
    :raises BundleError: when the boot has no step of a name.

    >>> import firstlight
    >>> what_if(firstlight.open(bundle), {"dh_init": -100_000_000}).change_ns
    -100000000
    """
    graph = path_graph(boot)
    for name in changes:
        unknown_name("step", name, graph.by_name.keys(), str(boot.directory), "path --json")
    _, goal = goal_step(boot, graph, window(boot), to)
    steps = graph.steps
    takes = [step.end - step.start for step in steps]
    applied = []
    for name, change in changes.items():
        done = 0
        for parts in _by_span(steps, graph.by_name[name]):
            # A step that was cut by waits gives from its longest part first.
            left = change
            for part in sorted(parts, key=lambda number: -takes[number]):
                given = max(left, -takes[part])
                takes[part] += given
                left -= given
                if left >= 0:
                    break
            done += change - left
        applied.append((name, done))
    starts, ends = [0] * len(steps), [0] * len(steps)
    for number in with_goal(graph, goal):
        step = steps[number]
        starts[number] = step.start
        if step.before:
            lag = step.start - max(steps[before].end for before, _ in step.before)
            starts[number] = max(ends[before] for before, _ in step.before) + lag
            starts[number] = max(starts[number], starts[number] if step.release is None else step.release)
        ends[number] = starts[number] + takes[number]
    rows = []
    at: int | None = goal
    while at is not None:
        step = steps[at]
        if step.span >= 0:
            rows.append((step.kind, step.name, starts[at], ends[at], takes[at]))
        at = max(step.before, key=lambda edge: (ends[edge[0]], edge[1] != INFERRED, edge[0]), default=(None, ""))[0]
    schema = {"kind": pl.String, "name": pl.String, **dict.fromkeys(("start_ns", "end_ns", "duration_ns"), pl.Int64)}
    path = pl.DataFrame(rows[::-1], schema=schema, orient="row")
    return WhatIf(ends[goal], ends[goal] - steps[goal].end, tuple(applied), path)


def _by_span(steps: list[Step], numbers: list[int]) -> list[list[int]]:
    spans: dict[int, list[int]] = {}
    for number in dict.fromkeys(numbers):
        spans.setdefault(steps[number].span, []).append(number)
    return list(spans.values())

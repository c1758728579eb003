"""What a path leads to, and what each step waited for longest."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.path.steps import INFERRED, PathGraph, Step
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.schema.marks import Mark
from firstlight.suggest import unknown_name


def goal_step(boot: Boot, graph: PathGraph, whole: Window, to: str | None) -> tuple[str, int]:
    """The step that is the goal: a unit's, or one without length that stands for a mark."""
    name: str
    marks = dict(boot.marks().filter(pl.col("time_ns").is_not_null()).select("mark", "time_ns").iter_rows())
    units = {step.name: number for number, step in enumerate(graph.steps) if step.kind == "unit"}
    reached: Mark | None = next((mark for mark in (Mark.READY, Mark.STARTUP_FINISHED) if mark in marks), None)
    if to is None and boot.manifest.failure is None and reached is not None:
        # What came after the boot was done, such as the rest of a log, is no goal.
        name, at = reached, marks[reached]
    elif to is None:
        name, at = whole.last, whole.last_ns
    elif to in marks:
        name, at = to, marks[to]
    else:
        unknown_name(
            "mark or unit", to, [*marks, *units], str(boot.directory), "units" if len(units) > len(marks) else "show"
        )
        return to, units[to]
    goal = Step("goal", name, "", max(at, whole.first_ns), max(at, whole.first_ns), "good", -1)
    ended = [(step.end, number) for number, step in enumerate(graph.steps) if step.end <= at]
    # A unit is nearer to what a boot is for than any event that happens to end later. Points alone show nothing of
    # what ran.
    users = [entry for entry in ended if graph.steps[entry[1]].kind == "unit"]
    ran = any(graph.steps[number].span not in graph.instants for _, number in users)
    last = max(users if ran else ended, default=None)
    if last is not None:
        goal.before.append((last[1], INFERRED))
    graph.steps.append(goal)
    return name, len(graph.steps) - 1


def with_goal(graph: PathGraph, goal: int) -> list[int]:
    """The order of the steps, the goal last."""
    return graph.order if goal < len(graph.order) else [*graph.order, goal]


def driver(steps: list[Step], number: int) -> tuple[int, str] | None:
    """The one that a step waited for longest: it ended last; of several, one that is recorded."""
    return max(steps[number].before, key=lambda edge: (steps[edge[0]].end, edge[1] != INFERRED, edge[0]), default=None)

"""The critical path of a boot, the slack beside it, and what a change would do.

The model: a step begins a fixed lag after the last of those it waited for has ended, and takes its own duration. The
lag is what the record shows between the two: nobody knows its cause, so that no change takes it away. With it the
critical path method gives what is asked: the path is the chain of those that ended last, the slack of a step is by
how much it may end later before the goal is reached later, and a changed duration moves all that follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.analysis.path.goal import driver, goal_step, with_goal
from firstlight.analysis.path.graph import path_graph
from firstlight.analysis.path.partition import cover
from firstlight.analysis.path.processor import Processor, who_ran
from firstlight.analysis.path.steps import PathGraph, Step
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot


@dataclass(frozen=True)
class CriticalPath:
    """The path from the first mark to a goal, and all steps with their slack."""

    goal: str
    goal_ns: int
    first: str
    first_ns: int
    rows: pl.DataFrame
    """The path in order of time; its parts add up to `goal_ns - first_ns` exactly.

    Columns: `kind`, `name`, `track`, `start_ns`, `end_ns`, `duration_ns` (of this part of the path), `edge` (what the
    part waited for in the part before: a kind of link, `serial`, or `inferred` where only the times tell), `grade`,
    `during` (what else was under way in a part that no step explains), `ran` (who had the processor in it), `span`.

    Where the recorder followed the switches, a part of kind `running` is what a thread executed that no step explains,
    by the thread's name, and `[waiting, cause unknown]` is idle time alone: all of the boot's."""
    steps: pl.DataFrame
    """Every step of the boot, the least slack first. Columns: `kind`, `name`, `track`, `start_ns`, `end_ns`,
    `duration_ns`, `slack_ns` (by how much it may end later before the goal is reached later; 0 on the critical path;
    null where nothing leads from it to the goal), `critical`, `span`."""
    unfinished: int
    """Spans without an end, which cannot be on the path."""
    without_start: int
    """Spans of which only the end is known, and which are no units: neither can they."""
    instants: int
    """Units on the path of which only the end is known: points, whose activation lies in the part before them."""
    processor: Processor
    """Who had the processor, as far as it is recorded."""

    @property
    def ran(self) -> pl.DataFrame:
        """Who executed on the path, by name: see :func:`~firstlight.analysis.path.processor.who_ran`."""
        return who_ran(self.processor, self.rows)


def find_path(boot: Boot, to: str | None = None, *, charged: bool = True) -> CriticalPath:
    """The critical path of a boot from its first mark to a goal.

    :param to: a mark or a unit; when not given `ready`, else `startup_finished`, else the last mark.
    :param charged: say who had the processor, where that is recorded. Without, a recorded boot has the parts of one
        that was imported, and can be compared with it.
    :raises BundleError: when the boot has neither a mark nor a finished unit of that name.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> find_path(boot).rows["duration_ns"].sum() == boot.manifest.totals.virtual_ns
    True
    """
    graph = path_graph(boot)
    whole = window(boot)
    name, goal = goal_step(boot, graph, whole, to)
    at = graph.steps[goal].end
    chain = _chain(graph.steps, goal)
    processor = Processor(boot, charged=charged)
    rows = cover(boot, graph, chain, goal, whole.first_ns, processor)
    free = _slack(graph, goal)
    critical = set(chain)
    table = [
        (step.kind, step.name, step.track, step.start, step.end, step.end - step.start, free[number],
         number in critical, step.span)
        for number, step in enumerate(graph.steps) if step.span >= 0
    ]  # fmt: skip
    figures = dict.fromkeys(("start_ns", "end_ns", "duration_ns", "slack_ns"), pl.Int64)
    schema = {
        **dict.fromkeys(("kind", "name", "track"), pl.String),
        **figures,
        "critical": pl.Boolean,
        "span": pl.Int64,
    }
    steps = pl.DataFrame(table, schema=schema, orient="row").sort("slack_ns", "start_ns", nulls_last=True)
    points = rows["span"].is_in(list(graph.instants)).sum()
    left = (graph.unfinished, graph.without_start)
    return CriticalPath(name, at, whole.first, whole.first_ns, rows, steps, *left, int(points or 0), processor)


def _chain(steps: list[Step], goal: int) -> list[int]:
    chain, seen = [goal], {goal}
    while (edge := driver(steps, chain[-1])) is not None and edge[0] not in seen:
        chain.append(edge[0])
        seen.add(edge[0])
    return chain


def _slack(graph: PathGraph, goal: int) -> list[int | None]:
    steps = graph.steps
    latest: list[int | None] = [None] * len(steps)
    latest[goal] = steps[goal].end
    for number in reversed(with_goal(graph, goal)):
        limit, step = latest[number], steps[number]
        if limit is None or not step.before:
            continue
        # The step must begin by then, and its lag lies before.
        lag = step.start - max(steps[before].end for before, _ in step.before)
        limit -= step.end - step.start + lag
        for before, _ in step.before:
            known = latest[before]
            latest[before] = limit if known is None else min(known, limit)
    return [None if limit is None else limit - step.end for limit, step in zip(latest, steps, strict=True)]

"""The critical path of a boot, the slack of other steps, and the effect of a change.

The model: a step begins a fixed lag after the last of those it waited for has ended, and takes its own duration. The
lag is what the record shows between the two. Its cause is unknown, so no change removes it. This is the critical path
method: the path is the chain of those that ended last, the slack of a step is how much later it could end without
moving the goal, and a changed duration moves all that follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.analysis.path.goal import driver, goal_step, with_goal
from firstlight.analysis.path.graph import path_graph
from firstlight.analysis.path.load import SampledLoad
from firstlight.analysis.path.partition import cover, framed
from firstlight.analysis.path.processor import Processor, who_ran
from firstlight.analysis.path.steps import PathGraph, Step
from firstlight.analysis.path.thread_rows import CHARGED, ThreadPath
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
    part waited for in the part before: a kind of link, `serial`, or `inferred` where only the times suggest it),
    `grade`, `during` (what else was under way in a part that no step explains), `ran` (who had the processor in it, or
    what limited it where processor and disk were sampled), `before` and `after` (the lines of the log around a
    silence), `span`, `process`, `service` and `reason` (null without wake-ups).

    A part of kind `silence` is the time between two lines of the log in which no recorded step ran. Its name has the
    driver, device or program that wrote each line.

    Where the recorder followed the wake-ups, the path goes through threads, see
    :mod:`~firstlight.analysis.path.wakeups`. `process`, `service` and `track` are those of the thread on the path. A
    part of kind `running` is what it executed that no step names; `behind`: it could have run, and others had the
    processor; `waiting`: it slept until a timer or a device; `idle`: nothing ran, by what ended it. `reason` is what
    the thread slept for, by its stack in the kernel. `edge` is `woken`, `interrupt`, `created` or `serial`.

    Where it followed the switches alone, a part of kind `running` is what a thread executed that no step explains,
    by the thread's name, and `[waiting, cause unknown]` is idle time alone: all of the boot's."""
    steps: pl.DataFrame
    """Every step of the boot, the least slack first. Columns: `kind`, `name`, `track`, `start_ns`, `end_ns`,
    `duration_ns`, `slack_ns` (by how much it may end later before the goal is reached later; 0 on the critical path;
    null where nothing leads from it to the goal), `critical`, `span`."""
    unfinished: int
    """Spans without an end, which cannot be on the path."""
    without_start: int
    """Spans of which only the end is known, and which are not units: neither can they."""
    instants: int
    """Units on the path of which only the end is known: points, whose activation lies in the part before them."""
    processor: Processor
    """Who had the processor, where it is recorded."""
    load: SampledLoad
    """What limited the boot, where processor and disk were sampled."""
    threads: ThreadPath | None = None
    """The path through threads, where wake-ups were recorded."""

    @property
    def charged(self) -> pl.DataFrame:
        """What the path consists of, by program: see :attr:`~firstlight.analysis.path.thread_rows.ThreadPath.charged`.
        It has no rows where no wake-ups were recorded.
        """
        return pl.DataFrame(schema=CHARGED) if self.threads is None else self.threads.charged

    def text(self, start: int, end: int) -> str | None:
        """Who executed between two instants, or what limited the boot then; null where neither is recorded."""
        if self.threads is not None:
            return self.threads.text(start, end)
        return self.processor.text(start, end) or self.load.text(start, end)

    @property
    def ran(self) -> pl.DataFrame:
        """Who executed on the path, by name: see :func:`~firstlight.analysis.path.processor.who_ran`."""
        return who_ran(self.processor, self.rows)


def find_path(boot: Boot, to: str | None = None, *, charged: bool = True, woken: bool = True) -> CriticalPath:
    """The critical path of a boot from its first mark to a goal.

    :param to: a mark or a unit; when not given `ready`, else `startup_finished`, else the last mark.
    :param charged: divide the parts that no step explains by who had the processor, where that is recorded, otherwise
        by the lines of the log. Without, every boot has parts of the same kinds, and can be compared with another.
    :param woken: follow the wake-ups of threads, where they are recorded. Without, the path is the chain of steps.
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
    load = SampledLoad(boot)
    threads = None
    if charged and woken and processor.stretches and boot.table("wakeups").height:
        threads = ThreadPath(boot, processor, whole.first_ns, at)
        rows = framed(boot, threads.rows)
    else:
        rows = cover(boot, graph, chain, goal, whole.first_ns, processor, load if charged else None)
    free = _slack(graph, goal)
    critical = set(chain)
    own = [(number, step) for number, step in enumerate(graph.steps) if step.span >= 0]
    texts, numbers = dict.fromkeys(("kind", "name", "track"), pl.String), dict.fromkeys(("start", "end"), pl.Int64)
    columns = {name: pl.Series(name, [getattr(step, name) for _, step in own], dtype=kind)
               for name, kind in (texts | numbers | {"span": pl.Int64}).items()}  # fmt: skip
    steps = pl.DataFrame(columns).select(
        *texts,
        pl.col("start").alias("start_ns"),
        pl.col("end").alias("end_ns"),
        (pl.col("end") - pl.col("start")).alias("duration_ns"),
        pl.Series("slack_ns", [free[number] for number, _ in own], dtype=pl.Int64),
        pl.Series("critical", [number in critical for number, _ in own], dtype=pl.Boolean),
        "span",
    )
    steps = steps.sort("slack_ns", "start_ns", nulls_last=True)
    points = rows["span"].is_in(list(graph.instants)).sum()
    left = (graph.unfinished, graph.without_start)
    points = int(points or 0)
    return CriticalPath(name, at, whole.first, whole.first_ns, rows, steps, *left, points, processor, load, threads)


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

"""The critical path of a boot, the slack beside it, and what a change would do.

The model: a step begins a fixed lag after the last of those it waited for has ended, and takes its own duration. The
lag is what the record shows between the two: nobody knows its cause, so that no change takes it away. With it the
critical path method gives what is asked: the path is the chain of those that ended last, the slack of a step is by
how much it may end later before the goal is reached later, and a changed duration moves all that follows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.path_graph import INFERRED, PathGraph, Step, kernel_phases, path_graph
from firstlight.analysis.spans import spans_of
from firstlight.analysis.window import Window, window
from firstlight.boot.boot import Boot
from firstlight.boot.near import unknown_name

#: The name of a part of the path that no recorded step explains.
UNKNOWN = "[waiting, cause unknown]"

_MOST_EXPLAINED = 50

_ROWS: dict[str, pl.DataType | type[pl.DataType]] = {
    "kind": pl.String,
    "name": pl.String,
    "track": pl.String,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "duration_ns": pl.Int64,
    "edge": pl.String,
    "grade": pl.String,
    "during": pl.String,
    "span": pl.Int64,
}


@dataclass(frozen=True)
class CriticalPath:
    """The path from the first mark to a goal, and all steps with their slack."""

    goal: str
    goal_ns: int
    first: str
    first_ns: int
    rows: pl.DataFrame
    """In order of time; their `duration_ns` add up to `goal_ns - first_ns`."""
    steps: pl.DataFrame
    """All steps with `slack_ns`; null where nothing leads from a step to the goal."""
    unfinished: int
    """Spans without an end, which can be no part of a path."""


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


def critical_path(boot: Boot, to: str | None = None) -> pl.DataFrame:
    """The critical path from the first mark to a goal, in order of time; its parts add up exactly.

    Columns: `kind`, `name`, `track`, `start_ns`, `end_ns`, `duration_ns` (of this part of the path), `edge` (what the
    part waited for in the part before: a kind of link, `serial`, or `inferred` where only the times tell), `grade`,
    `during` (what else ran in a part whose cause is unknown), `span`.

    :param to: a mark or a unit; when not given `ready`, else `startup_finished`, else the last mark.
    :raises BundleError: when the boot has neither a mark nor a finished unit of that name.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> critical_path(boot)["duration_ns"].sum() == boot.manifest.totals.virtual_ns
    True
    """
    return find_path(boot, to).rows


def slack(boot: Boot, to: str | None = None) -> pl.DataFrame:
    """Every step of a boot with its slack to a goal, the least first.

    Columns: `kind`, `name`, `track`, `start_ns`, `end_ns`, `duration_ns`, `slack_ns` (by how much it may end later
    before the goal is reached later; 0 on the critical path; null where nothing leads from it to the goal), `critical`,
    `span`.

    :param to: as of :func:`critical_path`.
    """
    return find_path(boot, to).steps


def find_path(boot: Boot, to: str | None = None, graph: PathGraph | None = None) -> CriticalPath:
    """The critical path with everything about it; see :func:`critical_path` and :func:`slack`."""
    graph = path_graph(boot) if graph is None else graph
    whole = window(boot)
    name, goal = _goal(boot, graph, whole, to)
    at = graph.steps[goal].end
    chain = _chain(graph.steps, goal)
    rows = _cover(boot, graph, chain, goal, whole.first_ns)
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
    return CriticalPath(name, at, whole.first, whole.first_ns, rows, steps, graph.unfinished)


def what_if(boot: Boot, changes: Mapping[str, int], to: str | None = None) -> WhatIf:
    """When the goal would be reached if steps took longer or shorter.

    :param changes: nanoseconds by name of an initcall, device, unit or event; negative is shorter. A part of a step
        (a probe in an initcall) shortens the step. What has a name more than once is changed every time.
    :param to: as of :func:`critical_path`.
    :raises BundleError: when the boot has no step of a name.

    >>> import firstlight
    >>> what_if(firstlight.open(bundle), {"dh_init": -100_000_000}).change_ns
    -100000000
    """
    graph = path_graph(boot)
    for name in changes:
        unknown_name("step", name, graph.by_name.keys(), str(boot.path), "path --json")
    _, goal = _goal(boot, graph, window(boot), to)
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
    for number in _with_goal(graph, goal):
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


def _goal(boot: Boot, graph: PathGraph, whole: Window, to: str | None) -> tuple[str, int]:
    """The step that is the goal: a unit's, or one without length that stands for a mark."""
    marks = dict(boot.marks().filter(pl.col("time_ns").is_not_null()).select("mark", "time_ns").iter_rows())
    units = {step.name: number for number, step in enumerate(graph.steps) if step.kind == "unit"}
    reached = next((mark for mark in ("ready", "startup_finished") if mark in marks), None)
    if to is None and boot.manifest.failure is None and reached is not None:
        # What came after the boot was done, such as the rest of a log, is no goal.
        name, at = reached, marks[reached]
    elif to is None:
        name, at = whole.last, whole.last_ns
    elif to in marks:
        name, at = to, marks[to]
    else:
        unknown_name(
            "mark or unit", to, [*marks, *units], str(boot.path), "units" if len(units) > len(marks) else "show"
        )
        return to, units[to]
    goal = Step("goal", name, "", max(at, whole.first_ns), max(at, whole.first_ns), "good", -1)
    ended = [(step.end, number) for number, step in enumerate(graph.steps) if step.end <= at]
    # A unit is nearer to what a boot is for than any event that happens to end later.
    users = [entry for entry in ended if graph.steps[entry[1]].kind == "unit"]
    last = max(users or ended, default=None)
    if last is not None:
        goal.before.append((last[1], INFERRED))
    graph.steps.append(goal)
    return name, len(graph.steps) - 1


def _with_goal(graph: PathGraph, goal: int) -> list[int]:
    return graph.order if goal < len(graph.order) else [*graph.order, goal]


def _driver(steps: list[Step], number: int) -> tuple[int, str] | None:
    """The one that a step waited for longest: it ended last; of several, one that is recorded."""
    return max(steps[number].before, key=lambda edge: (steps[edge[0]].end, edge[1] != INFERRED, edge[0]), default=None)


def _chain(steps: list[Step], goal: int) -> list[int]:
    chain, seen = [goal], {goal}
    while (edge := _driver(steps, chain[-1])) is not None and edge[0] not in seen:
        chain.append(edge[0])
        seen.add(edge[0])
    return chain


def _slack(graph: PathGraph, goal: int) -> list[int | None]:
    steps = graph.steps
    latest: list[int | None] = [None] * len(steps)
    latest[goal] = steps[goal].end
    for number in reversed(_with_goal(graph, goal)):
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


def _cover(boot: Boot, graph: PathGraph, chain: list[int], goal: int, first: int) -> pl.DataFrame:
    """The path as parts without holes between them, in order of time."""
    phases = _Phases(boot)
    rows: list[dict[str, object]] = []
    at = graph.steps[goal].end
    for place, number in enumerate(chain):
        step = graph.steps[number]
        edge = _driver(graph.steps, number)
        told = edge[1] if edge is not None and place + 1 < len(chain) else None
        begin = min(max(step.start, first), at)
        shown = step.span >= 0
        if shown and step.end >= first:
            rows.append(
                {"kind": step.kind, "name": step.name, "track": step.track, "start_ns": begin, "end_ns": at,
                 "edge": told, "grade": step.grade, "span": step.span}
            )  # fmt: skip
        before = graph.steps[chain[place + 1]].end if place + 1 < len(chain) else first
        before = min(max(before, first), begin)
        why = step.name if step.kind == "async_wait" else UNKNOWN
        rows.extend(phases.cover(before, begin, why))
        at = before
        if at <= first:
            break
    for row in rows:
        row["duration_ns"] = row["end_ns"] - row["start_ns"]  # type: ignore[operator]
        row.setdefault("during", None)
    rows.reverse()
    _explain(boot, rows)
    return pl.DataFrame(rows, schema=_ROWS)


class _Phases:
    """The phases of the kernel, which follow one another whatever ran in them."""

    def __init__(self, boot: Boot) -> None:
        self.kernel, _ = kernel_phases(boot)
        self._starts = [start for _, start, _ in self.kernel]

    def cover(self, start: int, end: int, why: str) -> list[dict[str, object]]:
        """The time between two instants in parts, the last one first."""
        rows: list[dict[str, object]] = []

        def part(name: str, kind: str, begin: int, finish: int) -> None:
            edge = "serial" if kind == "phase" else None
            rows.append({"kind": kind, "name": name, "track": "", "start_ns": begin, "end_ns": finish, "edge": edge,
                         "grade": None, "span": None})  # fmt: skip

        at = start
        place = max(0, bisect_right(self._starts, start) - 1)
        while at < end:
            name, begin, finish = self.kernel[place] if place < len(self.kernel) else ("", end, end)
            if begin > at:
                part(why, "waiting", at, min(begin, end))
                at = min(begin, end)
            elif finish > at:
                waits = why != UNKNOWN
                part(why if waits else name, "waiting" if waits else "phase", at, min(finish, end))
                at = min(finish, end)
            place += 1
        rows.reverse()
        return rows


def _explain(boot: Boot, rows: list[dict[str, object]]) -> None:
    """Say of the longest parts of unknown cause what else ran then."""
    gaps = [row for row in rows if row["name"] == UNKNOWN or row["kind"] == "phase"]
    gaps.sort(key=lambda row: -row["duration_ns"])  # type: ignore[operator]
    running = spans_of(boot, "initcall", "probe", "async", "uevent_service", "unit", "process", "console")
    for row in gaps[:_MOST_EXPLAINED]:
        row["during"] = ran_between(running, row["start_ns"], row["end_ns"])  # type: ignore[arg-type]


def ran_between(spans: pl.DataFrame, start: int, end: int, most: int = 3) -> str | None:
    """The spans that ran longest between two instants, as one text; those that never ended come last.

    >>> import polars as pl
    >>> spans = pl.DataFrame({"kind": ["unit"], "name": ["a.service"], "start_ns": [0], "end_ns": [9]})
    >>> ran_between(spans, 5, 8), ran_between(spans, 9, 20)
    ('unit a.service', None)
    """
    share = pl.min_horizontal(pl.col("end_ns").fill_null(end), end) - pl.max_horizontal("start_ns", start)
    found = (
        spans.filter((pl.col("start_ns") < end) & (pl.col("end_ns").fill_null(end) > start))
        .select("kind", "name", pl.col("end_ns").is_null().alias("open"), share.alias("share"))
        .group_by("kind", "name", "open", maintain_order=True)
        .agg(pl.col("share").max())
        .sort("open", "share", descending=[False, True], maintain_order=True)
    )
    if found.is_empty():
        return None
    text = ", ".join(
        f"{kind} {name}{' (no end)' if unended else ''}" for kind, name, unended, _ in found.head(most).iter_rows()
    )
    return text if found.height <= most else f"{text} and {found.height - most} more"

"""The critical path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import polars as pl

from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.path.fold import folded
from firstlight.analysis.path.what_if import WhatIf
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.quantities import counted, joined, share, time_text
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import Block, Heading, Line
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import grade_mark, heading, heading_data

_BAR = 20
#: So many names of threads have a line of their own.
_MOST_NAMES = 12

_LOADS = ["duration_ns", "cpu_ns", "disk_ns", "idle_ns"]

_EXPLAINED = ["The parts add up to the total. `inferred`: only the times suggest this edge."]
_THREADS = [
    "The parts add up to the total. A part of kind process is the time in one program: its turns and its waits.",
]
_SILENCE = "A silence is the time between two lines of the log: an upper bound for the work of both writers."


def path_data(boot: Boot, path: CriticalPath, limit: int | None, what_if: WhatIf | None) -> dict[str, Any]:
    """The path as data.

    :param limit: maximum number of steps; all of them when not given.
    :param what_if: as of :func:`path_report`.
    """
    data = heading_data(boot, Window(path.first, path.first_ns, path.goal, path.goal_ns)) | {
        "path": folded(path).to_dicts(),
        "processor": path.ran.to_dicts(),
        "charged": path.charged.to_dicts(),
        "load": path.load.intervals.to_dicts(),
        "steps": (path.steps if limit is None else path.steps.head(limit)).to_dicts(),
        "unfinished": path.unfinished,
        "without_start": path.without_start,
    }
    if what_if is not None:
        data["what_if"] = asdict(replace(what_if, rows=what_if.rows.to_dicts()))  # type: ignore[arg-type]
    return data


def path_report(boot: Boot, path: CriticalPath, limit: int, what_if: WhatIf | None) -> Iterator[Block]:
    """The path from the first mark to its goal, then the steps with the least slack.

    :param limit: maximum number of parts with a line of their own, the longest ones; the others are folded.
    :param what_if: what a change would do, where one was asked for.
    """
    yield from heading(boot, "Critical path", Window(path.first, path.first_ns, path.goal, path.goal_ns))
    length = path.goal_ns - path.first_ns
    rows = folded(path, limit)
    sums = int(path.rows["duration_ns"].sum())
    ran = Column("Ran", value=lambda row: row["ran"] if row["ran"] != row["name"] else "", wide=120, longest=60)
    yield table(
        "",
        [
            Column("At", "time", "start_ns"),
            Column("Takes", "time", "duration_ns", style="bold"),
            Column("", value=lambda row: grade_mark(row["grade"]) if row["grade"] else "", name="", longest=1),
            Column("Share", "share", lambda row: share(row["duration_ns"], length), wide=60),
            Column("", "picture", lambda row: Bar(share(row["duration_ns"], length), _BAR), style="blue", wide=50),
            Column("Kind", value="kind", longest=12, wide=70),
            Column("Part", value="name", style="cyan"),
            *(
                [Column("Service", value="service", wide=90, longest=32)]
                if rows["service"].null_count() < rows.height
                else []
            ),
            Column("Edge", value=_edge, name="edge", wide=100, longest=40),
            *([ran] if rows["ran"].null_count() < rows.height else []),
            Column("Meanwhile", value="during", wide=130, longest=60),
        ],
        rows.to_dicts(),
        footer=[{"duration_ns": sums, "Share": share(sums, length)}],
        notes=(_EXPLAINED if path.threads is None else _THREADS) + ([_SILENCE] if "silence" in rows["kind"] else []),
    )
    yield from _notes(path)
    yield from _who_ran(path) if path.charged.is_empty() else _charged(path)
    yield from _limited(path)
    yield from _beside(path)
    if what_if is not None:
        yield from _what_if(path, what_if)


def _edge(row: dict[str, Any]) -> str | None:
    """How a part follows the one before it; a thread that had slept, with what it had slept for."""
    woken = row["edge"] in ("woken", "interrupt") and row["reason"]
    return f"{row['edge']} from {row['reason']}" if woken else row["edge"]


def _charged(path: CriticalPath) -> Iterator[Block]:
    """What the path consists of by program, where wake-ups were recorded."""
    charged = path.charged
    length = path.goal_ns - path.first_ns
    figures = ("ran_ns", "ahead_ns", "waited_ns", "idle_ns", "total_ns")
    rest = charged.slice(_MOST_NAMES)
    records: list[dict[str, Any]] = charged.head(_MOST_NAMES).to_dicts()
    if not rest.is_empty():
        records.append({**{name: int(rest[name].sum()) for name in figures}, "service": None,
                        "name": f"({rest.height:,} more)"})  # fmt: skip
    yield table(
        "The recorded path, by program",
        [
            Column("Total", "time", "total_ns", style="bold"),
            Column("Share", "share", lambda row: share(row["total_ns"], length), wide=50),
            Column("ran", "time", "ran_ns"),
            Column("ran ahead", "time", "ahead_ns"),
            Column("waited", "time", "waited_ns", wide=70),
            Column("idle", "time", "idle_ns", wide=70),
            Column("Program", value="name", style="cyan"),
            Column("Service", value="service", wide=90, longest=32),
        ],
        records,
        footer=[{**{name: int(charged[name].sum()) for name in figures}, "Share": share(length, length)}],
        notes=[
            "ran: as the thread on the path. ran ahead: while the thread on the path could have run.",
            "waited: the thread on the path slept until a timer or a device.",
        ],
    )


def _who_ran(path: CriticalPath) -> Iterator[Block]:
    ran = path.ran
    if ran.is_empty():
        return
    length = path.goal_ns - path.first_ns
    more, idle = ran.slice(_MOST_NAMES), length - int(ran["run_ns"].sum())
    records: list[dict[str, Any]] = ran.head(_MOST_NAMES).to_dicts()
    if not more.is_empty():
        sums = {column: int(more[column].sum()) for column in ("run_ns", "unexplained_ns", "threads")}
        records.append({**sums, "kind": "", "name": f"({more.height:,} more)"})
    records.append({"run_ns": idle, "unexplained_ns": "", "threads": "", "kind": "", "name": "(idle)"})
    whole = {"run_ns": length, "Share": share(length, length), "unexplained_ns": int(ran["unexplained_ns"].sum())}
    yield table(
        "Who had the processor on the path",
        [
            Column("Executed", "time", "run_ns", style="bold"),
            Column("Share", "share", lambda row: share(row["run_ns"], length), wide=50),
            Column("unexplained", "time", "unexplained_ns", wide=70),
            Column("Threads", "count", "threads", wide=60),
            Column("Kind", value="kind", longest=12, wide=60),
            Column("Name", value="name", style="cyan"),
        ],
        records,
        footer=[whole],
        notes=["Unexplained: executed in parts of kind `running`, without a recorded step on the path."],
    )


def _notes(path: CriticalPath) -> Iterator[Line]:
    """What of the record is not part of the path, or only a point on it."""
    for number, text in (
        (path.unfinished, _not_on_the_path(path.unfinished, "end")),
        (path.without_start, _not_on_the_path(path.without_start, "start")),
        (path.instants, "Units that are points, because only the time when they were up is known: {:,}. Their start is "
                        "in the part before."),
    ):  # fmt: skip
        if number:
            yield Line(text.format(number), "dim", wrap=False)


def _not_on_the_path(number: int, lacks: str) -> str:
    """What is said of spans that lack an instant.

    >>> _not_on_the_path(1, "end"), _not_on_the_path(3_000, "start")
    ('1 span has no end, so it cannot be on the path.', '3,000 spans have no start, so they cannot be on the path.')
    """
    subject = f"1 span has no {lacks}, so it" if number == 1 else f"{number:,} spans have no {lacks}, so they"
    return f"{subject} cannot be on the path."


def _limited(path: CriticalPath) -> Iterator[Block]:
    """What limited the boot, in sum and in its longest intervals, where processor and disk were sampled."""
    intervals = path.load.intervals
    if intervals.is_empty():
        return
    length = int(intervals["duration_ns"].sum())
    figures = [
        Column("Takes", "time", "duration_ns", style="bold"),
        Column("Share", "share", lambda row: share(row["duration_ns"], length), wide=60),
        Column("CPU", "time", "cpu_ns", wide=70),
        Column("disk", "time", "disk_ns", wide=70),
        Column("idle", "time", "idle_ns", wide=70),
        Column("Limited by", value="bound", style="cyan"),
    ]
    sums = (
        intervals.group_by("bound", maintain_order=True).agg(pl.col(_LOADS).sum()).sort("duration_ns", descending=True)
    )
    yield table(
        "What limited the boot",
        figures,
        sums.to_dicts(),
        footer=[intervals.select(pl.col(_LOADS).sum()).to_dicts()[0] | {"bound": "all"}],
        notes=["CPU: a processor executed. disk: processors idled while a task waited for a disk. idle: neither."],
    )
    longest = intervals.sort("duration_ns", descending=True).head(_MOST_NAMES).sort("start_ns")
    rest = {name: int(intervals[name].sum()) - int(longest[name].sum()) for name in _LOADS}
    yield table(
        "Longest intervals with one limit",
        [Column("At", "time", "start_ns"), *figures],
        longest.to_dicts(),
        left_out=rest | {"bound": f"({intervals.height - longest.height:,} shorter)"}
        if intervals.height > longest.height
        else None,
    )


def _beside(path: CriticalPath) -> Iterator[Block]:
    near = path.steps.filter(~pl.col("critical") & pl.col("slack_ns").is_not_null())
    nothing = path.steps["slack_ns"].null_count()
    if near.height:
        yield table(
            "Least slack next to the path",
            [
                Column("Slack", "time", "slack_ns", style="bold"),
                Column("Takes", "time", "duration_ns"),
                Column("Start", "time", "start_ns", wide=70),
                Column("Kind", value="kind", longest=12, wide=60),
                Column("Step", value="name", style="cyan"),
            ],
            near.head(10).iter_rows(named=True),
            left_out={"slack_ns": f"{near.height - 10:,} more"} if near.height > 10 else None,
        )
    if nothing:
        lead = "does not lead to the goal, so it has" if nothing == 1 else "do not lead to the goal, so they have"
        yield Line(f"{counted(nothing, 'step')} {lead} no slack.", "dim", wrap=False)


def _what_if(path: CriticalPath, change: WhatIf) -> Iterator[Block]:
    yield Heading("What if")
    for name, applied in change.changes:
        yield Line(f"  {name} takes {_signed(applied)}", wrap=False)
    text = f"  {path.goal} at {time_text(change.goal_ns)} instead of {time_text(path.goal_ns)}: "
    yield Line([(text, ""), (_signed(change.change_ns), "bold")], wrap=False)
    before = {*path.rows["name"], *path.steps.filter("critical")["name"]}
    if new := [name for name in change.rows["name"].to_list() if name not in before and name != path.goal]:
        yield Line(f"  then on the path: {joined(new, 8)}", wrap=False)


def _signed(ns: int) -> str:
    return f"{time_text(abs(ns))} {'less' if ns < 0 else 'more'}" if ns else "as long as before"

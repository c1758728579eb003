"""The critical path in the terminal."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.path.processor import Processor, ran_text
from firstlight.analysis.path.what_if import WhatIf
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.quantities import share, share_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_line
from firstlight.render.views.heading import grade_mark, print_heading

_BAR = 20
#: So many names of threads have a line of their own.
_MOST_NAMES = 12


def print_path(out: Console, boot: Boot, path: CriticalPath, limit: int, what_if: WhatIf | None) -> None:
    """Print the path from the first mark to its goal, then what lies nearest beside it.

    :param limit: so many parts, the longest, have a line of their own; what lies between stands together.
    :param what_if: what a change would do, where one was asked for.
    """
    whole = Window(path.first, path.first_ns, path.goal, path.goal_ns)
    print_heading(out, boot, "Critical path", whole)
    length = path.goal_ns - path.first_ns
    charged = bool(path.processor.stretches)
    columns = [
        Column("At", number=True),
        Column("Takes", number=True, style="bold"),
        Column("", longest=1),
        Column("Share", number=True, wide=60),
        Column("", wide=110, style="blue"),
        Column("Kind", longest=12, wide=70),
        Column("Part", style="cyan"),
        Column("after the one before, by", wide=100, longest=12),
        *([Column("ran", wide=120, longest=60)] if charged else []),
        Column("meanwhile", wide=130, longest=60),
    ]
    body = [
        [
            time_text(row["start_ns"]),
            time_text(row["duration_ns"]),
            grade_mark(row["grade"]) if row["grade"] else "",
            share_text(row["duration_ns"], length),
            bar(share(row["duration_ns"], length) or 0.0, _BAR, is_unicode(out)),
            row["kind"],
            row["name"],
            row["edge"] or "",
            *([row["ran"] or "" if row["ran"] != row["name"] else ""] if charged else []),
            row["during"] or "",
        ]
        for row in gathered(path.rows, limit, path.processor)
    ]
    sums = int(path.rows["duration_ns"].sum())
    print_table(
        out, columns, body, [["", time_text(sums), "", share_text(sums, length), *[""] * (6 if charged else 5)]]
    )
    note = "The parts add up to the total. `inferred`: only the times suggest this edge."
    print_line(out, Text(note, style="dim"))
    _notes(out, path)
    _who_ran(out, path)
    _beside(out, path)
    if what_if is not None:
        _what_if(out, path, what_if)


def _who_ran(out: Console, path: CriticalPath) -> None:
    ran = path.ran
    if ran.is_empty():
        return
    length = path.goal_ns - path.first_ns
    print_line(out)
    print_line(out, Text("Who had the processor on the path", style="bold underline"))
    columns = [
        Column("Executed", number=True, style="bold"),
        Column("Share", number=True, wide=50),
        Column("unexplained", number=True, wide=70),
        Column("Threads", number=True, wide=60),
        Column("Kind", longest=12, wide=60),
        Column("Name", style="cyan"),
    ]
    rows = [
        [time_text(ns), share_text(ns, length), time_text(unexplained), f"{threads:,}", kind, name]
        for name, kind, threads, ns, unexplained in ran.head(_MOST_NAMES).iter_rows()
    ]
    more = ran.slice(_MOST_NAMES)
    if not more.is_empty():
        sums = [int(more[column].sum()) for column in ("run_ns", "unexplained_ns", "threads")]
        rows.append([time_text(sums[0]), share_text(sums[0], length), time_text(sums[1]), f"{sums[2]:,}", "",
                     f"({more.height:,} more)"])  # fmt: skip
    idle = length - int(ran["run_ns"].sum())
    rows.append([time_text(idle), share_text(idle, length), "", "", "", "(idle)"])
    whole = [time_text(length), share_text(length, length), time_text(int(ran["unexplained_ns"].sum())), "", "", ""]
    print_table(out, columns, rows, [whole])
    note = "Unexplained: executed in parts of kind `running`, in which no recorded step was on the path."
    print_line(out, Text(note, style="dim"))


def _notes(out: Console, path: CriticalPath) -> None:
    """What of the record is no part of the path, or only a point on it."""
    for number, text in (
        (path.unfinished, _not_on_the_path(path.unfinished, "end")),
        (path.without_start, _not_on_the_path(path.without_start, "start")),
        (path.instants, "Units that are points, because only when they were up is known: {:,}. What their start took "
                        "lies in the part before."),
    ):  # fmt: skip
        if number:
            print_line(out, Text(text.format(number), style="dim"))


def _not_on_the_path(number: int, lacks: str) -> str:
    """What is said of spans that lack an instant.

    >>> _not_on_the_path(1, "end"), _not_on_the_path(3_000, "start")
    ('1 span has no end, so it cannot be on the path.', '3,000 spans have no start, so they cannot be on the path.')
    """
    subject = f"1 span has no {lacks}, so it" if number == 1 else f"{number:,} spans have no {lacks}, so they"
    return f"{subject} cannot be on the path."


def gathered(rows: pl.DataFrame, limit: int, processor: Processor) -> list[dict[str, Any]]:
    """The path with its *limit* longest parts one by one, and what lies between them as one part each.

    :param processor: who had the processor in what stands together.
    """
    table = rows.to_dicts()
    kept = set(sorted(range(len(table)), key=lambda number: -table[number]["duration_ns"])[:limit])
    shown: list[dict[str, Any]] = []
    run: list[dict[str, Any]] = []
    for number, row in enumerate([*table, None]):
        if row is None or number in kept:
            if len(run) == 1:
                shown.append(run[0])
            elif run:
                took = sum(part["duration_ns"] for part in run)
                ran = ran_text(processor.who(run[0]["start_ns"], run[-1]["end_ns"])) if processor.stretches else None
                shown.append({"start_ns": run[0]["start_ns"], "duration_ns": took, "grade": None, "kind": "",
                              "name": f"({len(run):,} smaller)", "edge": None, "during": None, "ran": ran})  # fmt: skip
            run = []
            if row is not None:
                shown.append(row)
        else:
            run.append(row)
    return shown


def _beside(out: Console, path: CriticalPath) -> None:
    near = path.steps.filter(~pl.col("critical") & pl.col("slack_ns").is_not_null())
    nothing = path.steps["slack_ns"].null_count()
    if near.is_empty():
        _leads_nowhere(out, nothing)
        return
    print_line(out)
    print_line(out, Text("Least slack beside the path", style="bold underline"))
    columns = [
        Column("Slack", number=True, style="bold"),
        Column("Takes", number=True),
        Column("Start", number=True, wide=70),
        Column("Kind", longest=12, wide=60),
        Column("Step", style="cyan"),
    ]
    rows = [
        [
            time_text(row["slack_ns"]),
            time_text(row["duration_ns"]),
            time_text(row["start_ns"]),
            row["kind"],
            row["name"],
        ]
        for row in near.head(10).iter_rows(named=True)
    ]
    footer = [[f"{near.height - 10:,} more", *[""] * 4]] if near.height > 10 else []
    print_table(out, columns, rows, footer)
    _leads_nowhere(out, nothing)


def _leads_nowhere(out: Console, nothing: int) -> None:
    if nothing:
        print_line(out, Text(f"From {nothing:,} steps nothing leads to the goal: they have no slack.", style="dim"))


def _what_if(out: Console, path: CriticalPath, change: WhatIf) -> None:
    print_line(out)
    print_line(out, Text("What if", style="bold underline"))
    for name, applied in change.changes:
        print_line(out, f"  {name} takes {_signed(applied)}")
    text = f"  {path.goal} at {time_text(change.goal_ns)} instead of {time_text(path.goal_ns)}: "
    print_line(out, Text.assemble(text, (_signed(change.change_ns), "bold")))
    before = set(path.rows["name"].to_list())
    new = [name for name in change.rows["name"].to_list() if name not in before and name != path.goal]
    if new:
        print_line(out, f"  then on the path: {', '.join(new[:8])}" + (f" and {len(new) - 8} more" if new[8:] else ""))


def _signed(ns: int) -> str:
    return f"{time_text(abs(ns))} {'less' if ns < 0 else 'more'}" if ns else "as long as before"

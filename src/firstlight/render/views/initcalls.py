"""Initcalls in the terminal."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.initcalls import OUTSIDE, never_returned, remarks
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import count_text, share, share_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_line
from firstlight.render.views.heading import grade_mark, print_grades, print_heading, timeline

_BAR = 24


def print_initcalls(out: Console, boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, levels: pl.DataFrame) -> None:
    """Print initcalls, and below a rule what was left out, what lies outside of all, and the phase.

    :param left_out: rows that are not shown one by one.
    :param levels: the table of levels; its last rows are the sums.
    """
    print_heading(out, boot, "Initcalls")
    columns = [
        Column("Function", style="cyan"),
        Column("Level", wide=60),
        Column("Start", number=True, wide=70),
        Column("Duration", number=True, style="bold"),
        Column("", longest=1),
        Column("Returned", number=True, wide=100),
        Column("Probes", number=True, wide=80),
        Column("in probes", number=True, wide=80),
        Column("Self", number=True),
        Column("", wide=130, style="blue", picture=True),
    ]
    whole = window(boot)
    body = [
        [
            row["function"] if row["module"] is None else f"{row['function']} [{row['module']}]",
            row["level"] or "-",
            time_text(row["start_ns"]),
            time_text(row["duration_ns"]),
            grade_mark(row["grade"]),
            _returned(row),
            count_text(row["probes"]),
            time_text(row["probes_ns"]) if row["probes"] else "",
            time_text(row["self_ns"]),
            timeline(row["start_ns"], row["end_ns"], whole, _BAR, is_unicode(out)),
        ]
        for row in rows.iter_rows(named=True)
    ]
    footer = []
    if left_out.height:
        known = left_out["duration_ns"].sum() if left_out["duration_ns"].count() else None
        footer.append([f"({left_out.height:,} more, added up)", "", "", time_text(known), *[""] * 6])  # type: ignore[arg-type]
    outside, phase = (levels.filter(pl.col("level") == name).row(0, named=True) for name in (OUTSIDE, "all"))
    footer.append([OUTSIDE, "", "", time_text(outside["wall_ns"]), *[""] * 6])
    footer.append(["the initcalls' phase", "", time_text(phase["start_ns"]), time_text(phase["wall_ns"]), "", "",
                   count_text(phase["probes"]), "", "", ""])  # fmt: skip
    print_table(out, columns, body, footer)
    _below(out, phase)
    _hung(out, pl.concat([rows, left_out]))
    _remarks(out, boot)
    print_grades(out, pl.concat([rows, left_out]))


def print_levels(out: Console, boot: Boot, levels: pl.DataFrame, calls: pl.DataFrame) -> None:
    """Print what the initcalls of each level took; the last two lines are the rest of the phase, and the phase."""
    print_heading(out, boot, "Initcalls by level")
    columns = [
        Column("Level", style="cyan", longest=40, picture=True),
        Column("Initcalls", number=True, wide=50),
        Column("Start", number=True, wide=105),
        Column("End", number=True, wide=112),
        Column("Wall", number=True, style="bold"),
        Column("Share", number=True, wide=40),
        Column("Sum", number=True, wide=60),
        Column("Probes", number=True, wide=80),
        Column("Unknown", number=True, wide=90),
        Column("", wide=100, style="blue", picture=True),
    ]
    phase = levels.row(-1, named=True)
    lines = []
    for row in levels.iter_rows(named=True):
        outside = _outside(row, phase)
        part = None if outside else share(row["phase_ns"], phase["wall_ns"])
        lines.append(
            [
                row["level"] or "(level unknown)",
                count_text(row["initcalls"]) if row["initcalls"] is not None else "",
                time_text(row["start_ns"]) if row["initcalls"] is not None else "",
                time_text(row["end_ns"]) if row["initcalls"] is not None else "",
                time_text(row["wall_ns"]),
                outside or share_text(row["phase_ns"], phase["wall_ns"]),
                time_text(row["sum_ns"]) if row["initcalls"] is not None else "",
                count_text(row["probes"]) if row["initcalls"] is not None else "",
                count_text(row["unknown"]) if row["unknown"] else "",
                bar(part or 0.0, _BAR, is_unicode(out)) if row["level"] != "all" else "",
            ]
        )
    print_table(out, columns, lines[:-2], lines[-2:])
    _below(out, phase)
    _hung(out, calls)
    print_grades(out, calls)


def _returned(row: dict[str, Any]) -> str:
    if row["returned"] is not None:
        return str(row["returned"])
    return "never" if row["end_ns"] is None and row["grade"] == "bounded" and row["duration_ns"] is not None else "-"


def _outside(row: dict[str, int | None], phase: dict[str, int | None]) -> str:
    """Whether a level ran before the phase that the shares are of, or behind it."""
    if None in (row["start_ns"], row["end_ns"], phase["start_ns"], phase["end_ns"]):
        return ""
    if row["end_ns"] <= phase["start_ns"]:  # type: ignore[operator]
        return "earlier"
    return "later" if row["start_ns"] >= phase["end_ns"] else ""  # type: ignore[operator]


def _hung(out: Console, calls: pl.DataFrame) -> None:
    """Say which initcalls the boot hung in: what never returned says more than any figure."""
    for row in calls.filter(never_returned()).sort("start_ns").head(5).iter_rows(named=True):
        text = f"{printable(row['function'], 80)} never returned: it began at {time_text(row['start_ns'])}"
        print_line(out, Text(f"{text}, and {time_text(row['duration_ns'])} later the record ends.", style="bold red"))


def _remarks(out: Console, boot: Boot) -> None:
    """Say which returned with a warning, and which were never called."""
    told = remarks(boot)
    for row in told.get("warnings", [])[:5]:
        text = f"{printable(row['function'], 80)} returned with {printable(row['warning'], 80)}."
        print_line(out, Text(text, style="yellow"))
    names = told.get("blacklisted", [])
    if names:
        text = ", ".join(printable(name, 80) for name in names[:5])
        more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
        print_line(out, Text(f"Blacklisted on the command line, and never called: {text}{more}.", style="yellow"))


def _below(out: Console, phase: dict[str, int | None]) -> None:
    if phase["wall_ns"] is not None:
        print_line(
            out,
            Text(
                "Wall is the time between the stamps, what ran side by side once; Sum adds every duration.", style="dim"
            ),
        )
    if phase["unknown"]:
        text = f"{phase['unknown']:,} of {phase['initcalls']:,} initcalls have no duration; Sum lacks them."
        print_line(out, Text(text, style="dim"))

"""Initcalls in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.initcall_sums import APART, STAMPS, InitcallSums, place
from firstlight.analysis.initcalls import OTHER_LEVELS, OUTSIDE, never_returned, remarks
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import count_text, share, share_text, signed_time, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_line
from firstlight.render.views.heading import grade_mark, print_grades, print_heading, timeline

_BAR = 24


def print_initcalls(
    out: Console, boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, sums: InitcallSums | None, level: str | None
) -> None:
    """Print initcalls, below a rule their sum, and of those of all levels what leads from there to their phase.

    :param left_out: rows that are not shown one by one.
    :param sums: of the initcalls of all levels; none where no instant is known.
    :param level: the only level that the rows are of; none for all.
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
            _level(row, sums),
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
    shown = pl.concat([rows, left_out])
    known = shown["duration_ns"].sum() if shown["duration_ns"].count() else None
    probes = None if shown["probes"].null_count() else shown["probes"].sum()
    what = "all initcalls" if level is None else f"all of level {level}"
    footer.append([what, f"{shown.height:,}", "", time_text(known), "", "", count_text(probes), "", "", ""])  # type: ignore[arg-type]
    if level is None and sums is not None:
        footer += [[*figures, *[""] * 6] for figures in _to_the_phase(sums)]
    print_table(out, columns, body, footer)
    _lacking(out, shown["duration_ns"].null_count(), shown.height, "the sum lacks")
    _hung(out, shown)
    _remarks(out, boot)
    print_grades(out, shown)


def _to_the_phase(sums: InitcallSums) -> Iterator[tuple[str, str, str, str]]:
    """What leads from the sum of all durations to the phase: what it is, how many initcalls, start and time."""
    if sums.apart:
        yield APART, f"{sums.apart:,}", "", signed_time(-sums.apart_ns)
    if sums.stamps_ns:
        yield STAMPS, "", "", signed_time(sums.stamps_ns)
    yield OUTSIDE, "", "", signed_time(sums.outside_ns)
    yield "the initcalls' phase", "", time_text(sums.phase[0]), time_text(sums.phase[1] - sums.phase[0])


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
    if phase["wall_ns"] is not None:
        print_line(out, Text("Wall counts overlapping time once; Sum adds every duration.", style="dim"))
    _lacking(out, phase["unknown"], phase["initcalls"], "Sum lacks")
    _hung(out, calls)
    print_grades(out, calls)


def _level(row: dict[str, Any], sums: InitcallSums | None) -> str:
    """The level, and where the initcall lies when it is not in the phase."""
    where = place(row["start_ns"], row["end_ns"], sums.phase) if sums is not None else ""
    return (row["level"] or "-") + (f", {where}" if where else "")


def _returned(row: dict[str, Any]) -> str:
    if row["returned"] is not None:
        return str(row["returned"])
    return "never" if row["end_ns"] is None and row["grade"] == "bounded" and row["duration_ns"] is not None else "-"


def _outside(row: dict[str, Any], phase: dict[str, Any]) -> str:
    """Whether a level ran before the phase that the shares are of, or behind it."""
    if row["level"] == OTHER_LEVELS or phase["start_ns"] is None or phase["end_ns"] is None:
        return ""
    return place(row["start_ns"], row["end_ns"], (phase["start_ns"], phase["end_ns"]))


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


def _lacking(out: Console, unknown: int, initcalls: int, what: str) -> None:
    if unknown:
        verb = "has" if unknown == 1 else "have"
        text = f"{unknown:,} of {initcalls:,} initcalls {verb} no duration; {what} {'it' if unknown == 1 else 'them'}."
        print_line(out, Text(text, style="dim"))

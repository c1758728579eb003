"""Units of systemd in the terminal."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.units import LATER
from firstlight.analysis.window import Window, window
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import share, share_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_line
from firstlight.render.views.heading import grade_mark, print_grades, print_heading, timeline

_BAR = 30


def print_units(
    out: Console, boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, stages: pl.DataFrame, failed: list[str]
) -> None:
    """Print the stages, the units with waiting against working, and what failed or did not finish."""
    print_heading(out, boot, "Units")
    if not stages.is_empty():
        _stages(out, boot, stages)
        print_line(out)
    if rows.height or left_out.height:
        _units(out, boot, rows, left_out)
    every = pl.concat([rows, left_out])
    unfinished = every.filter(pl.col("state") == "unfinished")["unit"].to_list()
    later = every.filter(pl.col("reason").str.starts_with(LATER))["unit"].to_list()
    for names, text in (
        (failed, "Failed"),
        (unfinished, "Not finished"),
        (later, "Began after the start-up had finished, no part of it"),
    ):
        if names:
            listed = ", ".join(printable(name, 80) for name in names[:20])
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            print_line(out, Text(f"{text}: {listed}{more}", style="bold red" if text == "Failed" else "yellow"))
    print_grades(out, every)


def _stages(out: Console, boot: Boot, stages: pl.DataFrame) -> None:
    tops = stages.filter(pl.col("part_of").is_null())
    whole = int(tops["duration_ns"].sum()) if tops["duration_ns"].null_count() == 0 else None
    columns = [
        Column("Stage", style="cyan", longest=40),
        Column("Start", number=True, wide=60),
        Column("Duration", number=True, style="bold"),
        Column("", longest=1),
        Column("Share", number=True, wide=60),
        Column("", wide=90, style="blue", picture=True),
    ]
    body = []
    for row in stages.iter_rows(named=True):
        part = share(row["duration_ns"], whole)
        top = row["part_of"] is None
        body.append(
            [
                row["stage"] if top else f"  {row['stage']}",
                time_text(row["start_ns"]),
                time_text(row["duration_ns"]),
                grade_mark(row["grade"]),
                share_text(row["duration_ns"], whole),
                bar(part or 0.0, _BAR, is_unicode(out)) if top else "",
            ]
        )
    print_table(out, columns, body, [["all", "", time_text(whole), "", share_text(whole, whole), ""]])


def _units(out: Console, boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> None:
    columns = [
        Column("Unit", style="cyan"),
        Column("Start", number=True, wide=70),
        Column("Waiting", number=True),
        Column("ordered", number=True, wide=110),
        Column("held", number=True, wide=110),
        Column("Activation", number=True, style="bold"),
        Column("", longest=1),
        Column("main", number=True, wide=130),
        Column("waited for", wide=90, longest=50),
        Column("State", longest=14, wide=60),
        Column("", wide=150, picture=True),
    ]
    whole = window(boot)
    body = [
        [
            row["unit"],
            time_text(row["start_ns"]),
            time_text(row["waiting_ns"]),
            time_text(row["ordered_ns"]),
            _held(row),
            time_text(row["duration_ns"]),
            grade_mark(row["grade"]),
            time_text(row["main_ns"]) if row["main_ns"] is not None else "",
            row["waited_for"] or "",
            row["state"] or "-",
            _waterfall(row, whole, is_unicode(out)),
        ]
        for row in rows.iter_rows(named=True)
    ]
    footer = [[f"({left_out.height:,} more)", *[""] * 10]] if left_out.height else []
    print_table(out, columns, body, footer)
    for text in (
        "Waiting: from the start of the stage to the unit's own; ordered: for the units before it; held: from then on.",
        "Activation: what its start then took. h: a device, which waited for its hardware and does no work.",
    ):
        print_line(out, Text(text, style="dim"))


def _held(row: dict[str, Any]) -> str:
    """What of the waiting no unit explains; of a device the part before its activation, in which it waited, too."""
    if row["type"] != "device":
        return time_text(row["held_ns"])
    known = row["waiting_ns"] is not None and row["ordered_ns"] is not None
    return f"h {time_text(row['waiting_ns'] - row['ordered_ns'] if known else None)}"


def _waterfall(row: dict[str, Any], whole: Window, unicode: bool) -> str:
    """Waiting as dots, then the activation."""
    active = timeline(row["start_ns"], row["end_ns"], whole, _BAR, unicode)
    if row["wanted_ns"] is None or row["start_ns"] is None:
        return active
    waits = timeline(row["wanted_ns"], row["start_ns"], whole, _BAR, unicode)
    first = len(waits) - len(waits.lstrip())
    body = len(active) - len(active.lstrip())
    return " " * first + ("·" if unicode else ".") * max(0, body - first) + active.lstrip()

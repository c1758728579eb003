"""Units of systemd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from firstlight.analysis.units import LATER
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import joined, share, time_text
from firstlight.render.model.pictures import Bar, Interval
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.heading import grade_column, grade_lines, heading

_BAR = 30


def units_report(
    boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, stages: pl.DataFrame, failed: list[str]
) -> Iterator[Block]:
    """The stages, the units with waiting against working, and what failed or did not finish."""
    yield from heading(boot, "Units")
    if not stages.is_empty():
        yield _stages(stages)
        yield BLANK
    if rows.height or left_out.height:
        yield _units(boot, rows, left_out)
    every = pl.concat([rows, left_out])
    unfinished = every.filter(pl.col("state") == "unfinished")["unit"].to_list()
    later = every.filter(pl.col("reason").str.starts_with(LATER))["unit"].to_list()
    for names, text, style in (
        (failed, "Failed", "bold red"),
        (unfinished, "Not finished", "yellow"),
        (later, "Began after the start-up had finished; not part of it", "yellow"),
    ):
        if names:
            yield Line(f"{text}: {joined([printable(name, 80) for name in names], 20)}", style, wrap=False)
    yield from grade_lines(every)


def _stages(stages: pl.DataFrame) -> Table:
    tops = stages.filter(pl.col("part_of").is_null())
    whole = int(tops["duration_ns"].sum()) if tops["duration_ns"].null_count() == 0 else None

    endless = tops.filter(pl.col("start_ns").is_not_null() & pl.col("end_ns").is_null())["stage"].to_list()

    def part(row: dict[str, Any]) -> float | None:
        return share(row["duration_ns"], whole)

    return table(
        "",
        [
            Column("Stage", value=_stage, style="cyan", longest=40),
            Column("Start", "time", "start_ns", wide=60),
            Column("Duration", "time", "duration_ns", style="bold"),
            grade_column(),
            Column("Share", "share", part, wide=60),
            Column(
                "", "picture", lambda row: Bar(part(row), _BAR) if row["part_of"] is None else "", style="blue", wide=90
            ),
        ],
        stages.iter_rows(named=True),
        footer=[{"Stage": "all", "duration_ns": whole, "Share": share(whole, whole)}],
        notes=[f"{printable(stage, 40)}: its end is not in the record, so there are no shares." for stage in endless],
    )


def _stage(row: dict[str, Any]) -> str:
    return str(row["stage"]) if row["part_of"] is None else f"  {row['stage']}"


def _units(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Table:
    whole = window(boot)
    return table(
        "",
        [
            Column("Unit", value="unit", style="cyan"),
            Column("Start", "time", "start_ns", wide=70),
            Column("Waiting", "time", "waiting_ns"),
            Column("ordered", "time", "ordered_ns", wide=110),
            Column("held", "time", _held, wide=110),
            Column("Activation", "time", "duration_ns", style="bold"),
            grade_column(),
            Column("main", "time", lambda row: "" if row["main_ns"] is None else row["main_ns"], wide=130),
            Column("waited for", value="waited_for", wide=90, longest=50),
            Column("State", value=lambda row: row["state"] or "-", longest=14, wide=60),
            Column(
                "", "picture",
                lambda row: Interval(row["start_ns"], row["end_ns"], whole, _BAR, row["wanted_ns"]), wide=150,
            ),
        ],
        rows.iter_rows(named=True),
        left_out={"unit": f"({left_out.height:,} more)"} if left_out.height else None,
        notes=[
            "Waiting: from the start of the stage to the start of the unit; ordered: for the units before it; held: "
            "after that.",
            "Activation: duration of the start itself. h: a device, which waits for its hardware and does no work.",
        ],
    )  # fmt: skip


def _held(row: dict[str, Any]) -> int | str | None:
    """What of the waiting no unit explains; of a device the part before its activation, in which it waited, too."""
    if row["type"] != "device":
        held: int | None = row["held_ns"]
        return held
    known = row["waiting_ns"] is not None and row["ordered_ns"] is not None
    return f"h {time_text(row['waiting_ns'] - row['ordered_ns'] if known else None)}"

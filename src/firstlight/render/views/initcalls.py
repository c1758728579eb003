"""Initcalls, one by one and by level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from firstlight.analysis.initcall_sums import APART, STAMPS, InitcallSums, place
from firstlight.analysis.initcalls import OTHER_LEVELS, OUTSIDE, never_returned, remarks
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import Kind, joined, share, signed_time, time_text
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import Block, Line
from firstlight.render.model.table import Column, Table, Value, table
from firstlight.render.views.heading import grade_column, grade_lines, heading, timeline_column
from firstlight.render.views.row_names import with_module
from firstlight.schema.spans import Grade

_BAR = 24


def initcalls_report(
    boot: Boot, sums: InitcallSums | None, level: str | None, rows: pl.DataFrame, left_out: pl.DataFrame
) -> Iterator[Block]:
    """Initcalls, below a rule their sum, and of those of all levels what leads from there to their phase.

    :param left_out: rows that are not shown one by one.
    :param sums: of the initcalls of all levels; none where no instant is known.
    :param level: the only level that the rows are of; none for all.
    """
    yield from heading(boot, "Initcalls")
    shown = pl.concat([rows, left_out])
    whole = {
        "function": "all initcalls" if level is None else f"all of level {level}",
        "level": f"{shown.height:,}",
        "duration_ns": _known_sum(shown),
        "probes": None if shown["probes"].null_count() else int(shown["probes"].sum()),
    }
    yield table(
        "",
        [
            Column("Function", value=lambda row: with_module(row["function"], row["module"]), style="cyan"),
            Column("Level", value=lambda row: _level(row, sums), wide=60),
            Column("Start", "time", "start_ns", wide=70),
            Column("Duration", "time", "duration_ns", style="bold"),
            grade_column(),
            Column("Returned", "number", _returned, wide=100),
            Column("Probes", "count", "probes", wide=80),
            Column("in probes", "time", lambda row: row["probes_ns"] if row["probes"] else "", wide=80),
            Column("Self", "time", "self_ns"),
            timeline_column(window(boot), _BAR, wide=130),
        ],
        rows.iter_rows(named=True),
        left_out={"function": f"({left_out.height:,} more, added up)", "duration_ns": _known_sum(left_out)}
        if left_out.height
        else None,
        footer=[whole, *(_to_the_phase(sums) if level is None and sums is not None else [])],
    )
    yield from _lacking(shown["duration_ns"].null_count(), shown.height, "the sum lacks")
    yield from _hung(shown)
    yield from _remarks(boot)
    yield from grade_lines(shown)


def _known_sum(rows: pl.DataFrame) -> int | None:
    known = rows["duration_ns"].drop_nulls()
    return int(known.sum()) if len(known) else None


def _to_the_phase(sums: InitcallSums) -> Iterator[dict[str, Value]]:
    """What leads from the sum of all durations to the phase: what it is, how many initcalls, start and time."""
    if sums.apart:
        yield {"function": APART, "level": f"{sums.apart:,}", "duration_ns": signed_time(-sums.apart_ns)}
    if sums.stamps_ns:
        yield {"function": STAMPS, "duration_ns": signed_time(sums.stamps_ns)}
    yield {"function": OUTSIDE, "duration_ns": signed_time(sums.outside_ns)}
    first, last = sums.phase
    yield {"function": "the initcalls' phase", "start_ns": first, "duration_ns": last - first}


def levels_report(boot: Boot, levels: pl.DataFrame, calls: pl.DataFrame) -> Iterator[Block]:
    """What the initcalls of each level took; the last two lines are the rest of the phase, and the phase."""
    yield from heading(boot, "Initcalls by level")
    records = levels.to_dicts()
    phase = records[-1]

    def counted(name: str, kind: Kind, title: str, wide: int) -> Column:
        """A figure that only levels have in which there are initcalls."""
        return Column(title, kind, lambda row: "" if row["initcalls"] is None else row[name], wide=wide, name=name)

    def part(row: dict[str, Any]) -> Value:
        return _outside(row, phase) or share(row["phase_ns"], phase["wall_ns"])

    def bar(row: dict[str, Any]) -> Value:
        length = part(row)
        return "" if row["level"] == "all" else Bar(length if isinstance(length, float) else 0.0, _BAR)

    columns = [
        Column("Level", value=lambda row: row["level"] or "(level unknown)", style="cyan", longest=40, fixed=True),
        counted("initcalls", "count", "Initcalls", 50),
        counted("start_ns", "time", "Start", 105),
        counted("end_ns", "time", "End", 112),
        Column("Wall", "time", "wall_ns", style="bold"),
        Column("Share", "share", part, wide=40),
        counted("sum_ns", "time", "Sum", 60),
        counted("probes", "count", "Probes", 80),
        Column("Unknown", "count", lambda row: row["unknown"] or "", wide=90),
        Column("", "picture", bar, style="blue", wide=100),
    ]
    lines = [[column.of(record) for column in columns] for record in records]
    notes = ["Wall counts overlapping time once; Sum adds all durations."] if phase["wall_ns"] is not None else []
    yield Table("", columns, lines[:-2], lines[-2:], notes)
    yield from _lacking(phase["unknown"], phase["initcalls"], "Sum lacks")
    yield from _hung(calls)
    yield from grade_lines(calls)


def _level(row: dict[str, Any], sums: InitcallSums | None) -> str:
    """The level, and where the initcall lies when it is not in the phase."""
    where = place(row["start_ns"], row["end_ns"], sums.phase) if sums is not None else ""
    return (row["level"] or "-") + (f", {where}" if where else "")


def _returned(row: dict[str, Any]) -> str:
    if row["returned"] is not None:
        return str(row["returned"])
    return (
        "never" if row["end_ns"] is None and row["grade"] == Grade.BOUNDED and row["duration_ns"] is not None else "-"
    )


def _outside(row: dict[str, Any], phase: dict[str, Any]) -> str:
    """Whether a level ran before the phase that the shares are of, or behind it."""
    if row["level"] == OTHER_LEVELS or phase["start_ns"] is None or phase["end_ns"] is None:
        return ""
    return place(row["start_ns"], row["end_ns"], (phase["start_ns"], phase["end_ns"]))


def _hung(calls: pl.DataFrame) -> Iterator[Line]:
    """Which initcalls the boot hung in: what never returned says more than any figure."""
    for row in calls.filter(never_returned()).sort("start_ns").head(5).iter_rows(named=True):
        text = f"{printable(row['function'], 80)} never returned: it began at {time_text(row['start_ns'])}"
        yield Line(f"{text}, and {time_text(row['duration_ns'])} later the record ends.", "bold red", wrap=False)


def _remarks(boot: Boot) -> Iterator[Line]:
    """Which returned with a warning, and which were never called."""
    found = remarks(boot)
    for row in found.get("warnings", [])[:5]:
        text = f"{printable(row['function'], 80)} returned with {printable(row['warning'], 80)}."
        yield Line(text, "yellow", wrap=False)
    if names := found.get("blacklisted", []):
        text = joined([printable(name, 80) for name in names], 5)
        yield Line(f"Blacklisted on the command line, and never called: {text}.", "yellow", wrap=False)


def _lacking(unknown: int, initcalls: int, what: str) -> Iterator[Line]:
    if unknown:
        verb = "has" if unknown == 1 else "have"
        text = f"{unknown:,} of {initcalls:,} initcalls {verb} no duration; {what} {'it' if unknown == 1 else 'them'}."
        yield Line(text, "dim", wrap=False)

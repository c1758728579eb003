"""The kd table and the calling-context tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from firstlight.analysis.doubtful import doubtful_share, with_share
from firstlight.analysis.function_options import Unit
from firstlight.analysis.functions import Selection, self_column, total_column
from firstlight.analysis.partial_sums import known, together
from firstlight.analysis.prune import ContextRow
from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import between, clock_text, interval_text
from firstlight.bundle.slices import Interval
from firstlight.quantities import Kind, share, small_share_text
from firstlight.render.model.pictures import Nested
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Value, table
from firstlight.render.views.machine_costs import machine_column
from firstlight.render.views.row_names import RowNames


def functions_frame(selection: Selection, marks: Mapping[str, str]) -> pl.DataFrame:
    """The shown rows as data, with the share of doubtful calls and the cost of the emulated machine.

    :param marks: as of :func:`functions_report`.
    """
    marked = [marks.get(function) for function in selection.shown["function"]]
    return with_share(selection.shown).with_columns(pl.Series("machine_cost", marked, pl.String))


def functions_report(
    selection: Selection, unit: Unit, subject: str, marks: Mapping[str, str] | None = None
) -> Iterator[Block]:
    """A kd table. Count and Local add up to the last line; Time does not, since a caller's holds its callees'.

    :param subject: what the figures are, and of what.
    :param marks: functions most of whose Local the emulated machine adds, with the cost's name in the ledger.
    """
    yield from (Line(subject, "dim"), BLANK)
    names, left = RowNames(selection.shown, selection.left_out), selection.left_out
    own, kind = self_column(unit), _kind(unit)

    def average(row: dict[str, Any]) -> Value:
        total = row[total_column(unit)]
        found: Value = row["average_ns"]
        return found if unit == "time" else (None if total is None else total // max(row["count"], 1))

    def doubtful(row: dict[str, Any]) -> Value:
        """The share of a function's calls that are doubtful; nothing where none is."""
        return doubtful_share(row["doubtful_calls"], row["count"]) or ""

    yield table(
        "",
        [
            Column("Function", value=names.of, style="cyan"),
            Column("Count", "count", "count", wide=50),
            Column("Time", kind, total_column(unit)),
            Column("Average", kind, average, wide=80),
            Column("Local", kind, own, style="bold"),
            Column("Max-sub", value="max_sub", wide=100),
            Column("Ms count", "count", lambda row: row["max_sub_count"] if row["max_sub"] else "", wide=100),
            Column("Doubtful", "share", doubtful, style="yellow", optional=True, write=small_share_text),
            machine_column(marks or {}, wide=100),
        ],
        selection.shown.iter_rows(named=True),
        left_out={"function": f"({left.height:,} more)", "count": known(left["count"]), own: together(left[own])}
        if left.height
        else None,
        footer=[{"function": "all", "count": selection.whole_count, own: selection.whole_self(unit)}],
    )  # fmt: skip


def _kind(unit: Unit) -> Kind:
    return "time" if unit == "time" else "count"


def functions_subject(
    boot: Boot, unit: Unit, phase: str | None, under: str | None, counted: Interval | None = None
) -> str:
    """What the figures are, and of what of the boot: such as `Virtual time, power_on to ready`.

    :param phase: the only phase that they are of.
    :param under: the function whose callees they are of.
    :param counted: the only slices of time that they are of.
    """
    unit_text = "Instructions" if unit == "instructions" else clock_text(boot).capitalize()
    where = between(boot) if phase is None else f"phase {phase}"
    if counted is not None:
        where = interval_text(counted)
    parts = [unit_text, where, f"under {under}" if under else ""]
    return ", ".join(filter(None, parts))


def tree_report(rows: Sequence[ContextRow], unit: Unit, subject: str) -> Iterator[Block]:
    """The calling-context tree; a node's own and the lines right below it add up to its total."""
    totals = [row.total for row in rows if row.depth == 0 and row.total is not None]
    whole, kind = sum(totals), _kind(unit)
    deepest = max((row.depth for row in rows), default=0)
    yield from (Line(subject, "dim"), BLANK)
    figures = [
        Column("Total", kind, "total"),
        Column("Share", "share", lambda row: share(row.total, whole)),
        Column("Local", kind, lambda row: "" if row.pruned else row.own, style="bold", wide=80),
    ]
    yield table(
        "",
        [
            # Where the record only counts calls there is nothing else.
            *(figures if totals else []),
            Column("Count", "count", lambda row: "" if row.calls is None else row.calls, wide=80),
            Column(
                "Function", value=lambda row: Nested(row.function, row.depth, deepest), style="cyan",
                longest=100 + 2 * deepest,
            ),
        ],
        rows,
    )  # fmt: skip

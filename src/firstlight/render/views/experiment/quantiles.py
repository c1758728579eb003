"""Quantiles of the cells of an experiment, each against the first cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from firstlight.comparison.statistical.quantiles import Statistic
from firstlight.experiment.quantiles import CellQuantile
from firstlight.quantities import percent_text, time_text
from firstlight.render.model.table import Column, Table, table
from firstlight.stats.quantiles import QuantileChange


def quantiles_table(rows: Sequence[CellQuantile], baseline: str) -> Table:
    """One row for each statistic of each cell.

    :param baseline: the name of the first cell.
    """

    def figure(side: str) -> Callable[[CellQuantile], str]:
        def text(row: CellQuantile) -> str:
            change = row.found.change
            if change is None:
                return "-"
            value: float = getattr(change, side)
            return f"{value:.1%}" if row.found.statistic is Statistic.SLOW_SHARE else time_text(round(value))

        return text

    def of(write: Callable[[QuantileChange], Any]) -> Callable[[CellQuantile], Any]:
        return lambda row: "-" if row.found.change is None else write(row.found.change)

    def p(row: CellQuantile) -> str:
        return "-" if row.found.adjusted_p is None else f"{row.found.adjusted_p:.2g}"

    missing = dict.fromkeys(
        f"{row.cell}, {row.found.statistic}: {row.found.reason}." for row in rows if not row.found.change
    )
    return table(
        "Quantiles",
        [
            Column("Cell", value="cell", style="cyan"),
            Column("Statistic", value=lambda row: str(row.found.statistic), fixed=True),
            Column(baseline, "number", figure("a"), wide=80, name="baseline"),
            Column("Figure", "number", figure("b"), name="figure"),
            Column("Change", "number", of(lambda change: percent_text(change.percent)), "bold", name="change_percent"),
            Column("95 %", "number", of(lambda change: f"{change.low_percent:+.2f} to {change.high_percent:+.2f} %"),
                   wide=90, name="interval_percent"),
            Column("p", "number", p, wide=70, name="p"),
            Column("Verdict", value=lambda row: row.found.word, name="verdict"),
        ],
        rows,
        notes=[
            "p: adjusted for the statistics by Holm's method and for the cells by Bonferroni's. Intervals hold for all "
            "cells together. slow-share: boots in the slow mode, its change in percentage points.",
            *missing,
        ],
    )  # fmt: skip

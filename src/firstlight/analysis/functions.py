"""Choosing rows of the kd table, so that nothing is lost: what is left out is a sum of its own."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.analysis.function_options import Order, Unit
from firstlight.analysis.partial_sums import known, together

#: The kinds of rows that are not functions.
NO_FUNCTION = ("root", "firmware", "loader", "decompressor", "unknown", "user", "idle", "group")


@dataclass(frozen=True)
class Selection:
    """Some rows of a kd table, and what all the others add up to."""

    shown: pl.DataFrame
    left_out: pl.DataFrame

    @property
    def whole_count(self) -> int:
        """Calls of all rows, shown or not."""
        return known(self.shown["count"]) + known(self.left_out["count"])

    def whole_self(self, unit: Unit) -> int | None:
        """Self of all rows, shown or not, in nanoseconds or instructions; none where no row has one."""
        column = self_column(unit)
        return together(pl.concat([self.shown[column], self.left_out[column]]))


def self_column(unit: Unit) -> str:
    """The column of the kd table that holds self in this unit."""
    return "self_ns" if unit == "time" else "self_instructions"


def total_column(unit: Unit) -> str:
    """The column of the kd table that holds total in this unit."""
    return "total_ns" if unit == "time" else "total_instructions"


def select(table: pl.DataFrame, order: Order = "total", unit: Unit = "time", limit: int | None = None) -> Selection:
    """Order a kd table and keep its first rows.

    The root and other rows without anything of their own, which only gather what stands below them, are not shown:
    they are not functions, and the sums do not need them.

    :param order: the largest self, total or count first, then the name; by count where neither of the others is known.
    :param unit: what self and total are compared in.
    :param limit: how many rows to keep; all when not given.

    >>> import polars as pl
    >>> table = pl.DataFrame({"function": ["a", "b"], "kind": ["function"] * 2, "count": [1, 9], "self_ns": [5, 6]})
    >>> selection = select(table, "count", limit=1)
    >>> selection.shown["function"][0], selection.whole_self("time")
    ('b', 11)
    """
    column = {"self": self_column(unit), "total": total_column(unit), "count": "count"}[order]
    if table.height and table[column].null_count() == table.height:
        column = "count"  # what only counts calls is ordered by them
    gathers = pl.col("kind").is_in(["root", "group"]) & (pl.col(self_column(unit)).fill_null(0) == 0)
    rows = table.filter(~gathers).sort(column, "function", descending=[True, False], nulls_last=True)
    kept = rows.height if limit is None else max(limit, 0)
    return Selection(rows.head(kept), rows.slice(kept))

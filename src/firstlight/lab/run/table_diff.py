"""The first difference between two recordings of one table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from firstlight.bundle.tables import read_table

Value = int | str | None


@dataclass(frozen=True)
class TableDifference:
    """The first row of a table in which two bundles differ."""

    table: str
    row: int
    """From 0."""
    rows: tuple[int, int]
    """How many rows the table has in each."""
    columns: dict[str, tuple[Value, Value]]
    """Of the columns that differ in that row, both values; all columns where only one of them has the row."""
    differing_rows: int
    """How many rows differ altogether, those that only one of them has included."""

    def describe(self) -> str:
        """The difference in one line, for people.

        >>> TableDifference("log", 3, (9, 9), {"text": ("a", "b")}, 2).describe()
        "`log` differs in 2 rows, first in row 3: text 'a' became 'b'"
        """
        values = ", ".join(f"{name} {_show(one)} became {_show(other)}" for name, (one, other) in self.columns.items())
        count = f"{self.differing_rows} row" + ("s" if self.differing_rows != 1 else "")
        length = "" if self.rows[0] == self.rows[1] else f" ({self.rows[0]} rows became {self.rows[1]})"
        return f"`{self.table}` differs in {count}{length}, first in row {self.row}: {values}"


def first_difference(bundle: Path, again: Path, table: str) -> TableDifference | None:
    """The first difference of a table in two bundles; `None` when every row is the same.

    :raises BundleError: when one of the tables is missing or damaged.
    """
    one, other = read_table(bundle, table), read_table(again, table)
    common = min(one.height, other.height)
    same = pl.select(pl.repeat(True, common, dtype=pl.Boolean)).to_series()
    for column in one.columns:
        same &= one[column].head(common).eq_missing(other[column].head(common))
    extra = max(one.height, other.height) - common
    differing = common - int(same.sum()) + extra
    if differing == 0:
        return None
    row = common if int(same.sum()) == common else int((~same).arg_true()[0])
    before = one.row(row, named=True) if row < one.height else dict.fromkeys(one.columns)
    after = other.row(row, named=True) if row < other.height else dict.fromkeys(one.columns)
    columns = {name: (before[name], after[name]) for name in one.columns if before[name] != after[name]}
    return TableDifference(table, row, (one.height, other.height), columns, differing)


def _show(value: Value) -> str:
    return "nothing" if value is None else f"{value:,}" if isinstance(value, int) else repr(value)

"""The last rows of a table of sums."""

from __future__ import annotations

from typing import Any, TypedDict

import polars as pl


class SumRows(TypedDict):
    """What :func:`~firstlight.render.model.table.table` takes: the row of what is not shown, the row of everything."""

    left_out: dict[str, Any] | None
    footer: list[dict[str, Any]]


def sum_rows(rows: pl.DataFrame, left_out: pl.DataFrame, first: str, columns: list[str]) -> SumRows:
    """The row for what is not shown, if there is any, and the row for everything.

    :param first: the column that says which it is.
    :param columns: what is summed; of a column without any value the sum is unknown.

    >>> shown, rest = pl.DataFrame({"name": ["a"], "ns": [5]}), pl.DataFrame({"name": ["b"], "ns": [2]})
    >>> sum_rows(shown, rest, "name", ["ns"])
    {'left_out': {'name': '(1 more)', 'ns': 2}, 'footer': [{'name': 'all', 'ns': 7}]}
    """

    def summed(frame: pl.DataFrame, what: str) -> dict[str, Any]:
        known = pl.col(columns)
        sums = frame.select(pl.when(known.count() > 0).then(known.sum()) if frame.height else known.sum())
        return {first: what, **sums.row(0, named=True)}

    return {
        "left_out": summed(left_out, f"({left_out.height:,} more)") if left_out.height else None,
        "footer": [summed(pl.concat([rows, left_out]), "all")],
    }

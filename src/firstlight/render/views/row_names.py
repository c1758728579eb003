"""How a row of functions is called, so that no two rows look the same."""

from __future__ import annotations

from typing import Any

import polars as pl


def with_module(function: str, module: str | None) -> str:
    """A function with its module, if it has one.

    >>> with_module("probe", "nvme"), with_module("schedule", None), with_module("schedule", "")
    ('probe [nvme]', 'schedule', 'schedule')
    """
    return f"{function} [{module}]" if module else function


class RowNames:
    """Names for the rows of a kd table: the kind is shown where function and module alone stand for several rows.

    `__switch_to_asm`, for one, is a function, and the head of every task that begins there.

    >>> rows = [("f", None, "function"), ("f", None, "task"), ("g", "m", "interrupt")]
    >>> table = pl.DataFrame(rows, schema=["function", "module", "kind"], orient="row")
    >>> names = RowNames(table)
    >>> [names.of(row) for row in table.iter_rows(named=True)]
    ['f', 'f (task)', 'g [m]']
    """

    def __init__(self, *tables: pl.DataFrame) -> None:
        columns = ("function", "module", "kind")
        rows = pl.concat([table.select(columns) for table in tables])
        several = rows.group_by("function", "module").agg(pl.len()).filter(pl.col("len") > 1)
        self._several = set(several.select("function", "module").iter_rows())

    def of(self, row: dict[str, Any]) -> str:
        """The name of one row, by its columns `function`, `module` and `kind`."""
        name = with_module(row["function"], row["module"])
        plain = row["kind"] == "function" or (row["function"], row["module"]) not in self._several
        return name if plain else f"{name} ({row['kind']})"

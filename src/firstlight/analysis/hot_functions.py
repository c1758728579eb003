"""Where a boot went: functions apart from what is not a function."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.function_options import Unit
from firstlight.analysis.functions import NO_FUNCTION, select


def hot_functions(table: pl.DataFrame, limit: int = 15, unit: Unit = "time") -> pl.DataFrame:
    """The functions of a kd table with the largest self first.

    >>> import polars as pl
    >>> table = pl.DataFrame({"function": ["f", "[idle]"], "kind": ["function", "idle"], "self_ns": [1, 2]})
    >>> hot_functions(table)["function"].to_list()
    ['f']
    """
    return select(table.filter(~pl.col("kind").is_in(NO_FUNCTION)), "self", unit, limit).shown


def no_functions(table: pl.DataFrame, unit: Unit = "time") -> pl.DataFrame:
    """The rows of a kd table that are not functions, such as firmware, user mode and idle; the largest self first."""
    return select(table.filter(pl.col("kind").is_in(NO_FUNCTION)), "self", unit).shown

"""How long the parts of a kind take over a fleet: quantiles by attributes."""

from __future__ import annotations

from collections.abc import Sequence

import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import TOTAL, chosen_boots, parts_of
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables

#: Fewer boots say little of a hundredth of them.
FEW = 20


def spread(tables: Tables, kind: str, by: Sequence[str], conditions: Sequence[Condition] = ()) -> ir.Table:
    """For each part and group: how many boots have it, and the quantiles of its duration in nanoseconds.

    :param kind: `phase`, `initcall`, `unit`, `process`, `probe` or `total`.
    :param by: attributes; boots of other values are other groups.
    """
    kinds = [kind, TOTAL] if kind == "phase" else [kind]
    parts = parts_of(tables, chosen_boots(tables, conditions, by), kinds, by)
    return parts.group_by([*by, "kind", "name"]).agg(
        boots=_.count(),
        p50_ns=_.duration_ns.quantile(0.5),
        p90_ns=_.duration_ns.quantile(0.9),
        p99_ns=_.duration_ns.quantile(0.99),
        largest_ns=_.duration_ns.max(),
    )


def ordered(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The rows of :func:`spread`: the parts with the largest median first, the groups of each together."""
    largest = rows.group_by("kind", "name").agg(pl.col("p50_ns").max().alias("most"))
    placed = rows.join(largest, on=["kind", "name"]).sort(
        [pl.col("kind") != TOTAL, pl.col("most"), "name", *by], descending=[False, True, *([False] * (len(by) + 1))]
    )
    return placed.drop("most").with_columns((pl.col("boots") < FEW).alias("few"))

"""Groups of boots beside one another: what each phase takes in each, and against the largest group."""

from __future__ import annotations

from collections.abc import Sequence

import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import TOTAL, chosen_boots, parts_of
from firstlight.fleet.analyses.spread import FEW
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables


def cohorts(tables: Tables, by: str, conditions: Sequence[Condition] = (), kind: str = "phase") -> ir.Table:
    """The median of each phase and of the total in each group.

    :param by: the attribute whose values are the groups.
    """
    parts = parts_of(tables, chosen_boots(tables, conditions, [by]), [kind, TOTAL], [by])
    return parts.group_by([by, "kind", "name"]).agg(boots=_.count(), p50_ns=_.duration_ns.quantile(0.5))


def against_largest(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """The rows of :func:`cohorts` with their ratio to the largest group, parts with the largest difference first."""
    if rows.is_empty():
        return rows.with_columns(pl.lit(None).alias("of_largest"), pl.lit(False).alias("few"))
    totals = rows.filter(pl.col("kind") == TOTAL).sort(["boots", by], descending=[True, False])
    reference = rows.filter(pl.col(by) == totals[by][0]).select("kind", "name", pl.col("p50_ns").alias("reference_ns"))
    found = rows.join(reference, on=["kind", "name"], how="left").with_columns(
        (pl.col("p50_ns") / pl.col("reference_ns")).alias("of_largest"),
        (pl.col("p50_ns") - pl.col("reference_ns")).abs().max().over("kind", "name").alias("most"),
        (pl.col("boots") < FEW).alias("few"),
    )
    order = [pl.col("kind") != TOTAL, pl.col("most"), pl.col("name"), pl.col(by)]
    found = found.sort(order, descending=[False, True, False, False], nulls_last=True)
    return found.select(by, "kind", "name", "boots", "p50_ns", "of_largest", "few")

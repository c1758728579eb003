"""How long the parts of a kind take over a fleet: quantiles by attributes."""

from __future__ import annotations

from collections.abc import Sequence

import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import TOTAL, chosen_boots, in_cells, parts_of
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables

QUANTILES = (0.5, 0.9, 0.99)
#: Fewer boots say little of a hundredth of them.
FEW = 20


def spread(tables: Tables, kind: str, by: Sequence[str], conditions: Sequence[Condition] = ()) -> ir.Table:
    """For each part and group: how many boots have it, and the quantiles of its duration in nanoseconds.

    :param kind: `phase`, `initcall`, `unit`, `process`, `probe` or `total`.
    :param by: attributes; boots of other values are other groups.
    """
    kinds = [kind, TOTAL] if kind == "phase" else [kind]
    boots, groups = in_cells(chosen_boots(tables, conditions, by), by)
    cells = parts_of(tables, boots, kinds, ["cell"]).group_by(["cell", "kind", "name"])
    # Asked for together, they share one sorted list of the durations: a third of the memory, two thirds of the time.
    found = cells.agg(
        boots=_.count(), quantiles=_.duration_ns.quantile(list(QUANTILES)), largest_ns=_.duration_ns.max()
    )
    found = found.inner_join(groups, "cell")
    quantiles = {f"p{round(100 * share)}_ns": found.quantiles[place] for place, share in enumerate(QUANTILES)}
    return found.select(*by, "kind", "name", "boots", **quantiles, largest_ns=_.largest_ns)


def ordered(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The rows of :func:`spread`: the parts with the largest median first, the groups of each together."""
    largest = rows.group_by("kind", "name").agg(pl.col("p50_ns").max().alias("most"))
    placed = rows.join(largest, on=["kind", "name"]).sort(
        [pl.col("kind") != TOTAL, pl.col("most"), "name", *by], descending=[False, True, *([False] * (len(by) + 1))]
    )
    return placed.drop("most").with_columns((pl.col("boots") < FEW).alias("few"))

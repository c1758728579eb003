"""How far the medians of phases may be off, where records do not show when a phase began or ended."""

from __future__ import annotations

from collections.abc import Sequence

import ibis
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import chosen_boots, parts_of
from firstlight.fleet.columns import BOUND
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables
from firstlight.schema.spans import SpanKind

_FIGURES = {"unsure_boots": pl.Int64, "low_ns": pl.Float64, "high_ns": pl.Float64}


def median_bounds(tables: Tables, by: Sequence[str], conditions: Sequence[Condition] = ()) -> pl.DataFrame:
    """Between which times the median of each phase and group lies, of phases that are not known exactly somewhere.

    The median of the true times lies between those of the shortest and of the longest times that the records leave.

    :param by: attributes; boots of other values are other groups.
    :returns: `kind`, `name`, the attributes, `unsure_boots`, `low_ns` and `high_ns`.
    """
    cell = ["kind", "name", *by]
    bounds = tables.spans.filter(_.kind == BOUND)
    names = tables.rows(bounds.select("name").distinct())["name"].to_list()
    if not names:
        return pl.DataFrame(schema={**dict.fromkeys(cell, pl.String), **_FIGURES})
    parts = parts_of(tables, chosen_boots(tables, conditions, by), [SpanKind.PHASE], by)
    off = bounds.select("boot", "name", off_ns="duration_ns")
    joined = parts.filter(_.name.isin(names)).left_join(off, ["boot", "name"])
    known = joined.select(*cell, "duration_ns", off_ns=joined.off_ns.fill_null(0))
    cells = known.group_by(cell).agg(
        unsure_boots=(known.off_ns > 0).sum(),
        low_ns=ibis.greatest(known.duration_ns - known.off_ns, 0).quantile(0.5),
        high_ns=(known.duration_ns + known.off_ns).quantile(0.5),
    )
    return tables.rows(cells)


def with_bounds(rows: pl.DataFrame, bounds: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Rows of phases with how far the median of each may be off; 0 where every boot shows when it began and ended.

    :param bounds: those of :func:`median_bounds`, by the same attributes.
    """
    cell = ["kind", "name", *by]
    found = rows.join(bounds, on=cell, how="left", nulls_equal=True)
    off = pl.max_horizontal(pl.col("high_ns") - pl.col("p50_ns"), pl.col("p50_ns") - pl.col("low_ns"), 0.0)
    return found.with_columns(off.alias("unsure_ns"), pl.col("unsure_boots").fill_null(0)).drop("low_ns", "high_ns")

"""Boots that take far longer than their like, and in which part."""

from __future__ import annotations

from collections.abc import Sequence

import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import TOTAL, chosen_boots, in_cells, parts_of
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables

DEVIATIONS = 8
"""So many median absolute deviations above the median: about five standard deviations of a normal spread."""
SLICE_ROWS = 2_000_000
"""Every part is joined with two figures of its group: an engine takes fewer rows at once."""
LEAST_SHARE = 0.05
"""And by at least this share of the median: where all boots are equal, any difference is many deviations."""


def outliers(
    tables: Tables, by: Sequence[str], conditions: Sequence[Condition] = (), kinds: Sequence[str] = (TOTAL, "phase")
) -> ir.Table:
    """Boots whose total or part lies above the median of their group by :data:`DEVIATIONS` deviations.

    :param by: attributes that make the groups.

    Source: the median absolute deviation of Hampel (1974).
    """
    boots, groups = in_cells(chosen_boots(tables, conditions, by), by)
    cell = ["cell", "kind", "name"]
    parts = parts_of(tables, boots, kinds, ["cell"])
    medians = parts.group_by(cell).agg(boots=_.count(), median_ns=_.duration_ns.quantile(0.5))
    far = parts.inner_join(medians, cell).select("boot", *cell, "duration_ns", "boots", "median_ns")
    far = far.mutate(above_ns=far.duration_ns - far.median_ns)
    spreads = far.group_by(cell).agg(deviation_ns=_.above_ns.abs().quantile(0.5))
    found = far.inner_join(spreads, cell)
    found = found.filter(
        (found.above_ns > DEVIATIONS * found.deviation_ns) & (found.above_ns >= LEAST_SHARE * found.median_ns)
    )
    named = found.inner_join(groups, "cell").inner_join(tables.digests.select("boot", "digest"), "boot")
    columns = ["digest", *by, "kind", "name", "boots", "duration_ns", "median_ns", "deviation_ns", "above_ns"]
    return named.select(columns)


def ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of :func:`outliers`, those farthest above their median first."""
    return rows.sort(["above_ns", "digest", "kind", "name"], descending=[True, False, False, False])

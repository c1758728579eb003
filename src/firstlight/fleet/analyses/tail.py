"""What the slowest hundredth of the boots spend more than the others, part by part."""

from __future__ import annotations

from collections.abc import Sequence

import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import chosen_boots, parts_of
from firstlight.fleet.columns import KINDS
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables

SLOWEST = 0.99
"""Boots from this quantile of their group's total on."""


def tail(tables: Tables, by: Sequence[str], conditions: Sequence[Condition] = ()) -> ir.Table:
    """The sums of each part over the slowest boots of each group and over the others.

    :param by: attributes: each group has slowest boots of its own.
    """
    boots = chosen_boots(tables, conditions, by)
    if by:
        limits = boots.group_by(list(by)).agg(limit_ns=_.total_ns.quantile(SLOWEST))
        boots = boots.inner_join(limits, list(by)).select(*boots.columns, "limit_ns")
    else:
        boots = boots.cross_join(boots.aggregate(limit_ns=_.total_ns.quantile(SLOWEST)))
    boots = boots.mutate(is_slow=(boots.total_ns >= boots.limit_ns).cast("int64"))
    numbers = boots.aggregate(slow_boots=_.is_slow.sum(), all_boots=_.count())
    parts = parts_of(tables, boots, KINDS, ["is_slow"])
    sums = parts.group_by("kind", "name").agg(
        slow_ns=_.duration_ns.sum(where=_.is_slow == 1), other_ns=_.duration_ns.sum(where=_.is_slow == 0)
    )
    return sums.cross_join(numbers)


def excess(sums: pl.DataFrame) -> pl.DataFrame:
    """The rows of :func:`tail` as means for each boot, and what the slow boots spend more, the most first.

    A boot that lacks a part spends nothing on it, so that the phases add up.
    """
    slow, others = pl.col("slow_boots"), pl.col("all_boots") - pl.col("slow_boots")
    found = sums.filter((slow > 0) & (others > 0)).with_columns(
        (pl.col("slow_ns").fill_null(0) / slow).alias("slow_mean_ns"),
        (pl.col("other_ns").fill_null(0) / others).alias("other_mean_ns"),
    )
    found = found.with_columns((pl.col("slow_mean_ns") - pl.col("other_mean_ns")).alias("more_ns"))
    found = found.sort(["more_ns", "kind", "name"], descending=[True, False, False])
    return found.select("kind", "name", "slow_boots", "slow_mean_ns", "other_mean_ns", "more_ns")

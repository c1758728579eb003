"""Which parts became slower from one group of boots to another, stratum by stratum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import ibis
import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.fleet.analyses.joined import chosen_boots, in_cells, parts_of
from firstlight.fleet.columns import KINDS
from firstlight.fleet.conditions import Condition
from firstlight.fleet.engine import Tables
from firstlight.stats.multiple_testing import benjamini_hochberg

FEW = 20
"""Fewer boots on a side give a verdict with a warning."""
LEVEL = 0.01
LEAST_CHANGE = 0.02
"""A change of a median by less is nothing to act on."""
LEAST_NS = 1000
"""Of parts that are shorter, a rounding is a large share."""
TICK_NS = 100
"""Durations are ranked in steps of this: the kernel prints microseconds, and far fewer values are to be sorted."""

_COLUMNS = {
    "old_boots": pl.Int64,
    "new_boots": pl.Int64,
    "old_ns": pl.Float64,
    "new_ns": pl.Float64,
    "change": pl.Float64,
    "change_ns": pl.Float64,
    "z": pl.Float64,
    "p": pl.Float64,
    "p_all_strata": pl.Float64,
    "verdict": pl.String,
    "few": pl.Boolean,
}
"""What a row says of a part and its stratum."""


class RegressionVerdict(StrEnum):
    """What became of a part."""

    SLOWER = "slower"
    FASTER = "faster"
    UNSURE = "unsure"
    """It changed by less than what the records leave open: they do not show when the phase began or ended."""
    UNCHANGED = "unchanged"

    @property
    def is_change(self) -> bool:
        """Whether the part certainly changed."""
        return self in (RegressionVerdict.SLOWER, RegressionVerdict.FASTER)


def rank_sums(
    tables: Tables, by: str, old: str, new: str, strata: Sequence[str], conditions: Sequence[Condition] = ()
) -> ir.Table:
    """What the rank test of each part and stratum needs: whole numbers, the same on every engine.

    Ranks come by counting: how many durations there are up to each distinct one.

    :param by: the attribute whose values *old* and *new* are compared.
    :param strata: attributes; boots of different values of these are never compared.
    """
    attributes = [by, *(name for name in strata if name != by)]
    boots = chosen_boots(tables, conditions, attributes)
    boots = boots.filter(boots[by].isin([old, new]))
    boots, groups = in_cells(boots.mutate(is_new=(boots[by] == new).cast("int64")).drop(by), attributes[1:])
    cell = ["kind", "name", "cell"]
    parts = parts_of(tables, boots, KINDS, ["is_new", "cell"]).mutate(ticks=_.duration_ns // TICK_NS)
    values = parts.group_by([*cell, "ticks"]).agg(boots=_.count(), new_boots=_.is_new.sum())
    below = ibis.window(group_by=cell, order_by="ticks", rows=(None, 0))
    ranked = values.mutate(up_to=values.boots.sum().over(below))
    # Twice the mean rank of those that are equal.
    ranked = ranked.mutate(rank2=2 * ranked.up_to - ranked.boots + 1)
    sums = ranked.group_by(cell).agg(
        boots=_.boots.sum(),
        new_boots=_.new_boots.sum(),
        new_rank2=(_.rank2 * _.new_boots).sum(),
        # The product of three counts of a large fleet needs more than 64 bits.
        ties=(_.boots.cast("float64") * _.boots * _.boots - _.boots).sum(),
    )
    medians = parts.group_by(cell).agg(
        old_ns=_.duration_ns.quantile(0.5, where=_.is_new == 0), new_ns=_.duration_ns.quantile(0.5, where=_.is_new == 1)
    )
    found = sums.inner_join(medians, cell).inner_join(groups, "cell")
    figures = ["boots", "new_boots", "new_rank2", "ties", "old_ns", "new_ns"]
    return found.select("kind", "name", *attributes[1:], *figures)


def with_verdicts(
    sums: pl.DataFrame, strata: Sequence[str], bounds: pl.DataFrame | None = None, between: tuple[str, ...] = ()
) -> pl.DataFrame:
    """The rows of :func:`rank_sums` with their verdicts, the largest change first.

    Each stratum has a test of its own (Wilcoxon 1945, Mann and Whitney 1947, with the correction for ties); all p
    are adjusted together (Benjamini and Hochberg 1995). Of each part over all strata there is the test of van Elteren
    (1960). A part is slower or faster where the adjusted p is below :data:`LEVEL` and its median changed by at least
    :data:`LEAST_CHANGE`. It is unsure where the bounds of both medians have times in common.

    :param bounds: those of :func:`firstlight.fleet.analyses.bounds.median_bounds`, by the compared attribute and the
        strata.
    :param between: the compared attribute, its old and its new value.
    """
    both = sums.filter((pl.col("new_boots") > 0) & (pl.col("new_boots") < pl.col("boots")))
    # In one order, whatever the engine's: sums over strata are then equal to the last bit.
    rows = both.sort("kind", "name", *strata).to_dicts()
    z_values = [_z(row) for row in rows]
    adjusted = benjamini_hochberg([None if z is None else _two_sided(z) for z in z_values])
    together = _van_elteren(rows)
    ends = _ends(bounds, strata, between)
    for row, z, p in zip(rows, z_values, adjusted, strict=True):
        old, new = row["old_ns"], row["new_ns"]
        change = (new - old) / old if old else None
        clear = p is not None and p < LEVEL and change is not None and abs(change) >= LEAST_CHANGE
        clear = clear and max(old, new) >= LEAST_NS
        row |= {
            "old_boots": row["boots"] - row["new_boots"],
            "change": change,
            "change_ns": new - old,
            "z": z,
            "p": p,
            "p_all_strata": together[row["kind"], row["name"]],
            "verdict": _verdict(row, clear, ends, strata).value,
            "few": min(row["new_boots"], row["boots"] - row["new_boots"]) < FEW,
        }
    order = list(RegressionVerdict)
    rows.sort(key=lambda row: (order.index(row["verdict"]), -abs(row["change_ns"]), row["kind"], row["name"],
                               *(row[name] for name in strata)))  # fmt: skip
    columns = dict.fromkeys(("kind", "name", *strata), pl.String) | _COLUMNS
    return pl.DataFrame(rows, infer_schema_length=None).select(list(columns)) if rows else pl.DataFrame(schema=columns)


_Ends = dict[tuple[str, ...], tuple[float, float]]


def _ends(bounds: pl.DataFrame | None, strata: Sequence[str], between: tuple[str, ...]) -> _Ends:
    """The bounds of medians by `old` or `new`, kind, name and stratum."""
    if bounds is None or not between:
        return {}
    attribute, *values = between
    side = dict(zip(values, ("old", "new"), strict=True))
    return {
        (side[row[attribute]], row["kind"], row["name"], *(row[name] for name in strata)): (
            row["low_ns"],
            row["high_ns"],
        )
        for row in bounds.filter(pl.col(attribute).is_in(values)).to_dicts()
    }


def _verdict(row: dict[str, Any], clear: bool, ends: _Ends, strata: Sequence[str]) -> RegressionVerdict:
    if not clear:
        return RegressionVerdict.UNCHANGED
    cell = (row["kind"], row["name"], *(row[name] for name in strata))
    old, new = (ends.get((side, *cell), (row[f"{side}_ns"],) * 2) for side in ("old", "new"))
    if old[0] <= new[1] and new[0] <= old[1]:
        return RegressionVerdict.UNSURE
    return RegressionVerdict.SLOWER if row["new_ns"] > row["old_ns"] else RegressionVerdict.FASTER


def _moments(row: dict[str, int]) -> tuple[float, float]:
    """How far the ranks of the new boots lie above what chance gives, and the variance of that."""
    n, new = row["boots"], row["new_boots"]
    above = row["new_rank2"] / 2 - new * (n + 1) / 2
    variance = new * (n - new) / 12 * (n + 1 - row["ties"] / (n * (n - 1))) if n > 1 else 0.0
    return above, max(variance, 0.0)


def _z(row: dict[str, int]) -> float | None:
    above, variance = _moments(row)
    if variance <= 0:
        return None
    # The correction for continuity.
    return math.copysign(max(abs(above) - 0.5, 0.0), above) / math.sqrt(variance)


def _two_sided(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


def _van_elteren(rows: list[dict[str, int]]) -> dict[tuple[int, int], float | None]:
    """The p of each part over all strata, each weighted by its size."""
    sums: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        above, variance = _moments(row)
        weight = 1 / (row["boots"] + 1)
        known = sums.setdefault((row["kind"], row["name"]), [0.0, 0.0])
        known[0] += weight * above
        known[1] += weight * weight * variance
    return {part: _two_sided(z / math.sqrt(variance)) if variance > 0 else None for part, (z, variance) in sums.items()}

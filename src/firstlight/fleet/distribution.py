"""How the totals of a fleet's boots are distributed, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.fleet.analyses.joined import chosen_boots
from firstlight.fleet.conditions import read_conditions
from firstlight.fleet.engine import tables_of
from firstlight.fleet.files import boot_attributes
from firstlight.fleet.layout import Fleet

STEPS = 200
"""Points of a distribution: more are not seen."""


@dataclass(frozen=True)
class Distribution:
    """The empirical distribution of the total of one group."""

    group: tuple[str, ...]
    boots: int
    totals_ns: tuple[float, ...]
    """Its quantiles from 0 to 1, evenly spaced; of few boots one for each."""


def distributions(fleet: Fleet, by: Sequence[str], where: str = "", most: int = 8) -> list[Distribution]:
    """The distributions of the totals of the largest groups.

    :param by: the attributes that make groups; those that the fleet lacks are left out.
    :param most: so many groups.
    """
    attributes = boot_attributes(fleet, fleet.listing().boots)
    by = [name for name in by if name in attributes]
    conditions = read_conditions(where, attributes) if where else []
    with tables_of(fleet) as tables:
        chosen = tables.rows(chosen_boots(tables, conditions, by))
    found = []
    for group, rows in chosen.group_by(by or [pl.lit("all")], maintain_order=False):
        points = min(STEPS, rows.height)
        shares = [place / max(points - 1, 1) for place in range(points)]
        totals = [float(rows["total_ns"].quantile(share, "linear") or 0) for share in shares]
        found.append(Distribution(tuple(map(str, group)), rows.height, tuple(totals)))
    found.sort(key=lambda each: (-each.boots, each.group))
    return found[:most]

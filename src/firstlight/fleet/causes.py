"""The causes of the catalogue over a fleet."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from ibis import _

from firstlight.advise.entry import Entry
from firstlight.advise.read import catalogue
from firstlight.errors import UsageError
from firstlight.fleet.analyses.joined import chosen_boots, parts_of
from firstlight.fleet.columns import CAUSE, LOOKED_FOR
from firstlight.fleet.conditions import read_conditions
from firstlight.fleet.engine import tables_of
from firstlight.fleet.files import boot_attributes
from firstlight.fleet.layout import Fleet


@dataclass(frozen=True)
class FleetCause:
    """One cause of the catalogue in a fleet. Costs are nanoseconds of the boots that have it."""

    id: str
    entry: Entry | None
    """None where this catalogue has no such entry."""
    boots: int
    share: float
    """Of the boots in which causes were looked for, from 0 to 1."""
    p50_ns: float
    p90_ns: float
    sum_ns: int
    """Over all boots: what a remedy would save the fleet."""


@dataclass(frozen=True)
class FleetCauses:
    """What of the catalogue a fleet shows, the largest sum first."""

    boots: int
    """In which causes were looked for."""
    others: int
    """Boots in which they were not."""
    causes: tuple[FleetCause, ...]


def causes_of_fleet(fleet: Fleet, where: str = "") -> FleetCauses:
    """How many boots have each cause, and what it costs them.

    :param where: conditions on attributes.
    :raises UsageError: when causes were looked for in no boot.
    """
    conditions = read_conditions(where, boot_attributes(fleet, fleet.listing().boots)) if where else []
    with tables_of(fleet) as tables:
        chosen = chosen_boots(tables, conditions)
        number = tables.rows(chosen.aggregate(boots=_.count()))["boots"].item()
        parts = parts_of(tables, chosen, [CAUSE], [])
        rows = tables.rows(
            parts.group_by("name").agg(
                boots=_.count(),
                p50_ns=_.duration_ns.quantile(0.5),
                p90_ns=_.duration_ns.quantile(0.9),
                sum_ns=_.duration_ns.sum(),
            )
        )
    looked = int(rows.filter(pl.col("name") == LOOKED_FOR)["boots"].sum())
    if not looked:
        hint = "`firstlight fleet add FLEET BOOT --causes` looks for them as it adds boots"
        raise UsageError("causes were looked for in no boot of the fleet", where=fleet.where, hint=hint)
    known = {entry.id: entry for entry in catalogue().entries}
    found = []
    for row in rows.filter(pl.col("name") != LOOKED_FOR).sort(["sum_ns", "name"], descending=[True, False]).to_dicts():
        share = row["boots"] / looked
        figures = row["p50_ns"], row["p90_ns"], int(row["sum_ns"])
        found.append(FleetCause(row["name"], known.get(row["name"]), row["boots"], share, *figures))
    return FleetCauses(looked, number - looked, tuple(found))

"""Parts with the attributes of their boots."""

from __future__ import annotations

from collections.abc import Sequence

import ibis.expr.types as ir
from ibis import _

from firstlight.bundle.manifest import BootState
from firstlight.fleet.conditions import Condition, where
from firstlight.fleet.engine import Tables

NOT_KNOWN = "-"
"""What stands for an attribute that a boot lacks."""
TOTAL = "total"
"""Kind and name of the duration of whole boots, beside those of their parts."""


def chosen_boots(tables: Tables, conditions: Sequence[Condition], attributes: Sequence[str] = ()) -> ir.Table:
    """The boots that came up and meet the conditions: number, total, and some attributes.

    :param attributes: what a boot lacks of them is :data:`NOT_KNOWN`.
    """
    boots = where(tables.boots.filter(_.status == BootState.COMPLETE), conditions)
    named = {name: boots[name].fill_null(NOT_KNOWN) for name in attributes}
    return boots.select("boot", "total_ns", **named)


def in_cells(boots: ir.Table, attributes: Sequence[str]) -> tuple[ir.Table, ir.Table]:
    """Boots with the number of their group in `cell` instead of its attributes, and the groups by that number.

    Engines group and join by one number in two thirds of the time of several texts.
    """
    import ibis

    if not attributes:
        boots = boots.mutate(cell=ibis.literal(0, "int64"))
        return boots, boots.select("cell").distinct()
    names = list(attributes)
    groups = boots.select(*names).distinct()
    groups = groups.mutate(cell=ibis.row_number().over(ibis.window(order_by=names)))
    others = [name for name in boots.columns if name not in names]
    return boots.inner_join(groups, names).select(*others, "cell"), groups


def parts_of(tables: Tables, boots: ir.Table, kinds: Sequence[str], attributes: Sequence[str]) -> ir.Table:
    """The parts of some kinds with the attributes of their boots; of kind :data:`TOTAL` the boots themselves."""
    kept = boots.select("boot", *attributes)
    wanted = [kind for kind in kinds if kind != TOTAL]
    spans = tables.spans.filter(_.kind.isin(wanted) & _.duration_ns.notnull())
    found = spans.select("boot", "kind", "name", "duration_ns").inner_join(kept, "boot")
    found = found.select("boot", "kind", "name", "duration_ns", *attributes)
    if TOTAL not in kinds:
        return found
    whole = boots.mutate(kind=_literal(TOTAL), name=_literal(TOTAL), duration_ns=_.total_ns)
    whole = whole.select("boot", "kind", "name", "duration_ns", *attributes)
    return whole if not wanted else found.union(whole)


def _literal(text: str) -> ir.StringValue:
    import ibis

    return ibis.literal(text)

"""Costs of the emulated machine to a boot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firstlight.analysis.ledger.costs import Cost, MachineCosts
from firstlight.analysis.ledger.entries import Entry, Remedy
from firstlight.quantities import share, share_text, time_text
from firstlight.render.model.table import Column, Table, Value, table

TITLE = "Costs of the emulated machine"

#: Costs below this share of the boot stand together in one row.
_LEAST = 0.0005


def machine_column(marks: Mapping[str, str], wide: int) -> Column:
    """A column of functions that names the cost which most of a function's self is."""
    return Column(
        "Machine's", value=lambda row: marks.get(row["function"], ""), style="yellow", wide=wide, optional=True
    )


def machine_costs_table(costs: MachineCosts, clock: str) -> Table:
    """The machine's own costs with their sum and share, and what removes each.

    :param clock: what the times are, such as `virtual time`.
    """
    shown = [cost for cost in costs.machine if _is_shown(cost, costs)]
    small = costs.machine[len(shown) :]

    def together(name: str, ns: int) -> dict[str, Value]:
        return {"Cost": name, "ns": ns, "Share": share(ns, costs.whole_ns)}

    title = f"{TITLE}, {clock}"
    if not costs.machine:
        return Table(title, [], [], notes=_notes(costs))
    return table(
        title,
        [
            Column("Cost", value=lambda cost: cost.entry.title, style="cyan", name=""),
            Column("Time", "time", "ns", style="bold"),
            Column("Share", "share", lambda cost: share(cost.ns, costs.whole_ns), name=""),
            Column("Nature", value=lambda cost: cost.entry.nature.value, wide=110, name=""),
            Column("Remedy", value=_removed_by, wide=50, longest=90, name=""),
            Column("Measured", "change", _saved, wide=70, name=""),
            Column("", name="id", value=lambda cost: cost.entry.id, shown=False),
            Column("", "count", "instructions", shown=False),
            Column("", "count", "calls", shown=False),
        ],
        shown,
        left_out=together(f"({len(small)} smaller)", sum(cost.ns for cost in small)) if small else None,
        footer=[together("all", costs.ns)],
        notes=_notes(costs),
    )


def _is_shown(cost: Cost, costs: MachineCosts) -> bool:
    """Whether a cost has a row of its own, and not a share that reads as nothing."""
    return cost.ns >= _LEAST * costs.whole_ns


def _removed_by(cost: Cost) -> str:
    return cost.entry.remedies[0].change if cost.entry.remedies else f"nothing: {cost.entry.no_remedy}"


def _saved(cost: Cost) -> Value:
    return -cost.entry.remedies[0].measured.saved_ns if cost.entry.remedies else ""


def _notes(costs: MachineCosts) -> list[str]:
    """What has to be said of the table: what Measured is, and what only seems to be the machine's."""
    notes = []
    if any(cost.entry.remedies for cost in costs.machine):
        notes.append(
            "Measured: the change of another boot with the remedy; `--json` names that boot, and what the remedy gives "
            "up. `firstlight try` measures it for this boot."
        )
    notes += [
        f"Not the machine's: {cost.entry.title}, {time_text(cost.ns)} ({share_text(cost.ns, costs.whole_ns)}). "
        f"{cost.entry.why}"
        for cost in costs.kernel
        if _is_shown(cost, costs)
    ]
    return notes


def machine_data(costs: MachineCosts | None) -> dict[str, Any] | None:
    """The same as data, times in nanoseconds of virtual time: with reasons, prices and the measurements behind."""
    if costs is None:
        return None
    return {
        "ns": costs.ns,
        "instructions": costs.instructions,
        "share": costs.ns / costs.whole_ns if costs.whole_ns else None,
        "costs": [_cost(cost) for cost in costs.machine],
        "kernels_own": [_cost(cost) for cost in costs.kernel],
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {**_entry(cost.entry), "calls": cost.calls, "ns": cost.ns, "instructions": cost.instructions}


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "title": entry.title,
        "nature": entry.nature.value,
        "why": entry.why,
        "remedies": [_remedy(remedy) for remedy in entry.remedies],
        "no_remedy": entry.no_remedy or None,
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {**remedy.model_dump(), "measured": {**remedy.measured.model_dump(), "saved_ns": remedy.measured.saved_ns}}

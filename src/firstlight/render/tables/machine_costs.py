"""What the emulated machine adds to a boot, as tables."""

from __future__ import annotations

from typing import Any

from firstlight.analysis.ledger.costs import Cost, MachineCosts
from firstlight.analysis.ledger.entries import Entry, Remedy
from firstlight.quantities import share_text, signed_time, time_text
from firstlight.render.model.table import Sheet
from firstlight.render.terminal.columns import Column

TITLE = "What the emulated machine adds"

#: Costs below this share of the boot stand together in one row.
_LEAST = 0.0005

#: The column of a table of functions that names the cost which most of a function's self is.
MACHINE_COLUMN = "Machine's"


def machine_sheet(costs: MachineCosts, clock: str) -> Sheet:
    """The machine's own costs with their sum and share, and what removes each.

    :param clock: what the times are, such as `virtual time`.
    """
    shown = [cost for cost in costs.machine if _is_shown(cost, costs)]
    small = costs.machine[len(shown) :]
    rows = [_row(cost, costs.whole_ns) for cost in shown]
    if small:
        ns = sum(cost.ns for cost in small)
        rows.append([f"({len(small)} smaller)", time_text(ns), share_text(ns, costs.whole_ns), "", "", ""])
    return Sheet(
        title=f"{TITLE}, {clock}",
        columns=[
            Column("Cost", style="cyan"),
            Column("Time", number=True, style="bold"),
            Column("Share", number=True),
            Column("Nature", wide=110),
            Column("What removes it", wide=50, longest=90),
            Column("Measured", number=True, wide=70),
        ],
        rows=rows,
        footer=[["all", time_text(costs.ns), share_text(costs.ns, costs.whole_ns), "", "", ""]],
        below=_below(costs),
        data_columns=["id", "ns", "instructions", "calls"],
        data_rows=[[cost.entry.id, cost.ns, cost.instructions, cost.calls] for cost in costs.machine],
    )


def _is_shown(cost: Cost, costs: MachineCosts) -> bool:
    """Whether a cost has a row of its own, and not a share that reads as nothing."""
    return cost.ns >= _LEAST * costs.whole_ns


def _below(costs: MachineCosts) -> list[str]:
    """What has to be said of the table: what Measured is, and what only seems to be the machine's."""
    said = []
    if any(cost.entry.remedies for cost in costs.machine):
        said.append(
            "Measured is how another boot changed when the remedy was tried on it; `--json` names that boot, and what "
            "the remedy gives up. `firstlight try` measures it for this one."
        )
    said += [
        f"Not the machine's: {cost.entry.title}, {time_text(cost.ns)} ({share_text(cost.ns, costs.whole_ns)}). "
        f"{cost.entry.why}"
        for cost in costs.kernel
        if _is_shown(cost, costs)
    ]
    return said


def _row(cost: Cost, whole_ns: int) -> list[str]:
    entry = cost.entry
    remedy = entry.remedies[0] if entry.remedies else None
    return [
        entry.title,
        time_text(cost.ns),
        share_text(cost.ns, whole_ns),
        entry.nature.value,
        remedy.change if remedy else f"nothing: {entry.no_remedy}",
        signed_time(-remedy.measured.saved_ns) if remedy else "",
    ]


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

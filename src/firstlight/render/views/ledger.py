"""The causal ledger: one line that names the cause, and the parts of the change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.parts import ChangePart, Parts
from firstlight.escape import printable
from firstlight.quantities import share, signed_time
from firstlight.render.model.report import Block, Line
from firstlight.render.model.table import Column, Value, table

_MEANS = {
    ChangePart.CAUSED: "reached from the input that differs",
    ChangePart.MOVED: "the same work at another place or time",
    ChangePart.ACCIDENT: "within the noise band",
}


def part_texts(difference: ExactDifference) -> list[tuple[str, str, str]]:
    """The three parts of the change, each with its figure and what it means; nothing without a ledger."""
    ledger = difference.ledger
    if ledger is None or difference.is_equal:
        return []
    return [(str(part), signed_time(_of(ledger.total, part)), means) for part, means in _MEANS.items()]


def ledger_table(difference: ExactDifference) -> Iterator[Block]:
    """The three parts and their sum; nothing of boots without exact profiles."""
    ledger = difference.ledger
    if ledger is None or difference.is_equal:
        return
    whole = difference.whole
    before = None if whole.a is None else whole.a.ns
    records = [
        {
            "part": str(part),
            "ns": _of(ledger.total, part),
            "share": share(_of(ledger.total, part), before),
            "instructions": _of(ledger.instructions, part),
            "means": means,
        }
        for part, means in _MEANS.items()
    ]
    columns = [
        Column("Part", value="part", style="cyan"),
        Column("Change", "change", "ns", style="bold"),
        Column("of A", "share_change", "share"),
        Column("Instructions", "count_change", "instructions", wide=80),
        Column("", value="means", wide=100),
    ]
    total: list[Value] = ["all", whole.change_ns, share(whole.change_ns, before), whole.change_instructions, ""]
    yield replace(table("", columns, records), footer=[total])
    if difference.tolerance.source is not None:
        yield Line(f"noise band: {printable(difference.tolerance.source, 200)}", "dim", indent=2)


def _of(parts: Parts, part: ChangePart) -> int:
    found: int = getattr(parts, f"{part}_ns")
    return found

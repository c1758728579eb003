"""The outcome of each record of a directory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from firstlight.ingest.batch import BatchOutcome, BatchRow
from firstlight.render.model.report import Block, Line
from firstlight.render.model.table import Column, table

_SEVERAL = (
    "Several boots: `--split` writes a bundle for each, `--boot -1` imports the last boot of each record, "
    "`--boot N` the Nth."
)


#: So many lines about one entry are shown.
_MOST = 5


def batch_data(rows: Sequence[BatchRow]) -> dict[str, Any]:
    """The rows as data, with the number of entries by outcome."""
    counts = Counter(row.outcome for row in rows)
    return {
        "counts": {str(outcome): counts[outcome] for outcome in BatchOutcome},
        "entries": [asdict(row) for row in rows],
    }


def batch_report(rows: Sequence[BatchRow]) -> Iterator[Block]:
    """A row for each entry of the directory, and how many there are by outcome."""
    yield table(
        "",
        [
            Column("Entry", value="entry", style="cyan", longest=48),
            Column("Outcome", value=lambda row: f"{row.outcome}{' (earlier)' if row.earlier else ''}"),
            Column("Format", value=lambda row: ", ".join(row.formats), wide=90, longest=30),
            Column("Understood", "count", "lines", wide=80),
            Column("Reason", value=_reason, longest=100),
        ],
        rows,
    )
    for row in rows:
        # The table has the first reason.
        details = [*row.missing[1:], *row.notes]
        for detail in details[:_MOST]:
            yield Line(f"{row.entry}: {detail}", "dim")
        if len(details) > _MOST:
            yield Line(f"{row.entry}: {len(details) - _MOST} more like this; `--json` has all", "dim")
    counts = Counter(row.outcome for row in rows)
    if counts[BatchOutcome.SEVERAL_BOOTS]:
        yield Line(_SEVERAL, "dim")
    parts = [_counted(outcome, counts[outcome]) for outcome in BatchOutcome if counts[outcome]]
    incomplete = sum(1 for row in rows if row.missing)
    if incomplete:
        parts[0] += f" ({incomplete:,} incomplete)"
    yield Line(f"{len(rows):,} {'entry' if len(rows) == 1 else 'entries'}: " + ", ".join(parts), "bold", wrap=False)


def _reason(row: BatchRow) -> str:
    """Why an entry was not imported, or why its evidence is incomplete."""
    if row.missing:
        return f"incomplete: {row.missing[0]}"
    return (row.reason or "").partition("\n")[0]


def _counted(outcome: BatchOutcome, number: int) -> str:
    """How many entries had an outcome, as a part of a sentence."""
    if outcome is BatchOutcome.SEVERAL_BOOTS:
        return f"{number:,} {'holds' if number == 1 else 'hold'} {outcome}"
    return f"{number:,} {outcome}"

"""One boot of a fleet, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firstlight.fleet.columns import BOOTS
from firstlight.fleet.one_boot import FleetBoot
from firstlight.quantities import time_text
from firstlight.render.model.report import Block, Line
from firstlight.render.model.table import Column, Table, table


def boot_report(found: FleetBoot, limit: int | None) -> Iterator[Block]:
    """The boot and its parts for a terminal.

    :param limit: so many parts; none for all.
    """
    row = found.row
    yield Line(f"{row['digest']}, {row['day']}, {row['mode']}, {row['status']}, {time_text(row['total_ns'])}", "bold")
    said = [f"{name} {value}" for name, value in row.items() if value is not None and name not in BOOTS]
    yield from (Line(text, "dim") for text in (", ".join(said), row["missing"]) if text)
    yield boot_table(found, limit)


def boot_table(found: FleetBoot, limit: int | None = None) -> Table:
    """The parts of the boot, the longest first."""
    parts = found.parts.to_dicts()
    shown = parts if limit is None else parts[:limit]
    notes = [f"{len(parts) - len(shown):,} more rows; `--limit` shows them"] if len(parts) > len(shown) else []
    columns = [
        Column("Kind", value="kind"), Column("Part", value="name", style="cyan", longest=60),
        Column("Start", "time", "start_ns", wide=90), Column("Took", "time", "duration_ns", style="bold"),
        Column("Instructions", "count", "instructions", wide=110, optional=True),
        Column("Times", "count", "occurrences", wide=90),
    ]  # fmt: skip
    return table("Parts", columns, shown, notes=notes)


def boot_data(found: FleetBoot) -> dict[str, Any]:
    """The boot and its parts as JSON."""
    return {"boot": found.row, "parts": found.parts.to_dicts()}

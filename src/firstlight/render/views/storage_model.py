"""A model of a disk that was fitted to a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from firstlight.quantities import time_text
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table

if TYPE_CHECKING:
    from firstlight.lab.storage.fit import StorageFit
    from firstlight.lab.storage.model import Transfer


def storage_report(found: StorageFit) -> Iterator[Block]:
    """The costs of a disk's requests, and how well they fit."""
    model = found.model
    about = f"{found.reads} reads, {found.sequential_reads} of them sequential, {found.writes} writes"
    yield Line(f"{model.name}: disk {found.device}, {about}, {found.flushes} flushes", "bold")
    yield BLANK
    rows = [_row("read", model.read)]
    rows += [_row("write", model.write)] if found.writes_are_fitted else []
    if model.flush.latency:
        flush = {"request": "flush", "latency": time_text(model.flush.latency), "sequential": "-", "bandwidth": "-"}
        rows.append(flush)
    columns = [Column("Request", value="request"), Column("Latency", value="latency")]
    yield table("", [*columns, Column("Sequential", value="sequential"), Column("Bandwidth", value="bandwidth")], rows)
    yield Line(f"the median error of a read is {found.median_error:.1%}", "dim")
    if found.overlapping:
        yield Line(f"{found.overlapping} requests overlapped with others and do not count", "dim")
    if not found.writes_are_fitted:
        yield Line("the log has too few writes: the model treats them like reads", "dim")


def _row(name: str, cost: Transfer) -> dict[str, str]:
    sequential = cost.latency if cost.sequential_latency is None else cost.sequential_latency
    return {
        "request": name, "latency": time_text(cost.latency), "sequential": time_text(sequential),
        "bandwidth": f"{cost.bandwidth / 1e6:.1f} MB/s",
    }  # fmt: skip

"""A model of a board, and what it predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from firstlight.quantities import signed_time
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table

if TYPE_CHECKING:
    from firstlight.experiment.calibrate.board import BoardModel, PredictedChange

_COSTS = {
    "instructions": "instruction",
    "wait_ns": "ns of waiting",
    "console_bytes": "byte on the console",
    "read_bytes": "byte that is read",
}


def model_report(found: BoardModel) -> Iterator[Block]:
    """The prices of a board and the changes that they were fitted to."""
    model = found.model
    yield Line(f"{found.board}: prices from {model.changes} known changes", "bold")
    yield BLANK
    rows = [{"cost": _COSTS.get(name, name), "price": f"{price:.3g} ns"} for name, price in model.prices.items()]
    yield table("", [Column("Cost", value="cost"), Column("Price on the board", value="price")], rows)
    known = [
        {
            "change": change.name,
            "board": signed_time(round(change.board_ns)),
            "fitted": signed_time(round(model.predict(change.exact).ns)),
        }
        for change in found.known
    ]
    columns = [Column("Change", value="change", style="cyan"), Column("On the board", value="board")]
    yield table("", [*columns, Column("By the model", value="fitted")], known)


def prediction_report(found: PredictedChange) -> Iterator[Block]:
    """What an exact change means on a board."""
    said = found.prediction
    low, high = (signed_time(round(ns)) for ns in (said.low_ns, said.high_ns))
    about = f"on {found.board}, {found.level * 100:g} % interval {low} to {high}"
    yield Line(f"{signed_time(round(said.ns))} {about}", "bold")
    yield BLANK
    rows = [
        {"cost": _COSTS.get(name, name), "part": signed_time(round(part))} for name, part in said.parts.items() if part
    ]
    if rows:
        yield table("", [Column("By", value="cost"), Column("Change", value="part")], rows)
    for name in said.beyond:
        yield Line(f"no known change has `{_COSTS.get(name, name)}`: its cost is not part of the prediction", "dim")

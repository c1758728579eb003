"""A tuning on a board."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from firstlight.quantities import percent_text
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table

if TYPE_CHECKING:
    from firstlight.advise.tuning.on_board import BoardTuning


def board_tuning_report(found: BoardTuning) -> Iterator[Block]:
    """What was tried, what is kept, and what that gives."""
    yield Line(f"{found.board}: {found.verdict}", "bold")
    if found.append:
        yield Line(f"add to the command line: {found.append}")
        together = f"{percent_text(found.percent)}, {_interval(found.low_percent, found.high_percent)}"
        yield Line(f"from the kernel's start to ready, measured with new pairs: {together}")
    yield BLANK
    rows = [
        {
            "remedy": each.remedy,
            "change": percent_text(each.percent),
            "interval": _interval(each.low_percent, each.high_percent),
            "p": f"{each.p:.2g}",
            "kept": "kept" if each.kept else "",
            "takes": each.takes_away,
        }
        for each in found.tried
    ]
    columns = [Column("Remedy", value="remedy", style="cyan"), Column("Change", value="change")]
    columns += [Column("Interval", value="interval"), Column("p", value="p"), Column("Kept", value="kept")]
    yield table("", [*columns, Column("Takes away", value="takes", wide=80)], rows)
    for name, reason in found.left_out.items():
        yield Line(f"not tried: {name}: {reason}", "dim")
    for note in found.notes:
        yield Line(note, "dim")


def _interval(low: float | None, high: float | None) -> str:
    return "no interval" if low is None or high is None else f"{low:+.2f} to {high:+.2f} %"

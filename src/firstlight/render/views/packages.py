"""The distribution's bill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from firstlight.analysis.processes.packages import GroupBill, Payer
from firstlight.bundle.boot import Boot
from firstlight.quantities import share
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import Block
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import heading

_BAR = 30
_MODES = (
    Column("User", "count", "user_instructions", wide=130),
    Column("Kernel", "count", "kernel_instructions", wide=130),
)
_PROGRAM_NOTE = (
    "Instructions in user mode, in the kernel on the program's behalf, and in interrupts during this time. A "
    "library counts for the program that calls it."
)
_CODE_NOTE = (
    "User: instructions of the file's own code, for every program that calls it. Kernel: those in the kernel and in "
    "interrupts while a process ran the file as its program."
)


def packages_report(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, by: GroupBill) -> Iterator[Block]:
    """Who pays for the instructions of a boot; the sum is the boot's, from the kernel's first instruction on.

    :param rows: of :func:`~firstlight.analysis.processes.packages.packages`.
    :param left_out: the rows that are not shown.
    """
    yield from heading(boot, f"Instructions by {by}")
    whole = int(rows["instructions"].sum()) + int(left_out["instructions"].sum())

    def part(row: Mapping[str, Any]) -> float | None:
        return share(row["instructions"], whole)

    every = pl.concat([rows, left_out])
    followed = every["user_instructions"].null_count() < every.height

    def summed(frame: pl.DataFrame, what: str) -> dict[str, Any]:
        total = int(frame["instructions"].sum())
        parts = {part: int(frame[part].sum()) for part in ("user_instructions", "kernel_instructions")}
        return {"Package": what, "instructions": total, "Share": share(total, whole), **(parts if followed else {})}

    yield table(
        "",
        [
            Column("Package", value=_payer, style="cyan", longest=40),
            Column("Version", value="version", wide=100, longest=28),
            *([Column("File", value="file", longest=60)] if by is GroupBill.FILE else []),
            Column("Processes", "count", "processes", wide=70),
            Column("Instructions", "count", "instructions", style="bold"),
            *(_MODES if followed else ()),
            Column("Share", "share", part),
            Column("", "picture", lambda row: Bar(part(row), _BAR), style="blue", wide=110),
        ],
        rows.iter_rows(named=True),
        left_out=summed(left_out, f"({left_out.height:,} more)") if left_out.height else None,
        footer=[summed(every, "all")],
        notes=[_CODE_NOTE if followed else _PROGRAM_NOTE],
    )


def _payer(row: Mapping[str, Any]) -> str:
    match row["payer"]:
        case Payer.KERNEL:
            return "[kernel threads]"
        case Payer.NO_PACKAGE:
            return "[no package]"
        case Payer.LINKER:
            return f"{row['package'] or 'no package'}: dynamic linker"
    return str(row["package"])

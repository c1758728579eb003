"""Functions of user mode, and all that processes executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from firstlight.analysis.processes.user_functions import by_file
from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import interval_text
from firstlight.bundle.slices import Interval
from firstlight.quantities import share
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import Block
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import heading
from firstlight.render.views.sums import sum_rows

_BAR = 20


def user_functions_report(
    boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, process: str | None, counted: Interval | None = None
) -> Iterator[Block]:
    """What of user mode each function took, and each file; the sums are those of the processes.

    :param rows: of :func:`~firstlight.analysis.processes.user_functions.user_functions`.
    :param left_out: the rows that are not shown.
    :param counted: the only slices of time that they are of.
    """
    every = pl.concat([rows, left_out])
    instructions, part, bar = _instructions(every)
    yield from heading(boot, _titled("Functions of user mode", process, counted))
    sums = ["self_instructions", "self_ns", "calls", "call_instructions"]
    yield table(
        "Functions",
        [
            Column("Function", value="name", style="cyan", longest=60),
            Column("File", value=_file, longest=50, wide=60),
            instructions,
            part,
            Column("Time", "time", "self_ns", wide=100),
            Column("Calls", "count", "calls", wide=80),
            Column("Kernel for them", "count", "call_instructions", wide=90),
            bar,
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "name", sums),
        notes=[
            "Calls: system calls that the function made itself. Kernel for them: instructions of those that returned."
        ],
    )
    files = by_file(every)
    yield table(
        "Files",
        [
            Column("File", value="file", style="cyan", longest=60),
            Column("Functions", "count", "functions", wide=80),
            instructions,
            part,
            Column("Named", "share", lambda row: share(row["named_instructions"], row["self_instructions"])),
            Column("Build id", value=lambda row: row["build_id"] or "", wide=110, longest=16),
            bar,
        ],
        files.iter_rows(named=True),
        **sum_rows(files, files.clear(), "file", ["functions", "self_instructions", "named_instructions"]),
        notes=["Named: the share of its instructions in functions with a name; `--symbols DIR` names more."],
    )  # fmt: skip


def work_report(
    boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, process: str | None, counted: Interval | None = None
) -> Iterator[Block]:
    """All that processes executed: functions of user mode, system calls, the rest of the kernel.

    :param rows: of :func:`~firstlight.analysis.processes.user_functions.process_work`.
    :param left_out: the rows that are not shown.
    :param counted: the only slices of time that they are of.
    """
    instructions, part, bar = _instructions(pl.concat([rows, left_out]))
    yield from heading(boot, _titled("Functions", process, counted))
    sums = ["count", "self_instructions", "self_ns"]
    yield table(
        "",
        [
            Column("Function", value="name", style="cyan", longest=60),
            Column("Of", value=lambda row: row["file"] or _KINDS.get(row["kind"], row["kind"]), longest=50, wide=60),
            Column("Calls", "count", "count", wide=80),
            instructions,
            part,
            Column("Time", "time", "self_ns", wide=100),
            bar,
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "name", sums),
    )


def _instructions(every: pl.DataFrame) -> tuple[Column, Column, Column]:
    """The columns of the instructions: their number, its share of all, and that as a picture."""
    whole = int(every["self_instructions"].sum())

    def part(row: Mapping[str, Any]) -> float | None:
        return share(row["self_instructions"], whole)

    return (
        Column("Instructions", "count", "self_instructions", style="bold"),
        Column("Share", "share", part),
        Column("", "picture", lambda row: Bar(part(row) or 0, _BAR), wide=120),
    )


_KINDS = {"system_call": "system call"}


def _titled(title: str, process: str | None, counted: Interval | None) -> str:
    named = title if process is None else f"{title}: {process}"
    return named if counted is None else f"{named}, {interval_text(counted)}"


def _file(row: Mapping[str, Any]) -> str:
    return str(row["file"]) if row["file"] else f"[{row['kind']}]"

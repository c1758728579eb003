"""Processes of imported boots: as samplers, tracers and the kernel's accounting record them."""

from __future__ import annotations

from bisect import bisect_right

import polars as pl

from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.schema.spans import SpanKind

_KEYS = ("pid", "parent_pid", "cpu_ns", "cpu_user_ns", "cpu_system_ns", "exit_status", "arguments", "image")
_NUMBER = r"(\d+)$"
_COMMAND, _PARENT = "process.command.", "process.parent."


@once
def imported_processes(boot: Boot) -> pl.DataFrame:
    """What the spans of a boot say of its processes, in the order of their beginnings.

    Columns: `process` (number), `pid`, `parent` (number of the latest process with the parent's PID that had begun),
    `name`, `image`, `arguments`, `start_ns`, `end_ns`, `status`, `cpu_ns`. Null is not recorded. A process without a
    begin has the boot's first instant.

    >>> import firstlight
    >>> imported_processes(firstlight.open(bundle)).height
    0
    """
    spans = spans_of(boot, SpanKind.PROCESS, keys=_KEYS)
    number = {name: pl.col(name).str.extract(_NUMBER).cast(pl.Int64, strict=False) for name in _KEYS}
    of_modes = pl.sum_horizontal(number["cpu_user_ns"], number["cpu_system_ns"])
    has_modes = pl.any_horizontal(pl.col("cpu_user_ns", "cpu_system_ns").is_not_null())
    rows = (
        spans.with_columns(
            # Traces have the number in the name of the track alone.
            pid=pl.coalesce(number["pid"], pl.col("track").str.extract(_NUMBER).cast(pl.Int64, strict=False)),
            parent_pid=number["parent_pid"],
            status=number["exit_status"],
            cpu_ns=pl.coalesce(number["cpu_ns"], pl.when(has_modes).then(of_modes)),
            start_ns=pl.col("start_ns").fill_null(0),
        )
        # A record of one process need not have its number.
        .filter(pl.col("pid").is_not_null() | (pl.col("track") == ""))
        .sort("start_ns", "span")
        .with_row_index("process")
        .with_columns(pl.col("process").cast(pl.Int64))
    )
    for key, prefix, type_ in (("command", _COMMAND, pl.String), ("reported_parent", _PARENT, pl.Int64)):
        stated = _stated(boot, prefix).cast({"value": type_}, strict=False).rename({"value": key})
        # Numbers come again: what a list says is of the process that had it last.
        last = pl.col("process") == pl.col("process").max().over("pid")
        rows = rows.join(stated, on="pid", how="left", maintain_order="left")
        rows = rows.with_columns(pl.when(last).then(key).alias(key))
    program = pl.col("command").str.split(" ").list.first()
    rows = rows.with_columns(
        parent_pid=pl.coalesce("reported_parent", "parent_pid"),
        arguments=pl.coalesce("arguments", "command"),
        image=pl.coalesce("image", pl.when(program.str.starts_with("/")).then(program)),
    )
    parents = pl.Series("parent", _parents(rows), dtype=pl.Int64)
    # A trace names a process by the file that it executed last.
    file = pl.when(pl.col("name").str.starts_with("/")).then("name")
    rows = rows.with_columns(
        image=pl.coalesce("image", file), name=pl.coalesce(file.str.split("/").list.last(), "name")
    )
    columns = ("process", "pid", parents, "name", "image", "arguments", "start_ns", "end_ns", "status", "cpu_ns")
    return rows.select(*columns)


def _stated(boot: Boot, prefix: str) -> pl.DataFrame:
    """What lists of processes say, by `pid`: they have no times, and become facts."""
    facts = boot.facts().filter(pl.col("fact").str.starts_with(prefix))
    pid = pl.col("fact").str.strip_prefix(prefix).cast(pl.Int64, strict=False)
    return facts.select(pid=pid, value="value").drop_nulls().unique("pid", keep="first", maintain_order=True)


def _parents(rows: pl.DataFrame) -> list[int | None]:
    begun: dict[int, tuple[list[int], list[int]]] = {}
    for process, pid, start in rows.select("process", "pid", "start_ns").iter_rows():
        starts, processes = begun.setdefault(pid, ([], []))
        starts.append(start)
        processes.append(process)
    found: list[int | None] = []
    for process, parent, start in rows.select("process", "parent_pid", "start_ns").iter_rows():
        starts, processes = ([], []) if parent is None else begun.get(parent, ([], []))
        place = bisect_right(starts, start)
        # A parent comes first: so there is no ring, whatever a damaged record says.
        found.append(next((each for each in reversed(processes[:place]) if each < process), None))
    return found

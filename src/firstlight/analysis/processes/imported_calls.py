"""System calls of imported boots: as strace, perf, trace-cmd and the kernel's audit record them."""

from __future__ import annotations

import errno

import polars as pl

from firstlight.analysis.processes.imported import imported_processes
from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.schema.spans import SpanKind

_KEYS = ("pid", "path", "result", "error")
#: Results that the kernel keeps to itself, and tracers print (linux/errno.h).
_INTERNAL = {
    "ERESTARTSYS": 512,
    "ERESTARTNOINTR": 513,
    "ERESTARTNOHAND": 514,
    "ENOIOCTLCMD": 515,
    "ERESTART_RESTARTBLOCK": 516,
}
_ERRORS = {name: number for number, name in errno.errorcode.items()} | _INTERNAL


@once
def imported_calls(boot: Boot) -> pl.DataFrame:
    """What the spans of a boot say of its system calls, in the order of their beginnings.

    Columns: `call` (number), `process` (number of :func:`imported_processes`: of the call's PID the one that had begun
    last), `pid`, `image` (its executable, else what it is called), `name`, `path`, `start_ns`, `end_ns`, `duration_ns`,
    `result` (negative: an error number).
    Null is not recorded.

    >>> import firstlight
    >>> imported_calls(firstlight.open(bundle)).height
    0
    """
    spans = spans_of(boot, SpanKind.SYSTEM_CALL, keys=_KEYS)
    number = {name: pl.col(name).cast(pl.Int64, strict=False) for name in ("pid", "result")}
    failed = pl.col("error").replace_strict(_ERRORS, default=None, return_dtype=pl.Int64)
    calls = (
        spans.with_columns(
            **number | {"result": pl.coalesce(-failed, number["result"])},
            # What has no time comes first, as its process does.
            at_ns=pl.coalesce("start_ns", "end_ns", pl.lit(0)),
        )
        .sort("at_ns", "span")
        .with_row_index("call")
        .with_columns(pl.col("call").cast(pl.Int64))
    )
    # A tracer may know what a process is called, and not its executable.
    image = pl.coalesce("image", "name").alias("image")
    processes = imported_processes(boot).select("process", "pid", image, began_ns="start_ns")
    numbered = processes.drop_nulls("pid").sort("began_ns")
    rows = calls.join_asof(numbered, left_on="at_ns", right_on="began_ns", by="pid", check_sortedness=False)
    if processes.height == 1 and processes["pid"].null_count():
        # A record of one process need not have its number.
        only = processes.row(0, named=True)
        rows = rows.with_columns(process=pl.lit(only["process"], pl.Int64), image=pl.lit(only["image"], pl.String))
    columns = ("call", "process", "pid", "image", "name", "path", "start_ns", "end_ns", "duration_ns", "result")
    return rows.select(*columns)

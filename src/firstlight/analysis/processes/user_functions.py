"""Functions of user mode, and the kernel's work below them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from firstlight import _core
from firstlight.analysis.processes import sliced
from firstlight.analysis.processes.processes import service_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.slices import Interval
from firstlight.bundle.tables import columns
from firstlight.debug_files import debug_files
from firstlight.schema.code import FunctionSource
from firstlight.schema.spans import CallRow

HINT = "user code is followed on request; record the boot again with `--user-functions`"
"""How to get rows."""

#: What a function is known by, over all threads.
PLACE = ["kind", "file", "build_id", "function", "source", "offset", "address"]
_SCHEMA = columns(
    "name kind file build_id function source offset:int address:int self_instructions:int self_ns:int calls:int "
    "call_instructions:int"
)
_WORK = columns("name kind file count:int self_instructions:int self_ns:int")


def processes_of(boot: Boot, process: str | None) -> pl.Series:
    """The numbers of the processes that a text names, each from its creation on.

    :param process: a PID, a name (`comm`) of a thread, an executable's path or file name, or a service that the process
        was at any time; none: every process.

    >>> import firstlight
    >>> processes_of(firstlight.open(bundle), None).len()
    0
    """
    every = boot.table("processes").select("process", "pid")
    if process is None:
        return every["process"]
    named = [
        every.filter(pl.col("pid").cast(pl.String) == process),
        boot.table("threads").filter(pl.col("name") == process),
        boot.table("images").filter(
            (pl.col("image") == process)
            | pl.col("image").str.ends_with(f"/{process}")
            | (service_of("cgroup") == process).fill_null(False)
        ),
    ]
    return pl.concat([rows["process"] for rows in named]).drop_nulls().unique().sort()


def user_functions(
    boot: Boot, process: str | None = None, *, symbols: Path | None = None, interval: Interval | None = None
) -> pl.DataFrame:
    """The functions that processes executed in user mode, the most instructions first.

    Columns: `name` (the function's, else its file and address), `kind` (what the code stands in), `file`, `build_id`,
    `function` (null: nothing names it), `source` (what says so), `offset` (in the file), `address` (as the file was
    linked), `self_instructions`, `self_ns`, and of the system calls that it made itself: `calls`, `call_instructions`
    (of the kernel; of calls that returned). The instructions sum to those of the processes in user mode.

    :param process: as for :func:`processes_of`.
    :param symbols: a directory with debug files, which name functions that the recording has no names for.
    :param interval: only what was executed in these slices of time; a call counts where it began.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> user_functions(firstlight.open(bundle)).height
    0
    """
    table = sliced.code(boot)
    if table.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    made = sliced.calls(boot, interval).group_by(row="user_function").agg(
        calls=pl.col("began").sum(), call_instructions=pl.col("kernel_instructions").sum()
    )  # fmt: skip
    if interval is not None:
        # A function that waits in a call executes nothing, and is there.
        there = sliced.code(boot, interval).select("row", own="self_instructions")
        table = table.join(there, on="row", how="left", maintain_order="left")
        table = table.with_columns(self_instructions=pl.col("own").fill_null(0)).drop("own")
        table = table.filter((pl.col("self_instructions") > 0) | pl.col("row").is_in(made["row"].implode()))
    rows = _named(table, symbols).join(made, on="row", how="left")
    if process is not None:
        rows = rows.filter(pl.col("process").is_in(processes_of(boot, process).implode()))
    sums = pl.col("self_instructions", "calls", "call_instructions").sum()
    found = rows.group_by(PLACE).agg(sums).with_columns(self_ns=pl.col("self_instructions") * step)
    names = pl.Series("name", [code_name(row) for row in found.iter_rows(named=True)], pl.String)
    order = ["self_instructions", "name", "file", "offset"]
    return found.with_columns(names).select(*_SCHEMA).sort(order, descending=[True, False, False, False])


def user_functions_of_threads(boot: Boot) -> pl.DataFrame:
    """What each thread executed in each function of user mode: `thread`, `name`, `file`, `self_instructions`.

    `name` is as in :func:`user_functions`, `file` the last part of the file's path, or in brackets what else the code
    stands in.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> user_functions_of_threads(firstlight.open(bundle)).height
    0
    """
    table = boot.table("user_functions")
    rows = table.select("thread", *PLACE, "self_instructions")
    names = pl.Series("name", [code_name(row) for row in rows.iter_rows(named=True)], pl.String)
    file = pl.coalesce(pl.col("file").str.split("/").list.last(), pl.format("[{}]", "kind"))
    keys = ["thread", "name", "file"]
    named = rows.with_columns(names, file=file)
    return named.group_by(keys).agg(pl.col("self_instructions").sum()).sort(keys)


def process_work(
    boot: Boot, process: str | None = None, *, symbols: Path | None = None, interval: Interval | None = None
) -> pl.DataFrame:
    """All that processes executed: their functions in user mode, each system call, and the rest of the kernel.

    Columns: `name`, `kind` (what code stands in, or `system_call`, `kernel` for page faults, the switches between
    threads and calls that did not return, `interrupts` for those that came meanwhile, `user` where user code was not
    followed), `file`, `count` (of system calls), `self_instructions`, `self_ns`. The instructions sum to those of the
    processes.

    :param process: as for :func:`processes_of`.
    :param symbols: as for :func:`user_functions`.
    :param interval: as for :func:`user_functions`.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> process_work(firstlight.open(bundle)).height
    0
    """
    which = processes_of(boot, process)
    processes = sliced.modes(boot, interval).filter(pl.col("process").is_in(which.implode()))
    if processes.is_empty():
        return pl.DataFrame(schema=_WORK)
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    calls = sliced.calls(boot, interval).filter(pl.col("process").is_in(which.implode()))
    by_call = calls.group_by("name").agg(
        count=pl.col("began").sum(), self_instructions=pl.col("kernel_instructions").sum()
    )
    user, kernel, interrupts = processes.select(
        pl.col("user_instructions", "kernel_instructions", "interrupt_instructions").sum()
    ).row(0)
    functions = user_functions(boot, process, symbols=symbols, interval=interval).select(
        "name", "kind", "file", "self_instructions"
    )
    rest = [
        ("[page faults, switches, unfinished calls]", "kernel", kernel - by_call["self_instructions"].sum()),
        (CallRow.INTERRUPTS, "interrupts", interrupts),
        *([(CallRow.USER, "user", user)] if functions.is_empty() else []),
    ]
    others = pl.DataFrame(rest, schema=columns("name kind self_instructions:int"), orient="row")
    work = pl.concat([functions, by_call.with_columns(kind=pl.lit("system_call")), others], how="diagonal")
    work = work.with_columns(self_ns=pl.col("self_instructions") * step).select(*_WORK)
    return work.sort("self_instructions", "name", "file", descending=[True, False, False])


def code_name(row: Mapping[str, Any]) -> str:
    """What a function of user mode is called: its own name, its file with the address, or what its code stands in.

    >>> code_name({"function": None, "kind": "file", "file": "/usr/lib/libc.so.6", "address": 0x9000, "offset": 0x8000})
    'libc.so.6+0x9000'
    >>> code_name({"function": None, "kind": "anonymous", "file": None, "address": None, "offset": None})
    '[anonymous]'
    """
    if row["function"] is not None:
        return str(row["function"])
    place = row["address"] if row["address"] is not None else row["offset"]
    name = base_name(row["file"]) if row["file"] else f"[{row['kind']}]"
    return name if place is None else f"{name}+{place:#x}"


@lru_cache(maxsize=4096)
def base_name(file: str) -> str:
    """The last part of the path of a file. A boot has few files and very many functions in them.

    >>> base_name("/usr/lib/libc.so.6")
    'libc.so.6'
    """
    return PurePosixPath(file).name


def _named(table: pl.DataFrame, symbols: Path | None) -> pl.DataFrame:
    """Rows with the names that debug files have for functions without one."""
    if symbols is None:
        return table
    where = debug_files(symbols)
    lacks = table.filter(
        pl.col("function").is_null() & pl.col("address").is_not_null() & pl.col("build_id").is_not_null()
    )
    names: list[tuple[str, int, str, int]] = []
    for (file, build_id), rows in lacks.group_by("file", "build_id"):
        debug = where.find(str(file), str(build_id))
        addresses = rows["address"].unique().to_list()
        found = None if debug is None else _core.function_names(str(debug), str(build_id), addresses)
        for address, name in zip(addresses, found or [], strict=False):
            if name is not None:
                names.append((str(build_id), address, *name))
    known = pl.DataFrame(names, schema=columns("build_id address:int known start:int"), orient="row")
    is_new = pl.col("known").is_not_null() & pl.col("function").is_null()
    begins = pl.col("address") - pl.col("start")
    return table.join(known, on=["build_id", "address"], how="left", maintain_order="left").with_columns(
        function=pl.when(is_new).then("known").otherwise("function"),
        source=pl.when(is_new).then(pl.lit(FunctionSource.DEBUG_FILE.value)).otherwise("source"),
        offset=pl.when(is_new).then(pl.col("offset") - begins).otherwise("offset"),
        address=pl.when(is_new).then("start").otherwise("address"),
    )


def by_file(rows: pl.DataFrame) -> pl.DataFrame:
    """The sums of files and other code, the most instructions first.

    :param rows: of :func:`user_functions`.
    """
    where = pl.when(pl.col("file").is_null()).then(pl.format("[{}]", "kind")).otherwise("file")
    named = pl.col("source").is_in([FunctionSource.FRAME_TABLE, FunctionSource.BLOCK, FunctionSource.NONE])
    own = pl.col("self_instructions")
    return (
        rows.group_by(where.alias("file"), "kind", "build_id")
        .agg(own.sum(), named_instructions=own.filter(~named).sum(), functions=pl.len().cast(pl.Int64))
        .sort("self_instructions", "file", descending=[True, False])
    )

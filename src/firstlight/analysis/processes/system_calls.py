"""System calls: each one, and their sums."""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from firstlight.analysis.processes.imported import imported_processes
from firstlight.analysis.processes.imported_calls import imported_calls
from firstlight.analysis.processes.processes import service_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns


class GroupCalls(StrEnum):
    """By what system calls are summed."""

    PROCESS = "process"
    CALL = "call"
    PATH = "path"


_SCHEMA = columns(
    "call:int process:int pid:int image service thread:int name path start_ns:int end_ns:int duration_ns:int "
    "instructions:int wait_ns:int result:int bytes:int argument_0:int argument_1:int argument_2:int"
)

#: Calls that return how many bytes they moved (`man 2`).
MOVES_BYTES = (
    *("read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64", "writev", "pwritev", "pwritev2"),
    *("recvfrom", "recvmsg", "sendto", "sendmsg", "getrandom", "getdents64", "sendfile", "splice", "copy_file_range"),
)
#: The bytes that a call moved.
_MOVED = pl.when(pl.col("name").is_in(MOVES_BYTES) & (pl.col("result") >= 0)).then("result")


def image_at(boot: Boot) -> pl.DataFrame:
    """What each thread ran in user mode from when on: `thread`, `from_ns`, `image`, `service`."""
    rows = boot.table("images").select("thread", "image", service_of("cgroup"), from_ns=pl.col("start_ns"))
    return rows.sort("from_ns")


def system_calls(boot: Boot, process: str | None = None) -> pl.DataFrame:
    """Every system call of the boot, in the order of their beginnings.

    Columns: `call` (number), `process`, `pid`, `image` (what the process ran when it called), `service`, `thread`,
    `name`, `path` (of what the call works on, as it was passed), `start_ns`, `end_ns` (null: it did not return),
    `duration_ns`, `instructions` (of the kernel for the call, without interrupts), `wait_ns` (the thread did not have
    the processor), `result` (negative: an error number), `bytes` (that it moved), `argument_0` to `argument_2`.

    An imported boot has the calls that its records know. What they do not know is null: instructions always, the end
    where the record has only the begin.

    :param process: only of this process: a `pid`, a name (`comm`), an executable's path or its last part, or a service.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> system_calls(firstlight.open(bundle)).height
    0
    """
    table = boot.table("system_calls")
    if table.is_empty():
        return _imported(boot, process)
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    pids = boot.table("processes").select("process", "pid")
    threads = boot.table("threads").select("thread", "process", comm="name").join(pids, on="process", how="left")
    ran = pl.sum_horizontal("kernel_instructions", "interrupt_instructions") * step
    rows = (
        table.join(threads, on="thread", how="left", maintain_order="left")
        .sort("start_ns", maintain_order=True)
        .join_asof(image_at(boot), left_on="start_ns", right_on="from_ns", by="thread", check_sortedness=False)
        .with_columns(
            duration_ns=pl.col("end_ns") - pl.col("start_ns"),
            instructions=pl.col("kernel_instructions"),
            wait_ns=pl.col("end_ns") - pl.col("start_ns") - ran,
            bytes=_MOVED,
        )
    )
    if process is not None:
        rows = rows.filter(_is_of(process))
    return rows.sort("call").select(*_SCHEMA)


def _imported(boot: Boot, process: str | None) -> pl.DataFrame:
    rows = imported_calls(boot).with_columns(bytes=_MOVED)
    missing = [name for name in _SCHEMA if name not in rows.columns]
    rows = rows.with_columns(pl.lit(None, _SCHEMA[name]).alias(name) for name in missing)
    if process is not None:
        rows = rows.with_columns(comm=pl.col("image").str.split("/").list.last()).filter(_is_of(process))
    return rows.select(*_SCHEMA)


def process_names(boot: Boot) -> list[str]:
    """Everything that a process of the boot can be asked for by, each once, in order; nothing without processes."""
    processes, threads, images = boot.table("processes"), boot.table("threads"), boot.table("images")
    if processes.is_empty():
        known = imported_processes(boot)
        of_each = [known["pid"].cast(pl.String), known["image"], known["image"].str.split("/").list.last()]
        return sorted({text for column in of_each for text in column if text})
    texts = [
        processes["pid"].cast(pl.String),
        threads["name"],
        images["image"],
        images["image"].str.split("/").list.last(),
        images.select(service_of("cgroup")).to_series(),
    ]
    return sorted({text for column in texts for text in column if text})


def _is_of(process: str) -> pl.Expr:
    named = pl.any_horizontal(pl.col("comm", "image", "service") == process)
    ends = pl.col("image").str.ends_with("/" + process)
    number = pl.col("pid") == int(process) if process.isdecimal() and len(process) < 18 else pl.lit(False)
    return (named | ends | number).fill_null(False)


_KEYS = {
    GroupCalls.PROCESS: ["process", "pid", "image", "service"],
    GroupCalls.CALL: ["name"],
    GroupCalls.PATH: ["path"],
}


def sum_calls(calls: pl.DataFrame, by: GroupCalls) -> pl.DataFrame:
    """The sums of system calls, the most instructions first; without instructions, the longest first.

    Columns: those of the group, `calls`, `errors` (a negative result), `instructions`, `duration_ns`, `wait_ns`,
    `bytes`. Instructions and durations of calls that did not return are unknown and not in the sums. A figure that no
    call has is null.

    :param calls: from :func:`system_calls`.
    :param by: calls without a path are left out of the sums by path.

    >>> figures = {"instructions": [5, 7], "duration_ns": [6, 9], "wait_ns": [0, 2], "result": [3, -11]}
    >>> calls = pl.DataFrame({"name": ["read", "read"], **figures, "bytes": [3, None]})
    >>> sum_calls(calls, GroupCalls.CALL).rows()
    [('read', 2, 1, 12, 15, 2, 3)]
    """
    keys = _KEYS[by]
    rows = calls.filter(pl.col("path").is_not_null()) if by is GroupCalls.PATH else calls
    sums = rows.group_by(keys).agg(
        calls=pl.len().cast(pl.Int64),
        errors=(pl.col("result") < 0).sum().cast(pl.Int64),
        **{name: known_sum(calls, name) for name in ("instructions", "duration_ns", "wait_ns", "bytes")},
    )
    largest = largest_first(calls)
    return sums.sort(largest, *keys, descending=[True, *(False for _ in keys)], nulls_last=True)


def known_sum(calls: pl.DataFrame, name: str) -> pl.Expr:
    """The sum of a figure of calls; null where no call of the boot has it.

    >>> calls = pl.DataFrame({"wait_ns": [None, None], "bytes": [1, 2]}).cast(pl.Int64)
    >>> calls.select(known_sum(calls, "wait_ns"), known_sum(calls, "bytes")).row(0)
    (None, 3)
    """
    unknown = calls.height > 0 and calls[name].null_count() == calls.height
    return pl.lit(None, pl.Int64).alias(name) if unknown else pl.col(name).sum()


def largest_first(calls: pl.DataFrame) -> str:
    """The figure that sorts the sums of calls: instructions, or the time where no instructions are known."""
    return "instructions" if calls["instructions"].null_count() < calls.height else "duration_ns"

"""Files: who opened, read and looked at them, and who looked for them in vain."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.processes.system_calls import known_sum, largest_first, system_calls
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns

_OPENS = ("open", "openat", "openat2", "creat")
_LOOKS = ("stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat")
_READS = ("read", "pread64", "readv", "preadv", "preadv2")
_RUNS = ("execve", "execveat")
_NOT_FOUND = (-2, -20)  # ENOENT, ENOTDIR

_SCHEMA = columns(
    "path process:int pid:int image service opens:int reads:int bytes:int looks:int runs:int not_found:int "
    "calls:int instructions:int duration_ns:int wait_ns:int first_ns:int"
)


def files(boot: Boot, process: str | None = None) -> pl.DataFrame:
    """What each process did to each path, the most instructions of the kernel first; without instructions, the longest.

    Columns: `path` (as it was passed), `process`, `pid`, `image`, `service`, `opens`, `reads` and `bytes` (by
    descriptors that the process opened itself; what it inherited has no path), `looks` (stat, access, readlink),
    `runs` (exec), `not_found`, `calls` (all of these and every other call with that path), `instructions`,
    `duration_ns`, `wait_ns`, `first_ns` (begin of the first call).

    :param process: as for :func:`~firstlight.analysis.processes.system_calls.system_calls`.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> files(firstlight.open(bundle)).height
    0
    """
    calls = system_calls(boot, process)
    if calls.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    rows = calls.filter(pl.col("path").is_not_null())
    name, found = pl.col("name"), pl.col("result") >= 0

    def number(which: pl.Expr) -> pl.Expr:
        return which.sum().cast(pl.Int64)

    keys = ["path", "process", "pid", "image", "service"]
    sums = rows.group_by(keys).agg(
        opens=number(name.is_in(_OPENS) & found),
        reads=number(name.is_in(_READS)),
        bytes=pl.col("bytes").filter(name.is_in(_READS)).sum(),
        looks=number(name.is_in(_LOOKS)),
        runs=number(name.is_in(_RUNS) & found),
        not_found=number(pl.col("result").is_in(_NOT_FOUND)),
        calls=pl.len().cast(pl.Int64),
        **{name: known_sum(calls, name) for name in ("instructions", "duration_ns", "wait_ns")},
        first_ns=pl.col("start_ns").min(),
    )
    order = [largest_first(calls), "path", "process"]
    return sums.sort(order, descending=[True, False, False], nulls_last=True).select(*_SCHEMA)

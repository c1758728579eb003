"""What processes did in slices of time: by what it was executed for, in system calls, and in functions of user mode."""

from __future__ import annotations

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.slices import Interval
from firstlight.errors import BundleError

_MODES = ("user_instructions", "kernel_instructions", "interrupt_instructions")


def is_sliced(boot: Boot) -> bool:
    """Whether the bundle has what its processes did in slices of time; those of earlier versions have not.

    >>> import firstlight
    >>> is_sliced(firstlight.open(bundle))
    False
    """
    return not (
        boot.slices().is_empty() or boot.table("processes").is_empty() or boot.table("slice_threads").is_empty()
    )


def process_interval(boot: Boot, between: tuple[int, int] | None) -> Interval | None:
    """The slices of time between two instants; nothing for the entire boot.

    :param between: two instants in nanoseconds of the boot's clock.
    :raises UsageError: when the second instant is not after the first.
    :raises BundleError: when the bundle does not have what processes did in slices.

    >>> import firstlight
    >>> process_interval(firstlight.open(bundle), None) is None
    True
    """
    if between is None:
        return None
    chosen = boot.interval(*between)
    if not boot.table("processes").is_empty() and boot.table("slice_threads").is_empty():
        hint = "record the boot again with this version"
        message = "this boot has slices of time of the kernel's tree only, not of its processes"
        raise BundleError(message, where=str(boot.directory), hint=hint)
    return chosen


def slice_of(slices: pl.DataFrame, instants: pl.Series) -> pl.Series:
    """The numbers of the slices that instants lie in; the last instant of the boot lies in the last slice.

    :param slices: the table `slices`, with rows.
    :param instants: in nanoseconds of the boot's clock.

    >>> edges = pl.DataFrame({"end_ns": [10, 25]})
    >>> slice_of(edges, pl.Series([0, 9, 10, 25])).to_list()
    [0, 0, 1, 1]
    """
    ends = slices["end_ns"]
    return ends.search_sorted(instants, side="right").cast(pl.Int64).clip(0, ends.len() - 1)


def modes(boot: Boot, interval: Interval | None = None) -> pl.DataFrame:
    """What the instructions of each process were executed for: `process`, `user_instructions`, `kernel_instructions`,
    `interrupt_instructions`, `idle_ns`.

    :param interval: the slices of time that are counted; every process has a row.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> modes(firstlight.open(bundle)).height
    0
    """
    figures = [*_MODES, "idle_ns"]
    every = boot.table("processes").select("process", *figures)
    if interval is None:
        return every
    sums = slice_modes(boot).filter(_inside(interval)).group_by("process").agg(pl.col(figures).sum())
    found = every.select("process").join(sums, on="process", how="left", maintain_order="left")
    return found.with_columns(pl.col(figures).fill_null(0))


def interval_processes(boot: Boot, between: tuple[int, int]) -> pl.DataFrame:
    """What each process did between two instants, those that executed most first; processes that did nothing are left
    out.

    Columns: `process`, `pid`, `name`, those of :func:`modes`, `cpu_ns`, `calls` (that began there).

    :param between: two instants in nanoseconds of the boot's clock.
    :raises UsageError: when the second instant is not after the first.
    :raises BundleError: when the bundle does not have what processes did in slices.

    >>> import firstlight
    >>> interval_processes(firstlight.open(bundle), (0, 1)).height
    0
    """
    chosen = process_interval(boot, between)
    begun = calls(boot, chosen).group_by("process").agg(calls=pl.col("began").sum())
    named = boot.table("processes").select("process", "pid", "name")
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    found = named.join(modes(boot, chosen), on="process").join(begun, on="process", how="left")
    found = found.with_columns(pl.col("calls").fill_null(0), cpu_ns=pl.sum_horizontal(_MODES) * step)
    found = found.filter(pl.any_horizontal(pl.col("cpu_ns", "idle_ns", "calls") > 0))
    columns = ["process", "pid", "name", *_MODES, "idle_ns", "cpu_ns", "calls"]
    return found.select(columns).sort("cpu_ns", "process", descending=[True, False])


def slice_modes(boot: Boot) -> pl.DataFrame:
    """As :func:`modes` in each slice, where that is not zero: also `slice`.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> slice_modes(firstlight.open(bundle)).height
    0
    """
    of_threads = boot.table("slice_threads").join(_processes_of_threads(boot), on="thread", how="inner")
    return of_threads.group_by("slice", "process").agg(pl.col(*_MODES, "idle_ns").sum()).drop_nulls("process")


def calls(boot: Boot, interval: Interval | None = None) -> pl.DataFrame:
    """The system calls: the columns of the table and `process`, `began` (1 where it began there, otherwise 0).

    :param interval: the slices of time that are counted: calls that began in them or executed something in the kernel,
        with `kernel_instructions` of these slices.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> calls(firstlight.open(bundle)).height
    0
    """
    table = boot.table("system_calls").join(_processes_of_threads(boot), on="thread", how="left", maintain_order="left")
    if interval is None:
        return table.with_columns(began=pl.lit(1, pl.Int64))
    own = (
        boot.table("slice_system_calls")
        .filter(_inside(interval))
        .group_by("call")
        .agg(pl.col("kernel_instructions").sum())
    )
    there = table.drop("kernel_instructions").join(own, on="call", how="left", maintain_order="left")
    first = slice_of(boot.slices(), table["start_ns"])
    began = first.is_between(interval.first, interval.last).cast(pl.Int64)
    counted = there.with_columns(pl.col("kernel_instructions").fill_null(0), began=began)
    return counted.filter((pl.col("began") > 0) | (pl.col("kernel_instructions") > 0)).select(*table.columns, "began")


def slice_calls(boot: Boot) -> pl.DataFrame:
    """The system calls in each slice: `slice`, `process`, `name`, `user_function`, `began` (how many), `own` (their
    instructions in the kernel).

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> slice_calls(firstlight.open(bundle)).height
    0
    """
    table = boot.table("system_calls").join(_processes_of_threads(boot), on="thread", how="left")
    keys = ["process", "name", "user_function"]
    begun = table.select(
        *keys,
        slice=slice_of(boot.slices(), table["start_ns"]) if table.height else pl.Series([], dtype=pl.Int64),
        began=pl.lit(1, pl.Int64),
        own=pl.lit(0, pl.Int64),
    )
    parts = boot.table("slice_system_calls").join(table.select("call", *keys), on="call", how="inner")
    worked = parts.select(*keys, "slice", began=pl.lit(0, pl.Int64), own=pl.col("kernel_instructions"))
    return pl.concat([begun, worked]).group_by("slice", *keys).agg(pl.col("began", "own").sum())


def code(boot: Boot, interval: Interval | None = None) -> pl.DataFrame:
    """The table `user_functions`, of the entire boot or with what was executed in an interval.

    :param interval: the slices of time that are counted; only rows of which something was executed.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> code(firstlight.open(bundle)).height
    0
    """
    table = boot.table("user_functions")
    if interval is None:
        return table
    own = boot.table("slice_user_functions").filter(_inside(interval))
    sums = own.group_by("row").agg(pl.col("self_instructions").sum())
    there = table.drop("self_instructions").join(sums, on="row", how="inner", maintain_order="left")
    return there.select(table.columns)


def _inside(interval: Interval) -> pl.Expr:
    return pl.col("slice").is_between(interval.first, interval.last)


def _processes_of_threads(boot: Boot) -> pl.DataFrame:
    return boot.table("threads").select("thread", "process")

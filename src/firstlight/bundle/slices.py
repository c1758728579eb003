"""Slices of time: the intervals that the tree is known for, and what a selection of time counts."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.errors import UsageError
from firstlight.quantities import time_text


@dataclass(frozen=True)
class Interval:
    """Consecutive slices of a boot. Its figures are exact: they are the sums of the slices."""

    first: int
    """The number of its first slice."""
    last: int
    """The number of its last slice."""
    start_ns: int
    end_ns: int
    instructions: int
    idle_ns: int

    @property
    def slices(self) -> int:
        """How many slices it has."""
        return self.last - self.first + 1


def snapped(slices: pl.DataFrame, start_ns: int, end_ns: int) -> Interval:
    """The slices between the edges nearest to two instants; of two edges that are equally near, the earlier one.

    Where the nearest edges leave no slice in between, it is the slice that has the middle of both instants. The report
    page snaps a selection by the same rule.

    :param slices: the table `slices`, with rows.
    :param start_ns: an instant of the boot's clock, in nanoseconds.
    :param end_ns: a later one.
    :raises UsageError: when the second instant is not after the first, or both lie outside the boot.

    >>> import polars as pl
    >>> edges = pl.DataFrame({"slice": [0, 1], "start_ns": [0, 10], "end_ns": [10, 25]})
    >>> slices = edges.with_columns(instructions=pl.Series([10, 9]), idle_ns=pl.Series([0, 6]))
    >>> snapped(slices, 4, 30)
    Interval(first=0, last=1, start_ns=0, end_ns=25, instructions=19, idle_ns=6)
    >>> snapped(slices, 11, 13).first
    1
    """
    if end_ns <= start_ns:
        raise UsageError(
            f"{time_text(end_ns)} is not after {time_text(start_ns)}", hint="an interval begins before it ends"
        )
    begin, last_end = int(slices["start_ns"][0]), int(slices["end_ns"][-1])
    if end_ns <= begin or start_ns >= last_end:
        asked = f"{time_text(start_ns)} to {time_text(end_ns)}"
        hint = "`firstlight show` lists phases and marks with their times"
        raise UsageError(f"{asked} is outside the boot, which lasts from {time_text(begin)} to {time_text(last_end)}",
                         hint=hint)  # fmt: skip
    # Of equal distances the first minimum counts.
    first = (slices["start_ns"] - start_ns).abs().arg_min() or 0
    last = (slices["end_ns"] - end_ns).abs().arg_min() or 0
    if last < first:
        middle = start_ns + end_ns
        inside = slices.filter((2 * pl.col("start_ns") <= middle) & (pl.lit(middle) < 2 * pl.col("end_ns")))
        first = last = int(inside["slice"][0]) if inside.height else last
    chosen = slices.slice(first, last - first + 1)
    return Interval(
        first=first,
        last=last,
        start_ns=chosen["start_ns"][0],
        end_ns=chosen["end_ns"][-1],
        instructions=int(chosen["instructions"].sum()),
        idle_ns=int(chosen["idle_ns"].sum()),
    )


def interval_calls(rows: pl.DataFrame, calls: pl.DataFrame, interval: Interval, shift: int) -> pl.DataFrame:
    """What each node did by itself in an interval: `node`, `calls`, `self_instructions`, `self_ns`.

    :param rows: the table `slice_calls`.
    :param calls: the table `calls`, of the same nodes.
    :param shift: an instruction takes 2 to the power of this in nanoseconds.
    """
    inside = rows.filter(pl.col("slice").is_between(interval.first, interval.last))
    sums = inside.group_by("node").agg(pl.col("calls", "self_instructions").sum())
    sums = sums.with_columns(self_ns=pl.col("self_instructions") * (1 << shift))
    idle = calls.filter(pl.col("kind") == "idle").head(1 if interval.idle_ns else 0).select("node")
    idled = idle.with_columns(calls=pl.lit(0, pl.Int64), self_instructions=pl.lit(0, pl.Int64))
    idled = idled.with_columns(self_ns=pl.lit(interval.idle_ns, pl.Int64))
    return pl.concat([sums, idled]).group_by("node").agg(pl.all().sum()).sort("node")

"""From start_kernel to the first instruction of user mode: what each node of the profile did in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from firstlight import BundleError
from firstlight.study import Boot, Mark

FIRST, LAST = Mark.KERNEL_START, Mark.USER_START


@dataclass(frozen=True)
class Window:
    """The two instants, and the phases in between, which they are made of."""

    start_ns: int
    end_ns: int
    instructions: int
    idle_ns: int
    phases: tuple[str, ...]
    ready_ns: int | None
    """When the guest was ready, if it was."""

    @property
    def length_ns(self) -> int:
        """Virtual time from the first mark to the last."""
        return self.end_ns - self.start_ns


def window_of(boot: Boot) -> Window:
    """The window of a boot.

    :raises BundleError: when it lacks one of the two marks.
    """
    marks = {mark: (time, instructions, idle) for mark, time, instructions, idle in
             boot.marks().select("mark", "time_ns", "instructions", "idle_ns").iter_rows()}  # fmt: skip
    for mark in (FIRST, LAST):
        if mark not in marks or None in marks[mark]:
            raise BundleError(f"this boot has no mark `{mark}`", where=str(boot.directory))
    (start, at_start, idle_start), (end, at_end, idle_end) = marks[FIRST], marks[LAST]
    phases = boot.phases().filter((pl.col("start_ns") >= start) & (pl.col("end_ns") <= end))["phase"].to_list()
    ready = marks.get("ready", (None,))[0]
    return Window(start, end, at_end - at_start, idle_end - idle_start, tuple(phases), ready)


@dataclass(frozen=True)
class Tree:
    """What each node of the calling-context tree did by itself in some phases; parents before children."""

    parents: Sequence[int]
    """Their places in these lists; -1: none."""
    functions: Sequence[str]
    kinds: Sequence[str]
    calls: Sequence[int]
    self_ns: Sequence[int]


def tree_in(boot: Boot, phases: tuple[str, ...]) -> Tree:
    """The tree of a boot, with what its nodes did by themselves in these phases.

    :raises BundleError: when the boot has no profile.
    """
    boot.check_profile()
    own = (
        boot.phase_calls()
        .filter(pl.col("phase").is_in(phases))
        .group_by("node")
        .agg(pl.col("calls").sum(), pl.col("self_ns").sum())
    )
    rows = (
        boot.calls()
        .select("node", "parent", "function", "kind")
        .sort("node")
        .with_row_index("place")
        .join(own, on="node", how="left", maintain_order="left")
        .with_columns(pl.col("calls", "self_ns").fill_null(0))
    )
    places = rows.select(pl.col("node").alias("parent"), pl.col("place").cast(pl.Int64).alias("above"))
    above = rows.join(places, on="parent", how="left", maintain_order="left")["above"].fill_null(-1)
    return Tree(
        above.to_list(),
        rows["function"].to_list(),
        rows["kind"].to_list(),
        rows["calls"].to_list(),
        rows["self_ns"].to_list(),
    )

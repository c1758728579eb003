"""The phases of the kernel, which follow one another whatever ran in them."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import polars as pl

from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.schema.marks import Mark, Phase, Stage
from firstlight.schema.spans import CallKind

#: The name of a part of the path that no recorded step explains.
UNKNOWN = "[waiting, cause unknown]"

#: Names of phases and stages with which userspace begins: until there the kernel's phases follow one another.
_USERSPACE = frozenset(
    {Phase.USERSPACE, CallKind.USER, Mark.USER_START, Mark.USERSPACE_START, Phase.INITRAMFS}
    | {Mark.INITRAMFS_START, Mark.GUEST_START, Stage.INITRD, Stage.SOFT_REBOOT}
)

#: The phase of which no record states where the kernel ended and userspace began.
_UNDIVIDED = "unknown"


def kernel_phases(boot: Boot) -> tuple[list[tuple[str, int, int]], int | None]:
    """The phases of the kernel and what ran before it, in order, and when userspace began; by stages without phases."""
    phases = boot.phases().select("phase", "start_ns", "end_ns").drop_nulls().rows()
    if not phases:
        stages = spans_of(boot, "stage").filter(pl.col("parent").is_null())
        phases = stages.select("name", "start_ns", "end_ns").drop_nulls().rows()
    kernel: list[tuple[str, int, int]] = []
    for name, start, end in phases:
        if name in _USERSPACE:
            return kernel, start
        if name == _UNDIVIDED:
            return kernel, None
        if end > start and (not kernel or start >= kernel[-1][2]):
            kernel.append((name, start, end))
    return kernel, None


class KernelPhases:
    """Those of one boot, to fill with them what no step explains."""

    def __init__(self, boot: Boot) -> None:
        self.kernel, _ = kernel_phases(boot)
        self._starts = [start for _, start, _ in self.kernel]

    def cover(self, start: int, end: int, why: str) -> list[dict[str, Any]]:
        """The time between two instants in parts, the last one first."""
        rows: list[dict[str, Any]] = []

        def part(name: str, kind: str, begin: int, finish: int) -> None:
            edge = "serial" if kind == "phase" else None
            rows.append({"kind": kind, "name": name, "track": "", "start_ns": begin, "end_ns": finish, "edge": edge,
                         "grade": None, "span": None})  # fmt: skip

        at = start
        place = max(0, bisect_right(self._starts, start) - 1)
        while at < end:
            name, begin, finish = self.kernel[place] if place < len(self.kernel) else ("", end, end)
            if begin > at:
                part(why, "waiting", at, min(begin, end))
                at = min(begin, end)
            elif finish > at:
                waits = why != UNKNOWN
                part(why if waits else name, "waiting" if waits else "phase", at, min(finish, end))
                at = min(finish, end)
            place += 1
        rows.reverse()
        return rows

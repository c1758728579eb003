"""What a tuning makes faster."""

from __future__ import annotations

from enum import StrEnum

from firstlight.bundle.boot import Boot
from firstlight.schema.marks import Mark


class Goal(StrEnum):
    """The interval that a tuning makes shorter."""

    KERNEL = "kernel"
    """From `start_kernel` to the first instruction of user mode."""
    USERSPACE = "userspace"
    """From there to the end of the boot."""
    READY = "ready"
    """From power-on to the end of the boot."""

    @property
    def marks(self) -> tuple[Mark, Mark]:
        """The two marks."""
        return _MARKS[self]


_MARKS = {
    Goal.KERNEL: (Mark.KERNEL_START, Mark.USER_START),
    Goal.USERSPACE: (Mark.USER_START, Mark.READY),
    Goal.READY: (Mark.POWER_ON, Mark.READY),
}


def goal_time(boot: Boot, goal: Goal) -> int | str:
    """The time of the goal in nanoseconds, or which mark never came.

    >>> import firstlight
    >>> goal_time(firstlight.open(bundle), Goal.READY)
    829882107
    """
    times = dict(boot.marks().select("mark", "time_ns").drop_nulls().iter_rows())
    missing = [f"`{mark}`" for mark in goal.marks if mark not in times]
    if missing:
        return f"the boot has no mark {' and '.join(missing)}"
    first, last = goal.marks
    return int(times[last] - times[first])

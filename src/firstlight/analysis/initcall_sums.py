"""How the durations of single initcalls add up to the phase of the initcalls."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.analysis.initcalls import initcall_phase, timed
from firstlight.analysis.interval_union import Interval, clipped, union_ns
from firstlight.bundle.boot import Boot

#: The row of the initcalls that ran wholly before or after the phase: consoles, modules of userspace.
APART = "[before or after the phase]"
#: The row of what durations differ from the time between the stamps, in which overlaps count once.
STAMPS = "[difference to the stamps]"


@dataclass(frozen=True)
class InitcallSums:
    """What the durations of all initcalls add up to, and what leads from there to their phase.

    ``all_ns - apart_ns + stamps_ns + outside_ns`` is the length of the phase.
    """

    phase: Interval
    """The two instants of the phase."""
    all_ns: int
    """All durations that are known, added up."""
    apart: int
    """How many initcalls ran wholly before or after the phase."""
    apart_ns: int
    """Their durations added up."""
    stamps_ns: int
    """What is to be added to the durations in the phase so that they are the time between their stamps, each instant
    once and only in the phase: less than nothing where initcalls overlap."""
    outside_ns: int
    """What of the phase lies in no initcall."""


def initcall_sums(boot: Boot, calls: pl.DataFrame) -> InitcallSums | None:
    """The way from the durations of all initcalls to the length of their phase; none where no instant is known.

    :param calls: all rows of :func:`firstlight.analysis.initcalls.initcalls`.

    >>> import firstlight
    >>> from firstlight.analysis.initcalls import initcalls
    >>> boot = firstlight.open(bundle)
    >>> sums = initcall_sums(boot, initcalls(boot))
    >>> sums.all_ns - sums.apart_ns + sums.stamps_ns + sums.outside_ns == sums.phase[1] - sums.phase[0]
    True
    """
    phase = initcall_phase(boot, calls)
    if phase is None:
        return None
    apart = [
        duration or 0
        for start, end, duration in calls.select("start_ns", "end_ns", "duration_ns").iter_rows()
        if place(start, end, phase)
    ]
    inside_ns = union_ns(clipped(timed(calls), *phase))
    all_ns = int(calls["duration_ns"].sum())
    return InitcallSums(
        phase=phase,
        all_ns=all_ns,
        apart=len(apart),
        apart_ns=sum(apart),
        stamps_ns=inside_ns - (all_ns - sum(apart)),
        outside_ns=phase[1] - phase[0] - inside_ns,
    )


def place(start: int | None, end: int | None, phase: Interval) -> str:
    """Whether an interval lies wholly before or after the phase; nothing for one that touches it.

    >>> place(1, 5, (5, 9)), place(9, 12, (5, 9)), place(4, 6, (5, 9)), place(5, 5, (5, 9)), place(None, 5, (5, 9))
    ('earlier', 'later', '', '', '')
    """
    if start is not None and end is not None and start < phase[0] and end <= phase[0]:
        return "earlier"
    # What has not ended lies after the phase all the same.
    return "later" if start is not None and start >= phase[1] and (end is None or end > phase[1]) else ""

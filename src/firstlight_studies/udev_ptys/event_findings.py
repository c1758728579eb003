"""What was concluded of single events and devices."""

from __future__ import annotations

from firstlight.study import Finding, missing_in, untestable, verdict
from firstlight_studies.udev_ptys.arms import DEVICES_PER_COUNT, MOST
from firstlight_studies.udev_ptys.figures import PtyFigures, ms, percent
from firstlight_studies.udev_ptys.latency import Latency
from firstlight_studies.udev_ptys.per_device import CALLS, EXEC, FORK, MKNOD, STAT, per_count
from firstlight_studies.udev_ptys.queue import Queue

#: A latency is longer when it is so by more than this: less may be an accident of layout.
_LONGER = 1.1


def calls(figures: PtyFigures) -> Finding:
    """Calls for each device."""
    claim = "Each legacy pseudo-terminal costs udev 2 mknod, 2 stat, and 4 times fork and exec"
    then = "2, 2, 4"
    low, high = (min(figures.sizes), max(figures.sizes)) if figures.sizes else (0, 0)
    found = {}
    for call in CALLS:
        if call.name in (MKNOD, STAT, FORK, EXEC):
            figure = per_count(figures.sizes, call, None, low, high)
            if figure is None:
                return untestable(claim, then, "fewer than two numbers of pseudo-terminals were booted")
            found[call.name] = figure
    now = ", ".join(f"{found[name]:.2f} {name}" for name in (MKNOD, STAT, FORK, EXEC))
    now += " for each, in the entire boot, by all programs together, including the first process"
    holds = abs(found[MKNOD] - 2) < 0.5 and found[FORK] > 2 and found[EXEC] > 2
    why = "the kernel makes the nodes itself (devtmpfs), and udev's workers are reused and contain their helpers"
    return Finding(claim, then, now, verdict(holds), "" if holds else why)


def nodes(figures: PtyFigures) -> Finding:
    """Nodes of sysfs."""
    claim, then = "Some 512 fewer nodes of sysfs to walk", "512"
    if 0 not in figures.terminals or MOST not in figures.terminals:
        return untestable(claim, then, "an arm is missing")
    fewer = figures.terminals[MOST] - figures.terminals[0]
    return Finding(claim, then, f"{fewer} of the class tty", verdict(fewer == MOST * DEVICES_PER_COUNT))


def sooner(figures: PtyFigures, stage: str) -> Finding:
    """The latency of all events, in one stage."""
    claim = f"Events are done sooner on the average without them: {stage}"
    then = "mean 6.95 s → 4.83 s, median 8.16 s → 5.54 s"
    both = _both(figures, stage)
    if isinstance(both, str):
        return untestable(claim, then, both)
    many, few = both
    now = f"mean {ms(many.mean)} → {ms(few.mean)}, median {ms(many.median)} → {ms(few.median)}"
    holds = many.mean > few.mean * _LONGER and many.median > few.median * _LONGER
    return Finding(claim, then, now, verdict(holds), "" if holds else _waited_for_start(many, few))


def throttled(figures: PtyFigures, stage: str) -> Finding:
    """The latency of the other devices' events, in one stage."""
    claim = f"Events of other devices look slow too, because they share udev's queue with the terminals': {stage}"
    then = "said, without a figure"
    both = _both(figures, stage)
    if isinstance(both, str):
        return untestable(claim, then, both)
    many, few = both
    now = f"mean of the others {ms(few.others_mean)} → {ms(many.others_mean)} with them"
    if isinstance(queue := figures.queues.get(("B", stage)), Queue):
        now += (
            f"; with them an event lies unread in udevd's socket for {percent(queue.socket, queue.latency)} of its "
            "latency, on the average (arm with the log)"
        )
    holds = many.others_mean > few.others_mean * _LONGER
    return Finding(claim, then, now, verdict(holds), "" if holds else _waited_for_start(many, few))


def _both(figures: PtyFigures, stage: str) -> tuple[Latency, Latency] | str:
    many, few = figures.latency.get((stage, "B")), figures.latency.get((stage, "C"))
    if isinstance(many, Latency) and isinstance(few, Latency):
        return many, few
    gap = missing_in(many, few)
    return "an arm with an observer is missing" if gap is None else gap.reason


def _waited_for_start(many: Latency, few: Latency) -> str:
    """Events that are sent before udevd is up wait for its start: a latency that is not the queue's."""
    if few.too_early * many.events <= many.too_early * few.events:
        return ""
    return (
        f"without them {few.too_early} of {few.events} events were sent before udevd was up, the first "
        f"{ms(few.up_after_first)} before; with them {many.too_early} of {many.events}: those wait for udevd to "
        f"start, regardless of the queue"
    )

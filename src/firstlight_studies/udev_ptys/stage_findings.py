"""What was concluded of asking for events and processing them, by stage."""

from __future__ import annotations

from firstlight.study import Finding, MissingValue, untestable, verdict
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.figures import PtyFigures, ms, percent
from firstlight_studies.udev_ptys.udev_end import Done

#: Of what it was, in percent: what is left is hardly a change.
_HARDLY = 85
#: Four tenths, give or take one; in percent.
_FOUR_TENTHS = (30, 50)


def _left(pair: tuple[int, int]) -> int:
    """How much of a figure is left without the pseudo-terminals, in percent."""
    return 100 * pair[1] // pair[0] if pair[0] else 100


def trigger(figures: PtyFigures) -> Finding:
    """The time to ask."""
    claim = "Asking for all events takes a fraction without them"
    then = "21 % in the initramfs, 15 % in the system (B→C)"
    known = figures.pairs(stages.TRIGGER_EARLY, stages.TRIGGER)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    early, late = known
    now = f"{_left(early)} % in the initramfs, {_left(late)} % in the system"
    why = "udevd works while udevadm still requests events: on one processor that time contains part of the processing"
    return Finding(claim, then, now, verdict(max(_left(early), _left(late)) <= 60), why)


def early_processing(figures: PtyFigures) -> Finding:
    """What processing takes without the terminals, initramfs."""
    claim, then = "In the initramfs processing hardly changes without them", "97 % of it is left (B→C)"
    known = figures.pairs(stages.COLDPLUG_EARLY, stages.PROCESSING_EARLY, stages.UDEV_EARLY)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    whole, alone, programs = known
    now = (
        f"{_left(whole)} % is left from udev's start until it has settled, {_left(alone)} % after everything is asked "
        f"for, {_left(programs)} % of what udev's programs execute"
    )
    holds = _left(whole) >= _HARDLY
    why = (
        "then processing took 2.84 s of 2.90 s without any of them too: something else filled the time; here it takes "
        f"{ms(alone[1])} of {ms(alone[0])}"
    )
    return Finding(claim, then, now, verdict(holds), "" if holds else why)


def late_processing(figures: PtyFigures) -> Finding:
    """What processing takes without the terminals, system."""
    claim, then = "In the system processing takes less without them", "88 % of it is left (B→C)"
    known = figures.pairs(stages.UDEV, stages.COLDPLUG)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    programs, whole = known
    now = (
        f"{_left(programs)} % is left of what udev's programs execute, {_left(whole)} % from the trigger until the "
        f"waiter is notified"
    )
    return Finding(claim, then, now, verdict(_left(programs) < 95))


def early_share(figures: PtyFigures) -> Finding:
    """udev's share of the initramfs."""
    claim, then = "Most of the initramfs is udev's processing", "77 % (B), of it all 85 % with start and asking"
    known = figures.pairs(stages.COLDPLUG_EARLY, stages.INITRAMFS, stages.PROCESSING_EARLY)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    part, whole, alone = known
    now = (
        f"{percent(part[0], whole[0])} from udev's start until it has settled (B), {percent(alone[0], whole[0])} after "
        "everything is asked for"
    )
    why = "udevd works while udevadm requests events, so the boundary between the two is not a measure"
    return Finding(claim, then, now, verdict(2 * part[0] > whole[0]), why)


def late_share(figures: PtyFigures) -> Finding:
    """udev's share of the system's start."""
    claim, then = "Four tenths of the system's start are udev's processing", "40 % (B)"
    known = figures.pairs(stages.UDEV, stages.PROGRAMS, stages.NOT_YET)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    part, whole, late = known
    now = f"{percent(part[0], whole[0])} of what programs execute is udev's (B)"
    if isinstance(figures.done, Done) and figures.done.system:
        now += f"; udev has events to do for {percent(figures.done.busy, figures.done.system)} of it, with the monitor"
    share = 100 * part[0] / whole[0] if whole[0] else 0.0
    why = (
        f"not evaluated by the time when the waiter is notified: between the trigger's end and its start are "
        f"{ms(late[0])} (B) and "
        f"{ms(late[1])} (C), in which the first process has not started it"
    )
    return Finding(claim, then, now, verdict(_FOUR_TENTHS[0] <= share <= _FOUR_TENTHS[1]), why)

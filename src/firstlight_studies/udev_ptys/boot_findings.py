"""What was concluded of the boot as a whole."""

from __future__ import annotations

from firstlight.study import Finding, MissingValue, untestable, verdict
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.arms import MOST
from firstlight_studies.udev_ptys.figures import ACCIDENT, PtyFigures, ms, percent

#: An exponent of the growth between these is that of a sum over devices: neither a root nor a square.
_LINEAR = (0.8, 1.25)


def shorter(figures: PtyFigures) -> Finding:
    """The system's start, as then, and the whole boot beside it."""
    claim, then = "Without legacy pseudo-terminals the system boots faster", "-1.82 s of 25.86 s (B→C), -1.61 s (A→C)"
    known = figures.pairs(stages.SYSTEM, stages.WHOLE)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    system, whole = known
    saved, in_all = system[0] - system[1], whole[0] - whole[1]
    now = (
        f"the system's start: {ms(saved)} less of {ms(system[0])} ({percent(saved, system[0])}); from power on: "
        f"{ms(in_all)} less of {ms(whole[0])} ({percent(in_all, whole[0])})"
    )
    why = f"{ms(in_all / MOST)} for each of {MOST}: virtual time of one instruction a nanosecond, not a board's seconds"
    return Finding(claim, then, now, verdict(saved > 2 * ACCIDENT * system[0]), why)


def kernel_part(figures: PtyFigures) -> Finding:
    """The kernel's own part of what is saved."""
    claim = "The kernel's own part of it is small: user space pays"
    then = "-0.10 s of the kernel, initramfs and system's -1.93 s together (5 %, B→C)"
    known = figures.pairs(stages.KERNEL, stages.WHOLE)
    if isinstance(known, MissingValue):
        return untestable(claim, then, known.reason)
    kernel, whole = known
    part, saved = kernel[0] - kernel[1], whole[0] - whole[1]
    now = f"{ms(part)} of {ms(saved)} ({percent(part, saved)})"
    return Finding(claim, then, now, verdict(saved > 0 and part < saved / 5))


def version(figures: PtyFigures) -> Finding:
    """What should not matter does not."""
    claim = "Between two builds with the same number (A, B) hardly anything changes"
    then = "+0.21 s of 25.65 s (100%)"
    arms = []
    for arm in (figures.a, figures.b):
        value = arm if isinstance(arm, MissingValue) else arm[stages.WHOLE]
        if isinstance(value, MissingValue):
            return untestable(claim, then, value.reason)
        arms.append(value)
    change = arms[1] - arms[0]
    now = f"{change / 1e6:+,.1f} ms of {ms(arms[0])} ({100 * arms[1] // arms[0] if arms[0] else 0}%)"
    why = "here A is the same kernel with another order of the initramfs and another seed, which should not matter"
    return Finding(claim, then, now, verdict(abs(change) <= 2 * ACCIDENT * arms[0]), why)


def linear(figures: PtyFigures) -> Finding:
    """The form of the law."""
    claim, then = "The cost is a sum over devices: linear in their number", "implied by the cost named for each"
    if isinstance(figures.law, MissingValue):
        return untestable(claim, then, figures.law.reason)
    law = figures.law
    exponent = "none" if law.growth is None else f"{law.growth.value:.3f}"
    now = f"law `{law.law}` ({law.certainty}), exponent of the growth {exponent}"
    if law.law == "n":
        now += f", {ms(law.slope)} for each"
    holds = law.growth is not None and _LINEAR[0] <= law.growth.value <= _LINEAR[1]
    return Finding(claim, then, now, verdict(holds), f"held where the exponent is {_LINEAR[0]} to {_LINEAR[1]}")


def nobody_waits(figures: PtyFigures) -> Finding:
    """What is saved where nothing waits for udev."""
    claim = "A boot waits for udev to settle, so udev's time is added to the boot"
    then = "processing in the system -1.23 s, boot -1.82 s (B→C)"
    waited, (many, few) = figures.pair(stages.WHOLE), figures.free
    if isinstance(waited, MissingValue):
        return untestable(claim, then, waited.reason)
    if isinstance(many, MissingValue) or isinstance(few, MissingValue):
        return untestable(claim, then, "the arms in which nothing waits are missing")
    kept, saved = many - few, waited[0] - waited[1]
    if saved <= 2 * ACCIDENT * waited[0]:
        return untestable(claim, then, f"{ms(saved)} saved where the boot waits: nothing to compare with")
    now = f"{ms(saved)} saved where the boot waits, {ms(kept)} where nothing waits ({percent(kept, saved)})"
    holds = kept < saved / 2
    why = "on one processor udev's work delays other programs, whether the boot waits for it or not"
    return Finding(claim, then, now, verdict(holds), "" if holds else why)

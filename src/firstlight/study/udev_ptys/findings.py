"""What was concluded then, and what our figures say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firstlight.study.outcome import Finding, untestable, verdict
from firstlight.study.table import Hole
from firstlight.study.udev_ptys import stages
from firstlight.study.udev_ptys.arms import DEVICES_PER_COUNT, MOST
from firstlight.study.udev_ptys.counts import Counted
from firstlight.study.udev_ptys.latency import Latency
from firstlight.study.udev_ptys.law import CostLaw
from firstlight.study.udev_ptys.per_device import CALLS, EXEC, FORK, MKNOD, STAT, per_count

Times = Mapping[str, int | Hole]
#: A change that is not there is smaller than this part of what it is of: so much may an accident of layout do.
_ACCIDENT = 0.01


@dataclass(frozen=True)
class Figures:
    """What the conclusions are drawn from; holes where arms are missing."""

    a: Times | Hole
    b: Times | Hole
    c: Times | Hole
    """Stages of the three arms, nobody watching."""
    sizes: Mapping[int, Counted]
    """Counts by the number of pseudo-terminals."""
    terminals: Mapping[int, int]
    """Devices of the class tty by that number."""
    latency: Mapping[tuple[str, str], Latency | Hole]
    """By stage (`initramfs`, `system`) and arm (`B`, `C`)."""
    law: CostLaw | Hole
    """Of the whole boot."""
    free: tuple[int | Hole, int | Hole]
    """The whole boot with and without them where nobody waits for udev."""


def findings(figures: Figures) -> tuple[Finding, ...]:
    """Every conclusion of the old study with its verdict."""
    return (
        _shorter(figures), _kernel(figures), _trigger(figures), _processing(figures), _udev_share(figures),
        _calls(figures), _nodes(figures), _latencies(figures), _throttled(figures), _version(figures), _linear(figures),
        _nobody_waits(figures),
    )  # fmt: skip


def _pair(figures: Figures, stage: str) -> tuple[int, int] | str:
    """A stage with the pseudo-terminals and without; or why that is not known."""
    found = []
    for arm in (figures.b, figures.c):
        value = arm if isinstance(arm, Hole) else arm[stage]
        if isinstance(value, Hole):
            return value.reason
        found.append(value)
    return found[0], found[1]


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "of nothing"


def _ms(ns: float) -> str:
    return f"{ns / 1e6:,.1f} ms"


def _shorter(figures: Figures) -> Finding:
    claim, then = "Without legacy pseudo-terminals the system boots faster", "-1.82 s of 25.86 s (B→C), -1.61 s (A→C)"
    pair = _pair(figures, stages.WHOLE)
    if isinstance(pair, str):
        return untestable(claim, then, pair)
    many, few = pair
    saved = many - few
    now = f"{_ms(saved)} less of {_ms(many)} ({_percent(saved, many)})"
    why = f"{_ms(saved / MOST)} for each of {MOST}: virtual time of one instruction a nanosecond, not a board's seconds"
    return Finding(claim, then, now, verdict(saved > _ACCIDENT * many), why)


def _kernel(figures: Figures) -> Finding:
    claim, then = "The kernel's own part of it is small: user space pays", "0.10 s of 1.93 s (5 %)"
    kernel, whole = _pair(figures, stages.KERNEL), _pair(figures, stages.WHOLE)
    if isinstance(kernel, str) or isinstance(whole, str):
        return untestable(claim, then, kernel if isinstance(kernel, str) else str(whole))
    part, saved = kernel[0] - kernel[1], whole[0] - whole[1]
    now = f"{_ms(part)} of {_ms(saved)} ({_percent(part, saved)})"
    return Finding(claim, then, now, verdict(saved > 0 and part < saved / 5))


def _trigger(figures: Figures) -> Finding:
    claim = "Asking for all events takes a fraction without them"
    then = "21 % in the initramfs, 15 % in the system (B→C)"
    early, late = _pair(figures, stages.TRIGGER_EARLY), _pair(figures, stages.TRIGGER)
    if isinstance(early, str) or isinstance(late, str):
        return untestable(claim, then, early if isinstance(early, str) else str(late))
    shares = [100 * few // many if many else 100 for many, few in (early, late)]
    now = f"{shares[0]} % in the initramfs, {shares[1]} % in the system"
    why = "udevd works while udevadm still asks: on one processor the time to ask holds a part of the processing"
    return Finding(claim, then, now, verdict(max(shares) <= 50), why)


def _processing(figures: Figures) -> Finding:
    claim = "In the initramfs processing hardly changes, in the system it does"
    then = "97 % in the initramfs, 88 % in the system (B→C)"
    early, late = _pair(figures, stages.PROCESSING_EARLY), _pair(figures, stages.PROCESSING)
    if isinstance(early, str) or isinstance(late, str):
        return untestable(claim, then, early if isinstance(early, str) else str(late))
    shares = [100 * few // many if many else 100 for many, few in (early, late)]
    now = f"{shares[0]} % in the initramfs, {shares[1]} % in the system"
    why = (
        "then the initramfs took 2.84 s to process without any of them: something else filled the time; here there is "
        "little else, and in the system the first process turns every slave into a unit"
    )
    holds = shares[0] >= 90 and shares[1] < 95
    return Finding(claim, then, now, verdict(holds), "" if holds else why)


def _udev_share(figures: Figures) -> Finding:
    claim = "Most of the initramfs and four tenths of the system's start are udev's processing"
    then = "77 % and 40 % (B)"
    parts = []
    for part, whole in ((stages.PROCESSING_EARLY, stages.INITRAMFS), (stages.PROCESSING, stages.SYSTEM)):
        one, all_ = _pair(figures, part), _pair(figures, whole)
        if isinstance(one, str) or isinstance(all_, str):
            return untestable(claim, then, one if isinstance(one, str) else str(all_))
        parts.append(100 * one[0] // all_[0] if all_[0] else 0)
    now = f"{parts[0]} % and {parts[1]} % (B); with the time to ask for events see the table of stages"
    return Finding(claim, then, now, verdict(parts[0] > 50 and 30 <= parts[1] <= 50))


def _calls(figures: Figures) -> Finding:
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
    holds = abs(found[MKNOD] - 2) < 0.5 and found[FORK] > 2 and found[EXEC] > 2
    why = "the kernel makes the nodes itself (devtmpfs), and udev's workers live on and have their helpers built in"
    return Finding(claim, then, now + " for each, in the whole boot", verdict(holds), "" if holds else why)


def _nodes(figures: Figures) -> Finding:
    claim, then = "Some 512 fewer nodes of sysfs to walk", "512"
    if 0 not in figures.terminals or MOST not in figures.terminals:
        return untestable(claim, then, "an arm is missing")
    fewer = figures.terminals[MOST] - figures.terminals[0]
    return Finding(claim, then, f"{fewer} of the class tty", verdict(fewer == MOST * DEVICES_PER_COUNT))


def _both(figures: Figures, stage: str) -> tuple[Latency, Latency] | None:
    many, few = figures.latency.get((stage, "B")), figures.latency.get((stage, "C"))
    return (many, few) if isinstance(many, Latency) and isinstance(few, Latency) else None


def _latencies(figures: Figures) -> Finding:
    claim, then = "Events are done sooner on the average without them", "mean 6.95 s → 4.83 s, median 8.16 s → 5.54 s"
    texts, sooner = [], []
    for stage in ("initramfs", "system"):
        if (both := _both(figures, stage)) is not None:
            many, few = both
            median = f"median {_ms(many.median)} → {_ms(few.median)}"
            texts.append(f"{stage}: mean {_ms(many.mean)} → {_ms(few.mean)}, {median}")
            sooner.append(few.mean < many.mean and few.median < many.median)
    if not texts:
        return untestable(claim, then, "the arms with an observer are missing")
    return Finding(claim, then, "; ".join(texts), verdict(all(sooner)))


def _throttled(figures: Figures) -> Finding:
    claim = "Events of other devices look slow too, because they stand in one queue with those of the terminals"
    then = "said, without a figure"
    texts, slower = [], []
    for stage in ("initramfs", "system"):
        if (both := _both(figures, stage)) is not None:
            many, few = both
            texts.append(f"{stage}: mean of the others {_ms(few.others_mean)} → {_ms(many.others_mean)} with them")
            slower.append(many.others_mean > few.others_mean * (1 + _ACCIDENT))
    if not texts:
        return untestable(claim, then, "the arms with an observer are missing")
    return Finding(claim, then, "; ".join(texts), verdict(all(slower)))


def _version(figures: Figures) -> Finding:
    claim = "Between two builds with the same number (A, B) hardly anything changes"
    then = "+0.21 s of 25.65 s (100%)"
    arms = []
    for arm in (figures.a, figures.b):
        value = arm if isinstance(arm, Hole) else arm[stages.WHOLE]
        if isinstance(value, Hole):
            return untestable(claim, then, value.reason)
        arms.append(value)
    change = arms[1] - arms[0]
    now = f"{change / 1e6:+,.1f} ms of {_ms(arms[0])} ({100 * arms[1] // arms[0] if arms[0] else 0}%)"
    why = "here A is the same kernel with what should not matter drawn anew: order of the initramfs, seed"
    return Finding(claim, then, now, verdict(abs(change) <= 2 * _ACCIDENT * arms[0]), why)


def _linear(figures: Figures) -> Finding:
    claim, then = "The cost is a sum over devices: linear in their number", "implied by the cost named for each"
    if isinstance(figures.law, Hole):
        return untestable(claim, then, figures.law.reason)
    law = figures.law
    exponent = "none" if law.growth is None else f"{law.growth.value:.3f}"
    now = f"law `{law.law}` ({law.certainty}), exponent of the growth {exponent}, {_ms(law.slope)} for each"
    linear = law.growth is not None and 0.9 <= law.growth.value <= 1.1
    return Finding(claim, then, now if law.law == "n" else now.rpartition(",")[0], verdict(linear))


def _nobody_waits(figures: Figures) -> Finding:
    claim = "A boot waits for udev to settle, so that what udev takes is what the boot takes longer"
    then = "processing in the system -1.23 s, boot -1.82 s (B→C)"
    waited, (many, few) = _pair(figures, stages.WHOLE), figures.free
    if isinstance(many, Hole) or isinstance(few, Hole) or isinstance(waited, str):
        return untestable(
            claim, then, waited if isinstance(waited, str) else "the arms in which nobody waits are missing"
        )
    kept, saved = many - few, waited[0] - waited[1]
    now = f"{_ms(saved)} saved where the boot waits, {_ms(kept)} where nobody does ({_percent(kept, saved)})"
    why = "one processor: udev's work is the boot's work, waited for or not" if kept > saved / 2 else ""
    return Finding(claim, then, now, verdict(kept < saved / 2), why)

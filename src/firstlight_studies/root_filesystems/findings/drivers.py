"""What was concluded about drivers of disks, and what the figures say now."""

from __future__ import annotations

from firstlight.study import Finding, MissingValue, missing_in, time_text, verdict
from firstlight_studies.root_filesystems.findings.figures import RootFigures, missing


def probe(figures: RootFigures) -> Finding:
    """What drivers wait for disks that are not there."""
    claim = "A driver of disks waits for disks that are not there, in fixed delays that spin"
    then = "IDE 262 ms, about 250 ms of it busy-waiting; an empty second channel 1.3 s"
    found = {name: each for name, each in figures.probes.items() if name != "scsi_debug"}
    there = {name: each for name, each in found.items() if not isinstance(each, MissingValue)}
    if not there:
        gap = missing_in(*found.values()) or MissingValue("no driver was loaded")
        return missing(claim, then, gap)
    now = "; ".join(f"{name}: {time_text(each.probing)} until its last message, {time_text(each.busy)} of it spinning"
                    for name, each in there.items())  # fmt: skip
    waits = max(each.probing for each in there.values())
    spins = max(each.busy / each.probing for each in there.values() if each.probing)
    became = verdict(waits >= 10_000_000 and spins >= 0.5)
    why = "drivers/ide is gone (5.14): its successors still wait for an empty port"
    if became != "holds":
        why += ", but asleep"
    return Finding(claim, then, now, became, why)


def preemption(figures: RootFigures) -> Finding:
    """How long loading a driver keeps all else from running."""
    claim = "Loading a driver of disks keeps everything else from running"
    then = "252 ms with preemption off, 9.68 ms after the busy-wait became a sleep"
    loads = {name: each for name, each in figures.sections.items() if name != "boot"}
    there = {name: each for name, each in loads.items() if not isinstance(each, MissingValue)}
    if not there:
        gap = missing_in(*loads.values()) or MissingValue("no driver was loaded under the tracer")
        return missing(claim, then, gap)
    longest = max(each.longest_ns for each in there.values())
    now = "; ".join(f"{name}: {time_text(each.longest_ns)} at most, in {each.task or 'a process without a name'}"
                    for name, each in there.items())  # fmt: skip
    holds = longest >= 9_680_000
    why = "" if holds else "the big kernel lock is gone (2.6.39), and a probe sleeps"
    return Finding(claim, then, now, verdict(holds), why)

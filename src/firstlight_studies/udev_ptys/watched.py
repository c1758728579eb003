"""What the observers of the watched arms saw; what they should have seen and did not is named as missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from firstlight import FirstlightError
from firstlight.study import Boot, Lab, MissingArm, MissingValue, kept_text
from firstlight_studies.udev_ptys import arms as arm
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.events import clock_ahead, observed
from firstlight_studies.udev_ptys.latency import Latency, latency_of
from firstlight_studies.udev_ptys.queue import Queue, queue_of
from firstlight_studies.udev_ptys.residual_files import left_by
from firstlight_studies.udev_ptys.system_files import CLOCKS, LOGS, MONITORS
from firstlight_studies.udev_ptys.udev_end import Done, done_of

STAGES = ("initramfs", "system")
LEFT_OUT = MissingValue("a quick run leaves this arm out")
Boots = Mapping[str, Boot | MissingValue]
Seen = TypeVar("Seen", Latency, Queue, Done)


def latencies(lab: Lab, boots: Boots) -> dict[tuple[str, str], Latency | MissingValue]:
    """By stage and arm, what the monitor saw without logging."""
    found: dict[tuple[str, str], Latency | MissingValue] = {}
    for stage in STAGES:
        for letter, name in _letters(arm.MONITORED).items():
            boot = boots.get(name, LEFT_OUT)
            up = _up(boot) if stage == "system" else 0
            seen = up if isinstance(up, MissingValue) else latency_of(observed(boot, MONITORS[stage], lab.scratch), up)
            found[stage, letter] = _with_gap(lab, boot, f"{name}: latency, {stage}", seen)
    return found


def queues(lab: Lab, boots: Boots) -> dict[tuple[str, str], Queue | MissingValue]:
    """By arm and stage, what log and monitor together saw."""
    found: dict[tuple[str, str], Queue | MissingValue] = {}
    for letter, name in _letters(arm.LOGGED).items():
        for stage in STAGES:
            boot = boots.get(name, LEFT_OUT)
            seen = boot if isinstance(boot, MissingValue) else _queue(lab, boot, stage)
            found[letter, stage] = _with_gap(lab, boot, f"{name}: queue, {stage}", seen)
    return found


def done(lab: Lab, boots: Boots) -> dict[str, Done | MissingValue]:
    """By arm, when udev was done in the system, without logging."""
    found: dict[str, Done | MissingValue] = {}
    for letter, name in _letters(arm.MONITORED).items():
        boot = boots.get(name, LEFT_OUT)
        seen = boot if isinstance(boot, MissingValue) else done_of(boot, lab.scratch)
        found[letter] = _with_gap(lab, boot, f"{name}: when udev was done", seen)
    return found


def _letters(three: arm.Watched) -> dict[str, str]:
    return {"A": three.a, "B": three.b, "C": three.c}


def _queue(lab: Lab, boot: Boot, stage: str) -> Queue | MissingValue:
    ahead = clock_ahead(kept_text(boot, CLOCKS[stage]))
    if ahead is None:
        return MissingValue("the guest did not report the offset of its realtime clock to its monotonic clock")
    logged = observed(boot, LOGS[stage], lab.scratch, ahead)
    return queue_of(logged, observed(boot, MONITORS[stage], lab.scratch))


def _up(boot: Boot | MissingValue) -> int | MissingValue:
    if isinstance(boot, MissingValue):
        return boot
    try:
        return left_by(boot).unit(stages.UDEVD_UNIT, stages.ACTIVE)
    except FirstlightError as error:
        return MissingValue(error.message)


def _with_gap(lab: Lab, boot: Boot | MissingValue, what: str, seen: Seen | MissingValue) -> Seen | MissingValue:
    """Name what is not known of a boot; an arm that was not booted is named already."""
    if isinstance(seen, MissingValue) and not isinstance(boot, MissingValue):
        lab.missing.append(MissingArm(what, seen.reason))
    return seen

"""speedscope: one evented profile for every lane of spans, and a weighted one of the calling-context tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.exporters.engine import Lanes, Unit, WeightedStacks, frame_names, span_lanes, weighted_stacks
from firstlight.exporters.result import Exported
from firstlight.quantities import counted
from firstlight.version import VERSION

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class _Frames:
    """The names of a file, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name or "[nameless]", len(self._numbers))

    def all(self) -> list[dict[str, str]]:
        return [{"name": name} for name in self._numbers]


def write_speedscope(boot: Boot, out: Path, unit: Unit = "time") -> Exported:
    """Write *boot* as speedscope's JSON to *out*.

    :param unit: the weight of the calling-context tree; spans are always in time.
    :raises BundleError: when a table cannot be read, or the boot has neither spans nor stacks.
    """
    exported = Exported()
    frames = _Frames()
    profiles = []
    lanes = span_lanes(boot.directory)
    exported.leave_out(lanes.left_out)
    if not boot.calls().is_empty():
        stacks = weighted_stacks(boot.directory, unit)
        exported.weigh(stacks.summary, unit)
        profiles.append(_sampled(stacks, unit, frames))
    names = frame_names(boot)
    first, last = _range(boot, lanes)
    boot_ends = boot.manifest.totals.virtual_ns or last
    unfinished = 0
    for lane in lanes.lanes:
        events, open_ended = _events(lane.steps, lanes, boot_ends, last)
        unfinished += open_ended
        for event in events:
            event["frame"] = frames.number(names[event["frame"]])
        extra = "" if lane.number == 0 else f" ({lane.number + 1})"
        title = f"{lane.group}: {lane.track}{extra}"
        profiles.append({"type": "evented", "name": title, "unit": "nanoseconds", "startValue": first,
                         "endValue": last, "events": events})  # fmt: skip
    if not profiles:
        raise BundleError("nothing to export: the boot has neither a profile nor spans", where=str(boot.directory))
    if unfinished:
        later = ", or of the record where they begin after it" if last > boot_ends else ""
        exported.notes.append(f"{counted(unfinished, 'span')} without an end: drawn to the end of the boot{later}")
    exported.counts["profiles"] = len(profiles)
    document: dict[str, Any] = {
        "$schema": SCHEMA,
        "exporter": f"firstlight {VERSION}",
        "name": boot.directory.resolve().name.removesuffix(".boot"),
        "activeProfileIndex": 0,
        "shared": {"frames": frames.all()},
        "profiles": profiles,
    }
    with out.open("w", encoding="ascii", newline="\n") as file:
        json.dump(document, file, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return exported


def _events(steps: list[int], lanes: Lanes, boot_ends: int, last: int) -> tuple[list[dict[str, Any]], int]:
    """The open and close events of a lane, their frames by row, and the number of its spans without an end.

    What never ended is closed with the boot, or when all that lies in it was over; what began later, with the record.
    """
    events: list[dict[str, Any]] = []
    open_rows: list[int] = []
    now = unfinished = 0

    def close(until: int) -> None:
        """Close the frames on top that have no end, if the boot ends by now."""
        while open_rows and lanes.end[row := open_rows[-1]] is None and (lanes.start[row] or 0) <= boot_ends < until:
            events.append({"type": "C", "frame": open_rows.pop(), "at": max(now, boot_ends)})

    for step in steps:
        row = step if step >= 0 else ~step
        at = (lanes.start if step >= 0 else lanes.end)[row] or 0
        close(at)
        now = at
        events.append({"type": "O" if step >= 0 else "C", "frame": row, "at": at})
        if step >= 0:
            open_rows.append(row)
            unfinished += lanes.end[row] is None
        else:
            open_rows.pop()
    for row in reversed(open_rows):
        now = max(now, boot_ends if (lanes.start[row] or 0) <= boot_ends else last)
        events.append({"type": "C", "frame": row, "at": now})
    return events, unfinished


def _range(boot: Boot, lanes: Lanes) -> tuple[int, int]:
    """The first and the last instant of anything."""
    times = [time for column in (lanes.start, lanes.end) for time in column if time is not None]
    end = boot.manifest.totals.virtual_ns or 0
    return min([0, *times]), max([end, *times])


def _sampled(stacks: WeightedStacks, unit: Unit, frames: _Frames) -> dict[str, Any]:
    paths: list[list[int]] = []
    samples, weights = [], []
    for parent, name, weight in zip(stacks.parent, stacks.name, stacks.weight, strict=True):
        path = [*([] if parent is None else paths[parent]), frames.number(name)]
        paths.append(path)
        if weight:
            samples.append(path)
            weights.append(weight)
    return {
        "type": "sampled",
        "name": "Calls (in the order of the tree, not of time)",
        "unit": "nanoseconds" if unit == "time" else "none",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }

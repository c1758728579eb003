"""The series of a history: points in order, and where they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from firstlight.bundle.older import phase_among
from firstlight.errors import BundleError, UsageError
from firstlight.history.history import History
from firstlight.stats.change_points import DEFAULT_FENCE, ChangePoint, exact_changes, noisy_changes
from firstlight.suggest import unknown_name

Kind = Literal["total", "phase", "function"]

#: A part whose change is less than this share of the whole boot is not looked at.
PART_FLOOR = 0.001


@dataclass(frozen=True)
class Point:
    """One commit or label, with its boots in nanoseconds."""

    at: str
    samples: tuple[int, ...]
    exact: bool = False

    @property
    def level(self) -> int:
        """What the point took: of exact boots the last one's time, which some boot took; else the median.

        >>> Point("v1", (100, 110), exact=True).level, Point("v1", (100, 110)).level
        (110, 105)
        """
        return self.samples[-1] if self.exact else round(median(self.samples))


@dataclass(frozen=True)
class Series:
    """What one thing took, from point to point, on one testbed."""

    kind: Kind
    name: str
    exact: bool
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    left_out: int = 0
    """Boots of other testbeds."""
    unequal: tuple[str, ...] = ()
    """Points whose exact boots differ: they are not exact."""
    incomplete: tuple[str, ...] = ()
    """Boots that lack a part of their evidence, each with its label and what it lacks."""

    def regressions(self) -> list[ChangePoint]:
        """Steps upwards, significant or still open, whose former level no later one reached again."""
        found = []
        for number, change in enumerate(self.changes):
            later = [each.after for each in self.changes[number + 1 :]]
            recovered = any(level <= change.before * (1 + DEFAULT_FENCE) for level in later)
            open_ = not change.significant and not self.exact
            if change.after > change.before and (change.significant or open_) and not recovered:
                found.append(change)
        return found


def read_series(history: History, kind: Kind = "total", name: str = "total") -> Series:
    """One series, of the testbed of the newest boot.

    :raises UsageError: when the history is empty, or has no such series.
    """
    boots, left_out = _of_newest_testbed(history)
    if kind == "phase":
        name = phase_among(name, history.names(kind))
    values = history.values(kind, name)
    if not values:
        try:
            unknown_name(kind, name, history.names(kind), "the history")
        except BundleError as error:
            raise UsageError(error.message, where=error.where, hint=error.hint) from error
    there = history.measured(kind)
    kept = [boot for boot in boots if boot["number"] in there]
    return _series(kind, name, kept, values, left_out)


def changing_series(history: History, kind: Kind) -> list[Series]:
    """Every series of a kind that changed by more than a thousandth of the boot, on the newest boot's testbed."""
    boots, left_out = _of_newest_testbed(history)
    totals = history.values("total", "total")
    there = history.measured(kind)
    boots = [boot for boot in boots if boot["number"] in there]
    if not boots:
        return []
    numbers = [int(boot["number"]) for boot in boots]
    least = max(1, int(median(totals[number] for number in numbers) * PART_FLOOR))
    found = []
    for name in history.changing(kind, numbers, least):
        series = _series(kind, name, boots, history.values(kind, name), left_out)
        if any(abs(change.after - change.before) >= least for change in series.changes):
            found.append(series)
    return found


def _of_newest_testbed(history: History) -> tuple[list[dict[str, Any]], int]:
    boots = history.boots()
    if not boots:
        raise UsageError("this history is empty", hint="`firstlight history add HISTORY BOOT --at LABEL`")
    kept = [boot for boot in boots if boot["testbed"] == boots[-1]["testbed"]]
    return kept, len(boots) - len(kept)


def _series(kind: Kind, name: str, boots: Sequence[dict[str, Any]], values: dict[int, int], left_out: int) -> Series:
    by_label: dict[str, list[int]] = {}
    for boot in boots:
        # What a boot does not have, it spent no time in; one that keeps nothing of the kind is not in the series.
        by_label.setdefault(str(boot["label"]), []).append(values.get(boot["number"], 0))
    exact = all(boot["mode"] == "exact" for boot in boots)
    points = tuple(Point(at, tuple(samples), exact) for at, samples in by_label.items())
    unequal = tuple(point.at for point in points if len(set(point.samples)) > 1) if exact else ()
    if exact:
        changes = exact_changes([point.level for point in points])
    else:
        changes = noisy_changes([point.samples for point in points])
    lacking = [f"{boot['label']} ({boot['boot']}): {boot['missing']}" for boot in boots if boot.get("missing")]
    return Series(kind, name, exact, points, tuple(changes), left_out, unequal, tuple(lacking))

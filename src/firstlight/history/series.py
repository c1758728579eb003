"""The series of a history: points in order, and where they changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from firstlight.bundle.older import phase_among
from firstlight.comparison.known_bands import KnownBand, band_of_recipe
from firstlight.errors import BundleError, UsageError
from firstlight.history.history import History
from firstlight.history.testbeds import Anchor, TestbedBoots, chained, select_testbed
from firstlight.stats.change_points import FENCE, ChangePoint, change_points, regressions
from firstlight.suggest import unknown_name

Kind = Literal["total", "phase", "function", "process", "service", "system_call", "package", "user_function"]

#: The kinds of parts, in the order of reports.
PARTS: tuple[Kind, ...] = (
    *("phase", "function", "process", "service"),
    *("system_call", "package", "user_function"),
)

#: A part whose change is less than this share of the whole boot is not looked at.
PART_FLOOR = 0.001


@dataclass(frozen=True)
class Point:
    """One commit or label, with its boots in nanoseconds."""

    at: str
    samples: tuple[int, ...]
    exact: bool = False
    anchored: bool = False
    """Recorded on another testbed, and scaled by the ratio of an anchor."""

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
    testbed: TestbedBoots
    others: tuple[TestbedBoots, ...] = ()
    """Testbeds whose boots are not in the series."""
    anchors: tuple[Anchor, ...] = ()
    unequal: tuple[str, ...] = ()
    """Points whose exact boots differ: they are not exact."""
    incomplete: tuple[str, ...] = ()
    """Boots that lack a part of their evidence, each with its label and what it lacks."""
    noise_band: str | None = None
    """Of exact boots, the noise band within which nothing is a change, and where it is from."""

    @property
    def left_out(self) -> int:
        """How many boots are of other testbeds."""
        return sum(len(each.boots) for each in self.others)

    def regressions(self) -> list[ChangePoint]:
        """Changes for the worse whose former level no later one reached again."""
        return regressions(self.changes)


def read_series(history: History, kind: Kind = "total", name: str = "total", *, testbed: str | None = None) -> Series:
    """One series.

    :param testbed: its name in this history; by default that of the newest boot.
    :raises UsageError: when the history is empty, or has no such series or testbed.
    """
    if kind == "phase":
        name = phase_among(name, history.names(kind))
    if not history.values(kind, name):
        try:
            unknown_name(kind, name, history.names(kind), "the history")
        except BundleError as error:
            raise UsageError(error.message, where=error.where, hint=error.hint) from error
    return _series(history, kind, name, testbed)


def changing_series(history: History, kind: Kind, *, testbed: str | None = None) -> list[Series]:
    """Every series of a kind that changed by more than a thousandth of the boot."""
    chosen = select_testbed(history.boots(), testbed)
    totals, there = history.values("total", "total"), history.measured(kind)
    numbers = [int(boot["number"]) for boot in chosen.every if boot["number"] in there]
    if not numbers:
        return []
    least = max(1, int(median(totals[number] for number in numbers) * PART_FLOOR))
    found = (_series(history, kind, name, testbed) for name in history.changing(kind, numbers, least))
    return [
        series for series in found
        if any(change.kind in ("step", "creep") and abs(change.after - change.before) >= least
               for change in series.changes)
    ]  # fmt: skip


def _series(history: History, kind: Kind, name: str, testbed: str | None) -> Series:
    chosen = select_testbed(history.boots(), testbed)
    there = history.measured(kind)
    values = history.values(kind, name)
    # What a boot does not have, it spent no time in; one that stores nothing of the kind is not in the series.
    boots = [boot for boot in chosen.every if boot["number"] in there]
    scaled = chained(chosen, {boot["number"]: values.get(boot["number"], 0) for boot in boots})
    by_label: dict[str, list[int]] = {}
    for boot in boots:
        if boot["number"] in scaled:
            by_label.setdefault(str(boot["label"]), []).append(scaled[boot["number"]])
    exact = all(boot["mode"] == "exact" for boot in boots)
    repeated = {number for anchor in chosen.anchors for number in anchor.new}
    own = {str(boot["label"]) for boot in chosen.testbed.boots if boot["number"] not in repeated}
    points = tuple(Point(at, tuple(samples), exact, at not in own) for at, samples in by_label.items())
    known = _band(boots[-1]) if exact and boots else None
    lowest = max(1, min((point.level for point in points), default=1))
    least = FENCE if known is None else max(FENCE, _width_ns(known, kind, name) / lowest)
    return Series(
        kind,
        name,
        exact,
        points,
        tuple(change_points([point.samples for point in points], exact=exact, least=least)),
        chosen.testbed,
        chosen.others,
        chosen.anchors,
        tuple(point.at for point in points if len(set(point.samples)) > 1) if exact else (),
        tuple(_lacking(boots)),
        None if known is None else known.text,
    )


def _band(boot: dict[str, Any]) -> KnownBand:
    """The noise band of a boot of a history. A boot with an image has a root file system."""
    return band_of_recipe(boot.get("recipe_key"), has_rootfs=bool(json.loads(boot["inputs"]).get("image")))


def _width_ns(known: KnownBand, kind: Kind, name: str) -> int:
    """How far the figure of a series changes by itself."""
    if kind == "total":
        return known.total_ns
    return sum(ns for key, ns in known.band.widths(f"{kind}s").items() if key.name == name)


def _lacking(boots: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{boot['label']} ({boot['boot']}): {boot['missing']}" for boot in boots if boot.get("missing")]

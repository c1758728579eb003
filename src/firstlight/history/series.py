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
from firstlight.history.bounds import Point, split_changes
from firstlight.history.history import History
from firstlight.history.measures import BOUNDS
from firstlight.history.testbeds import Anchor, TestbedBoots, chained, select_testbed
from firstlight.recipe.mode import RecordMode
from firstlight.stats.change_points import FENCE, ChangePoint, change_points
from firstlight.stats.regressions import regressions
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
    unsure: tuple[ChangePoint, ...] = ()
    """Changes that may be none: the records do not show well enough when the phase began and ended."""
    contradictions: tuple[str, ...] = ()
    """Why testbeds that have labels in common are not chained: their labels show several ratios."""
    unordered: str | None = None
    """Why the order of the points is not that of the recordings; none where it is, or where the user chose it."""
    failed: tuple[str, ...] = ()
    """Boots of the folder that have no time, each with its name and the reason."""
    newest_failed: bool = False
    """Whether one of them is newer than all points."""

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
    if not history.values(kind, name) and history.boots():
        try:
            unknown_name(kind, name, history.names(kind), "the history", listed=None)
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
    off = history.values(BOUNDS, name) if kind == "phase" else {}
    by_label: dict[str, list[tuple[int, int]]] = {}
    for boot in boots:
        if boot["number"] in scaled:
            one = (scaled[boot["number"]], off.get(boot["number"], 0))
            by_label.setdefault(str(boot["label"]), []).append(one)
    exact = all(boot["mode"] == RecordMode.EXACT for boot in boots)
    repeated = {number for anchor in chosen.anchors for label in anchor.labels for number in label.new}
    own = {str(boot["label"]) for boot in chosen.testbed.boots if boot["number"] not in repeated}
    points = tuple(_point(at, boots, exact, at not in own) for at, boots in by_label.items())
    known = _band(boots[-1]) if exact and boots else None
    lowest = max(1, min((point.level for point in points), default=1))
    least = FENCE if known is None else max(FENCE, _width_ns(known, kind, name) / lowest)
    found = change_points([point.samples for point in points], exact=exact, least=least)
    sure, unsure = split_changes(points, found)
    return Series(
        kind,
        name,
        exact,
        points,
        sure,
        chosen.testbed,
        chosen.others,
        chosen.anchors,
        tuple(point.at for point in points if len(set(point.samples)) > 1) if exact else (),
        tuple(_lacking(boots)),
        None if known is None else known.text,
        unsure,
        chosen.contradictions,
        history.unordered,
        history.failed,
        history.newest_failed,
    )


def _point(at: str, boots: Sequence[tuple[int, int]], exact: bool, anchored: bool) -> Point:
    samples, unsure = zip(*boots, strict=True)
    return Point(at, samples, exact, anchored, unsure if any(unsure) else ())


def _band(boot: dict[str, Any]) -> KnownBand:
    """The noise band of a boot of a history. A boot with an image has a root file system."""
    inputs = json.loads(boot["inputs"])
    return band_of_recipe(boot.get("recipe_key"), has_rootfs=bool(inputs.get("image")), kernel=inputs.get("kernel"))


def _width_ns(known: KnownBand, kind: Kind, name: str) -> int:
    """How far the figure of a series changes by itself."""
    if kind == "total":
        return known.total_ns
    return sum(ns for key, ns in known.band.widths(f"{kind}s").items() if key.name == name)


def _lacking(boots: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{boot['label']} ({boot['boot']}): {boot['missing']}" for boot in boots if boot.get("missing")]

"""A history: its points, its changes, and steps that were never taken back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from firstlight.escape import printable
from firstlight.history.bounds import Point
from firstlight.history.series import Series
from firstlight.history.testbeds import Anchor, what_differs
from firstlight.quantities import counted, percent_text, signed_ns, signed_time, time_text
from firstlight.render.model.pictures import Sparkline
from firstlight.render.model.report import BLANK, Block, Line, picture
from firstlight.render.model.table import Column, Table, Value, table
from firstlight.stats.change_points import ChangePoint


def series_report(series: Series, others: Sequence[Series], limit: int) -> Iterator[Block]:
    """One series: its points with their changes, and below it other series that changed.

    :param limit: so many of the newest points.
    """
    levels = [point.level for point in series.points]
    yield Line(_name(series), "bold", wrap=False)
    yield Line(_method(series), "dim")
    yield picture(Sparkline(levels), "blue")
    yield BLANK
    first = max(0, len(series.points) - limit)
    changes = {change.place: change for change in series.changes}

    def of_change(title: str, value: Callable[[ChangePoint], str], wide: int, fixed: bool = False) -> Column:
        def found(place: int) -> str:
            return value(changes[place]) if place in changes else ""

        return Column(title, value=found, wide=wide, fixed=fixed, longest=80)

    def change(place: int) -> Value:
        if place in changes:
            return _relative(changes[place])
        shown = series.exact and place and levels[place] != levels[place - 1] and levels[place - 1]
        return percent_text((levels[place] / levels[place - 1] - 1) * 100) if shown else ""

    yield table(
        "",
        [
            Column("At", value=lambda place: series.points[place].at, style="cyan", longest=40),
            Column("Boots", "count", lambda place: len(series.points[place].samples), wide=70),
            Column("Time", "time", lambda place: levels[place], style="bold"),
            *([Column("Off by up to", "time", lambda place: _off(series.points[place]))] if _is_unsure(series) else []),
            Column("Change", "percent", change),
            of_change("Size", _size, 60, fixed=True),
            of_change("", lambda found: found.text, 90),
        ],
        range(first, len(series.points)),
    )
    if first:
        yield Line(f"({first} earlier points; --limit shows more)", "dim", wrap=False)
    yield from series_notes(series)
    if others:
        yield BLANK
        yield _others(others)


def regressions_report(found: Sequence[tuple[Series, ChangePoint]], looked_at: str) -> Iterator[Block]:
    """Steps upwards that were never taken back, the largest first.

    :param looked_at: what was looked at.
    """
    if not found:
        yield Line(f"No regression: {looked_at}")
        return
    partly = any(change.remains is not None for _, change in found)
    yield table(
        "",
        [
            Column("At", value=lambda each: each[0].points[each[1].place].at, style="cyan", longest=40),
            Column("What", value=lambda each: _name(each[0]), longest=60),
            Column("Change", "percent", lambda each: _relative(each[1]), style="bold"),
            Column("Kind", value=lambda each: each[1].kind, fixed=True, wide=80),
            Column("ns", "count_change", lambda each: each[1].after - each[1].before, wide=60),
            Column("Size", value=lambda each: each[1].size, fixed=True, wide=80),
            Column("Status", value=lambda each: each[1].status, fixed=True, wide=90),
            *([Column("Remains", "percent", lambda each: _remains(each[1]))] if partly else []),
        ],
        found,
    )
    yield Line(looked_at, "dim")


def _name(series: Series) -> str:
    return "total" if series.kind == "total" else f"{series.kind} {printable(series.name, 60)}"


def _is_unsure(series: Series) -> bool:
    return any(point.unsure for point in series.points)


def _off(point: Point) -> int:
    """How far the level of a point may be off."""
    low, high = point.bounds
    return round(max(high - point.level, point.level - low))


def _unsure_notes(series: Series) -> list[str]:
    """What the records leave open of a phase, and which changes are none because of it."""
    off = [most for point in series.points if (most := _off(point))]
    if not off:
        return []
    many = f"at {len(off)} of {counted(len(series.points), 'point')}"
    said = [f"no record shows when this phase began or ended {many}: it may be off by up to {time_text(max(off))}"]
    for change in series.unsure[:3]:
        by = f"{change.kind} of {signed_time(change.after - change.before)}"
        said.append(f"the {by} at {printable(series.points[change.place].at, 40)} is not a certain change")
    if len(series.unsure) > 3:
        said.append(f"{len(series.unsure) - 3} more such changes are not certain")
    return said


def _method(series: Series) -> str:
    number = f"{len(series.points)} point{'' if len(series.points) == 1 else 's'}"
    if series.exact:
        return f"exact: {number} of {series.testbed.name}"
    return f"noisy: {number} of {series.testbed.name}, changes found: {len(series.changes)}"


def _size(change: ChangePoint) -> str:
    kind = "" if change.kind == "step" else f"{change.kind}, "
    return f"{kind}{change.size}, {change.status}"


def _relative(change: ChangePoint) -> str:
    return "new" if math.isinf(change.relative) else percent_text(change.relative * 100)


def _remains(change: ChangePoint) -> str:
    """How far the series stays above the level before, where a later step took a part of the change back."""
    return "all" if change.remains is None else percent_text(change.remains * 100)


def series_notes(series: Series) -> Iterator[Line]:
    """What a series leaves out, and which of its points are not what they ought to be."""
    notes = [] if series.unordered is None else [series.unordered]
    if series.failed:
        more = f" and {len(series.failed) - 3} more" if len(series.failed) > 3 else ""
        names = "; ".join(printable(each, 200) for each in series.failed[:3])
        notes.append(
            f"{counted(len(series.failed), 'boot')} left out, because a failed boot has no time: {names}{more}"
        )
    notes += _unsure_notes(series)
    notes += [
        f"the points of {anchor.before} are scaled by {anchor.ratio:.6g}, {_anchor_text(anchor)}: {anchor.changed}"
        for anchor in series.anchors
    ]
    notes += [f"{text}; they are not chained" for text in series.contradictions]
    for other in series.others[:5]:
        changed = what_differs(series.testbed, other)
        boots = f"{len(other.boots)} boot{'' if len(other.boots) == 1 else 's'}"
        notes.append(
            f"{boots} of {other.name} left out, `--testbed {other.name[8:]}` shows them: {printable(changed, 200)}"
        )
    if series.incomplete:
        more = f" and {len(series.incomplete) - 3} more" if len(series.incomplete) > 3 else ""
        boots = "; ".join(printable(each, 200) for each in series.incomplete[:3])
        notes.append(
            f"boots that lack some evidence: {boots}{more}: evidence that only the others have looks like a change"
        )
    if series.unequal:
        names = ", ".join(printable(at, 40) for at in series.unequal[:5])
        more = f" and {len(series.unequal) - 5} more" if len(series.unequal) > 5 else ""
        notes.append(f"exact boots with the same label differ at {names}{more}: the last of each is used")
    yield from (Line(note, head="note: ", head_style="yellow", indent=2) for note in notes)
    if series.noise_band is not None:
        yield Line(series.noise_band, "dim", head="  ", indent=2)


def _anchor_text(anchor: Anchor) -> str:
    newest = printable(anchor.at, 40)
    number = len(anchor.labels)
    return f"the anchor at {newest}" if number == 1 else f"the median of {number} anchors, the newest at {newest}"


def _others(others: Sequence[Series]) -> Table:
    return table(
        "",
        [
            Column("What", value="name", style="cyan", longest=60),
            Column("First", "time", lambda series: series.points[0].level, wide=70),
            Column("Last", "time", lambda series: series.points[-1].level),
            Column(
                "Change", "change", lambda series: series.points[-1].level - series.points[0].level, style="bold",
                write=signed_ns,
            ),
            Column(
                "", "picture", lambda series: Sparkline([point.level for point in series.points], 20), style="blue",
                wide=60,
            ),
        ],
        others,
    )  # fmt: skip


def series_data(series: Series) -> dict[str, Any]:
    """A series as data; times are nanoseconds."""
    return {
        "kind": series.kind,
        "name": series.name,
        "regime": "exact" if series.exact else "noisy",
        "testbed": series.testbed.name,
        "anchors": [
            {name: getattr(anchor, name) for name in ("at", "before", "after", "changed", "ratio")}
            for anchor in series.anchors
        ],
        "points": [
            {
                "at": point.at,
                "level_ns": point.level,
                "samples_ns": list(point.samples),
                "anchored": point.anchored,
                "unsure_ns": list(point.unsure) or [0] * len(point.samples),
            }
            for point in series.points
        ],
        "unsure_changes": [change_data(series, change) for change in series.unsure],
        "changes": [change_data(series, change) for change in series.changes],
        "noise_band": series.noise_band,
        "left_out": series.left_out,
        "contradictions": list(series.contradictions),
        "unequal": list(series.unequal),
        "incomplete": list(series.incomplete),
        "unordered": series.unordered,
        "failed": list(series.failed),
    }


def change_data(series: Series, change: ChangePoint) -> dict[str, Any]:
    """A change of a series as data; `relative` is null where the level before was 0: JSON has no infinity."""
    data = {"at": series.points[change.place].at, **asdict(change)}
    data["change"] = data.pop("kind")
    del data["fence"]
    data["relative"] = change.relative if math.isfinite(change.relative) else None
    return data

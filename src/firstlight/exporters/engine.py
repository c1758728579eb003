"""The engine's part of the exports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from firstlight import _core
from firstlight._core import Lane, LeftOut, Stacks
from firstlight.bundle.boot import Boot
from firstlight.schema.spans import SpanKind

Unit = Literal["time", "instructions"]


@dataclass(frozen=True)
class Lanes:
    """The spans of a boot that can be drawn."""

    lanes: list[Lane]
    start: list[int | None]
    """The start of each row of the spans, in ns; none for rows that are not drawn."""
    end: list[int | None]
    """The end in ns, also where it is inferred; none for spans that never ended."""
    left_out: LeftOut


def span_lanes(bundle: Path) -> Lanes:
    """The spans of the bundle at *bundle*, lane by lane.

    :raises BundleError: when the table cannot be read.

    >>> span_lanes(bundle).lanes[0].track
    'boot'
    """
    worked = _core.span_lanes(str(bundle))
    times = pl.DataFrame(worked.times)
    return Lanes(worked.lanes, times["start_ns"].to_list(), times["end_ns"].to_list(), worked.left_out)


#: Kinds of spans that have the name of another one: that of the unit, the event or the phase that they are about.
_NAMED_BY_ANOTHER = frozenset(
    {SpanKind.STAGE, SpanKind.UNIT_ACTIVE, SpanKind.UEVENT_QUEUED, SpanKind.UEVENT_BLOCKED, SpanKind.UEVENT_SERVICE}
)


def frame_names(boot: Boot) -> list[str]:
    """The names of the spans for a format that has only names. A name that is not the span's own work gets its kind.

    >>> import firstlight
    >>> frame_names(firstlight.open(bundle))[0]
    'firmware'
    """
    rows = boot.spans().select("kind", "name").iter_rows()
    return [f"{name} [{kind}]" if kind in _NAMED_BY_ANOTHER else name for kind, name in rows]


@dataclass(frozen=True)
class WeightedStacks:
    """A calling-context tree with weights; parents come before their children."""

    parent: list[int | None]
    name: list[str]
    weight: list[int]
    """Of a node without its children, in ns or instructions."""
    summary: Stacks


def weighted_stacks(bundle: Path, unit: Unit) -> WeightedStacks:
    """The calling-context tree; without one, the spans.

    :raises BundleError: when there is neither, or nothing in them has the unit.

    >>> weighted_stacks(bundle, "time").summary.origin
    'calls'
    """
    stacks = _core.weighted_stacks(str(bundle), unit)
    nodes = pl.DataFrame(stacks.nodes)
    return WeightedStacks(nodes["parent"].to_list(), nodes["name"].to_list(), nodes["weight"].to_list(), stacks)

"""Tracks of recorded spans: phases, initcalls, probes, units, uevents and every other kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.window import Window
from firstlight.bundle.boot import Boot
from firstlight.bundle.phase_bounds import unsure_begins
from firstlight.render.page.timeline.lanes import SERIES, Bar, Look, Sign, Track, packed
from firstlight.schema.spans import InitcallLevel, SpanKind

#: What `really_probe` returns when a driver waits for another device: -EPROBE_DEFER.
_DEFERRED = "-517"
#: A label beside a bar has this share of the boot.
_BESIDE = 0.09
_LEVELS = {str(level): place for place, level in enumerate(InitcallLevel)}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Kind:
    """How the spans of a kind are shown."""

    group: str
    label: str
    look: int
    beside: bool = False


_KINDS = {
    SpanKind.STAGE: _Kind("Boot", "Stages", Look.WORK, beside=True),
    SpanKind.FIRMWARE: _Kind("Boot", "Firmware", Look.OTHER, beside=True),
    SpanKind.PROBE: _Kind("Kernel", "Probes", Look.WORK, beside=True),
    SpanKind.ASYNC: _Kind("Kernel", "Asynchronous calls", Look.OTHER),
    SpanKind.ASYNC_WAIT: _Kind("Kernel", "Waits for asynchronous calls", Look.WAITING),
    SpanKind.FUNCTION: _Kind("Kernel", "Functions", Look.OTHER),
    SpanKind.EVENT: _Kind("Kernel", "Events", Look.OTHER),
    SpanKind.UNIT: _Kind("Services", "Units", Look.WORK, beside=True),
    SpanKind.UNIT_ACTIVE: _Kind("Services", "Active units", Look.LIFE),
    SpanKind.MOUNT: _Kind("Services", "Mounts", Look.OTHER, beside=True),
    SpanKind.UEVENT: _Kind("udev", "Uevents", Look.WORK),
    SpanKind.UEVENT_QUEUED: _Kind("udev", "Queued", Look.WAITING),
    SpanKind.UEVENT_BLOCKED: _Kind("udev", "Held back", Look.DEFERRED),
    SpanKind.UEVENT_SERVICE: _Kind("udev", "In a worker", Look.WORK),
    SpanKind.CONSOLE: _Kind("Boot", "Console at work", Look.OTHER),
    SpanKind.PROCESS: _Kind("Processes", "Process records", Look.LIFE),
}


def phases_track(boot: Boot, whole: Window) -> Track:
    """The phases, one behind the other."""
    rows = boot.phases().filter(pl.col("start_ns").is_not_null()).sort("start_ns", maintain_order=True)
    bars = []
    for place, (name, start, end) in enumerate(rows.select("phase", "start_ns", "end_ns").iter_rows()):
        sign = Sign.OPEN if end is None else Sign.NONE
        bars.append(Bar(start, max(start, whole.last_ns if end is None else end), name, place % SERIES | sign))
    unsure = [(start, whole.last_ns if by is None else by) for start, by in unsure_begins(boot.spans())]
    return Track("Boot", "Phases", packed(bars), role="phases", unsure=unsure)


def span_tracks(boot: Boot, path: CriticalPath, whole: Window, least: int, without: set[SpanKind]) -> Iterator[Track]:
    """A track of each kind of spans that the boot has; the initcalls also by level.

    :param least: shorter spans are left out, and counted; in nanoseconds.
    :param without: kinds that other tracks show.
    """
    critical = frozenset(path.rows["span"].drop_nulls().to_list()) if "span" in path.rows.columns else frozenset()
    gap = round(_BESIDE * whole.length_ns)
    placed = boot.spans().filter(pl.col("start_ns").is_not_null() | pl.col("end_ns").is_not_null())
    made = _Bars(critical, whole)
    calls, left = _longest(placed.filter(pl.col("kind") == SpanKind.INITCALL), least, whole)
    if not calls.is_empty():
        bars = [made.bar(row, _level(row)) for row in calls.iter_rows(named=True)]
        yield Track("Kernel", "Initcalls", packed(bars), beside=True, left_out=left[0], left_out_ns=left[1])
        yield from _by_level(calls, made)
    for kind, how in _KINDS.items():
        rows, left = _longest(placed.filter(pl.col("kind") == kind), least, whole)
        if kind in without or (rows.is_empty() and not left[0]):
            continue
        look: Callable[[Row], int] = _probe if kind is SpanKind.PROBE else lambda _row, how=how: how.look  # type: ignore[misc]
        bars = [made.bar(row, look(row)) for row in rows.iter_rows(named=True)]
        lanes = packed(bars, gap if how.beside else 0)
        yield Track(how.group, how.label, lanes, beside=how.beside, left_out=left[0], left_out_ns=left[1])


@dataclass(frozen=True)
class _Bars:
    critical: frozenset[int]
    whole: Window

    def bar(self, row: Row, look: int) -> Bar:
        """A span as a bar. Of a unit whose start is unknown, and of an open end, the known instant counts."""
        start, end = row["start_ns"], row["end_ns"]
        start = end if start is None else start
        sign = Sign.CRITICAL if row["span"] in self.critical else Sign.NONE
        if end is None:
            return Bar(start, max(start, self.whole.last_ns), row["name"], look | sign | Sign.OPEN)
        return Bar(start, max(start, end), row["name"], look | sign)


def _by_level(calls: pl.DataFrame, made: _Bars) -> Iterator[Track]:
    levels = sorted({level for level in calls["level"].to_list() if level}, key=lambda level: _LEVELS.get(level, 99))
    for level in levels:
        bars = [made.bar(row, _level(row)) for row in calls.filter(pl.col("level") == level).iter_rows(named=True)]
        yield Track("Kernel", level, packed(bars), parent="Initcalls", beside=True)


def _level(row: Row) -> int:
    return _LEVELS.get(row["level"] or "", SERIES - 1) % SERIES


def _probe(row: Row) -> int:
    attributes = json.loads(row["attributes"] or "{}")
    return Look.DEFERRED if attributes.get("returned") == _DEFERRED else Look.WORK


def _longest(rows: pl.DataFrame, least: int, whole: Window) -> tuple[pl.DataFrame, tuple[int, int]]:
    """The spans that are long enough for a page; the number and the time of the others."""
    length = pl.col("end_ns").fill_null(max(whole.last_ns, 0)) - pl.col("start_ns").fill_null(pl.col("end_ns"))
    if least <= 0:
        return rows, (0, 0)
    short = rows.filter(length < least).select(pl.len(), length.sum()).row(0)
    return rows.filter(length >= least), (short[0], short[1] or 0)

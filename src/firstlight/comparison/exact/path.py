"""What runs side by side: only what stands on the critical path enters the sum, all else is hidden work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.interval_union import Interval, clipped, merged
from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.path.critical import CriticalPath, find_path
from firstlight.analysis.path.thread_names import Programs
from firstlight.analysis.spans import WORK, ancestors, spans_of
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.exclusive_time import exclusive_ns
from firstlight.comparison.exact.level import Level, LevelPart, add_part, make_level, ordered
from firstlight.comparison.exact.rows import Key, Row, RowDelta
from firstlight.comparison.sides.stable_names import stable_name
from firstlight.schema.spans import CallKind, CallRow, SpanKind


@dataclass(frozen=True)
class Hidden:
    """Work off the critical path: it contributes 0 to the change."""

    row: Row
    """Its time off the path on both sides."""
    slack_a_ns: int | None
    """By how much it could have ended later in A before the goal was reached later; none where nothing leads there."""
    slack_b_ns: int | None


@dataclass(frozen=True)
class PathDifference:
    """Both critical paths against one another."""

    path: Level | None
    """By owner, whatever its kind; phases own what nothing else explains. None where it is not compared."""
    devices: Level | None
    units: Level | None
    hidden: tuple[Hidden, ...]
    """Changed work off the path, the largest change first."""


def path_difference(a: Boot, b: Boot, whole: Row) -> PathDifference:
    """Match the owners of the two critical paths.

    >>> import firstlight
    >>> from firstlight.comparison.exact.totals import whole
    >>> boot = firstlight.open(bundle)
    >>> difference = path_difference(boot, boot, whole(boot, boot))
    >>> difference.path.changed, difference.devices, difference.units, difference.hidden
    ([], None, None, ())
    """
    # What ran is comparable only where both say so.
    charged = not a.runs().is_empty() and not b.runs().is_empty()
    served = charged and not any(boot.table("images").is_empty() for boot in (a, b))
    one, other = (_Owners(boot, charged=charged, served=served) for boot in (a, b))
    rest = f"[after {one.path.goal}]" if one.path.goal == other.path.goal else "[after the goal]"
    path = make_level("path", one.all(), other.all(), whole, rest)
    devices = units = None
    if one.probes.height and other.probes.height:
        devices = make_level("devices", one.devices, other.devices, whole, "[no device]")
    if one.has("unit") and other.has("unit"):
        units = make_level("units", one.of("unit"), other.of("unit"), whole, "[no unit]")
    return PathDifference(path, devices, units, tuple(_hidden(one, other)))


class _Owners:
    """Who owns the critical path of a boot, and what works beside it."""

    def __init__(self, boot: Boot, *, charged: bool, served: bool) -> None:
        """:param served: whether it is known which service each thread works for."""
        self.path: CriticalPath = find_path(boot, charged=charged, woken=False)
        self._charged = charged
        self.probes = spans_of(boot, "probe").drop_nulls(["start_ns", "end_ns"])
        self._spans = spans_of(boot, SpanKind.UNIT, SpanKind.INITCALL)
        self._tasks = self._initcall_tasks()
        self._programs = Programs(boot, self.path.processor) if served else None
        self._units = set(self._spans.filter(pl.col("kind") == SpanKind.UNIT)["name"].to_list())
        self.devices = self._devices(boot)

    def _initcall_tasks(self) -> dict[int, int | None]:
        """The task that each initcall began on, by its span; nothing of a boot without runs."""
        if not self.path.processor.stretches:
            return {}
        initcalls = self._spans.filter(pl.col("kind") == SpanKind.INITCALL).drop_nulls("start_ns")
        begun = ((span, next(self.path.processor.between(start, start + 1), None))
                 for span, start in initcalls.select("span", "start_ns").iter_rows())  # fmt: skip
        return {span: ran.thread for span, ran in begun if ran is not None}

    def has(self, kind: str) -> bool:
        return not self._spans.filter(pl.col("kind") == kind).is_empty()

    def all(self) -> dict[Key, LevelPart]:
        """What each took on the path. While another task has the processor, that task owns the time.

        An initcall runs on one task, and a unit on those of its service: what preempted it, or ran while it waited, is
        nothing that it did.
        """
        parts: dict[Key, LevelPart] = {}
        columns = ("kind", "name", "span", "start_ns", "end_ns")
        for kind, name, span, start, end in self.path.rows.select(columns).iter_rows():
            task = self._tasks.get(span) if kind == SpanKind.INITCALL else None
            if self._charged and name == UNKNOWN:
                # What ran is known, so this is when nothing did.
                _add(parts, CallRow.IDLE, CallKind.IDLE, end - start)
            elif kind == SpanKind.UNIT and self._programs is not None:
                for owner, its, ns in self._in_unit(name, start, end, self._programs):
                    _add(parts, owner, its, ns)
            elif task is None:
                _add(parts, name, kind, end - start)
            else:
                for ran in self.path.processor.between(start, end):
                    own = ran.thread == task
                    _add(parts, name if own else ran.name, kind if own else "running", ran.end - ran.start)
        return parts

    def _in_unit(self, unit: str, start: int, end: int, programs: Programs) -> Iterator[tuple[str, str, int]]:
        """Who had the processor while a unit stood on the path; while nothing ran, the unit waited."""
        processor = self.path.processor
        for low, high, idles in processor.by_idleness(start, end):
            if idles:
                yield unit, SpanKind.UNIT, high - low
                continue
            for ran in processor.between(low, high):
                for since, until, named in programs.between(ran.thread, ran.start, ran.end):
                    if named.service in self._units:
                        yield str(named.service), SpanKind.UNIT, until - since
                    else:
                        yield ran.name, "running", until - since

    def of(self, kind: str) -> dict[Key, LevelPart]:
        return {key: part for key, part in self.all().items() if key.kind == kind}

    def _devices(self, boot: Boot) -> dict[Key, LevelPart]:
        """The time on the path in which a device was probed: by itself, or within the step that stands there."""
        parts: dict[Key, LevelPart] = {}
        if self.probes.is_empty():
            return parts
        parents = dict(boot.spans().select("span", "parent").iter_rows())
        owners: dict[int, list[Interval]] = {}
        for span, start, end in self.path.rows.select("span", "start_ns", "end_ns").drop_nulls().iter_rows():
            owners.setdefault(span, []).append((start, end))
        tracks: dict[str, list[Interval]] = {}
        own = self.path.rows.filter(pl.col("kind").is_in(WORK) & (pl.col("track") != ""))
        for track, start, end in own.select("track", "start_ns", "end_ns").iter_rows():
            tracks.setdefault(track, []).append((start, end))
        intervals: list[Interval] = []
        names: list[str] = []
        for span, name, track, start, end in self.probes.select(
            "span", "name", "track", "start_ns", "end_ns"
        ).iter_rows():
            owned = [part for each in ancestors(span, parents) for part in owners.get(each, ())]
            stands = merged([*owned, *tracks.get(track, [])])
            for part in (within for low, high in stands for within in clipped([(start, end)], low, high)):
                intervals.append(part)
                names.append(name)
        for name, ns in zip(names, exclusive_ns(intervals), strict=True):
            _add(parts, name, "probe", ns)
        return parts

    def beside(self) -> dict[Key, tuple[LevelPart, int | None]]:
        """What each step took off the path, with its least slack."""
        on = {**self.all(), **self.devices}
        took: dict[Key, LevelPart] = {}
        slacks: dict[Key, list[int]] = {}
        steps = self.path.steps.filter(pl.col("kind").is_in(WORK))
        for kind, name, ns, slack in steps.select("kind", "name", "duration_ns", "slack_ns").iter_rows():
            key = _add(took, name, kind, ns)
            if slack is not None:
                slacks.setdefault(key, []).append(slack)
        stepped = {key for key in took if key.kind == "probe"}
        for name, start, end in self.probes.select("name", "start_ns", "end_ns").iter_rows():
            if Key(name, kind="probe") not in stepped:
                _add(took, name, "probe", max(0, end - start))
        found = {}
        for key, part in took.items():
            used = on[key].figures.ns if key in on else 0
            found[key] = (
                LevelPart(RowDelta(max(0, part.figures.ns - used)), part.label),
                min(slacks.get(key, []), default=None),
            )
        return found


def _add(parts: dict[Key, LevelPart], name: str, kind: str, ns: int) -> Key:
    key = Key(stable_name(name) if kind == SpanKind.INITCALL else name, kind=kind)
    add_part(parts, key, name, RowDelta(ns))
    return key


def _hidden(one: _Owners, other: _Owners) -> list[Hidden]:
    before, after = one.beside(), other.beside()
    slack: dict[int, tuple[int | None, int | None]] = {}
    rows = []
    for key in before.keys() | after.keys():
        a, b = before.get(key), after.get(key)
        label = next(side[0].label for side in (b, a) if side is not None)
        row = Row(label, a and a[0].figures, b and b[0].figures, kind=key.kind)
        if row.change_ns:
            slack[id(row)] = (a and a[1], b and b[1])
            rows.append(row)
    return [Hidden(row, *slack[id(row)]) for row in ordered(rows)]

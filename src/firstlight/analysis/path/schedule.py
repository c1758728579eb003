"""Spans as steps: a part belongs to the step that it lies in, waits cut it, tasks and workers do one after another."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from firstlight.analysis.path.steps import Step
from firstlight.analysis.spans import ancestors
from firstlight.bundle.boot import Boot
from firstlight.schema.spans import SpanKind

#: Kinds of spans that may be parts of another of their task.
_NESTED = frozenset({SpanKind.INITCALL, SpanKind.PROBE, SpanKind.ASYNC})

#: Kinds of spans that links name.
_LINKED = frozenset({SpanKind.UNIT, SpanKind.UEVENT, SpanKind.PROBE})

#: So links name uevents, by the kernel's number.
NUMBER = "SEQNUM="


class _Row(NamedTuple):
    """A span, as far as a step needs it."""

    span: int
    parent: int | None
    kind: str
    name: str
    track: str
    start_ns: int
    end_ns: int
    duration_ns: int | None
    grade: str
    also_called: str | None
    seqnum: str | None


_COLUMNS = [pl.col("track").fill_null("") if name == "track" else pl.col(name) for name in _Row._fields]


class Placing:
    """Steps as they are made, and where each name of a kind stands among them."""

    def __init__(self, boot: Boot) -> None:
        self.steps: list[Step] = []
        self.by_name: dict[str, list[int]] = {}
        self._parents = dict(boot.spans().select("span", "parent").drop_nulls().iter_rows())
        # Of every name that links may state: its spans with their instants and their steps, in order of their ends.
        self.named: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        self._asynchronous: list[tuple[int, int]] | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Make steps of spans: what is nested in a step of its task belongs to it, and waits cut it into parts."""
        ordered = frame.sort(["start_ns", "end_ns", "span"], descending=[False, True, False])
        rows = [_Row._make(row) for row in ordered.select(_COLUMNS).rows()]
        waits: dict[str, list[tuple[int, int]]] = {}
        for row in rows:
            if row.kind == SpanKind.ASYNC_WAIT and row.track:
                waits.setdefault(row.track, []).append((row.start_ns, row.end_ns))
        owners: dict[int, int] = {}
        open_on: dict[str, tuple[int, int]] = {}
        service: dict[int, _Row] = {}
        for row in rows:
            kind, track = row.kind, row.track
            if kind == SpanKind.UEVENT_SERVICE:
                if row.parent is not None:
                    service[row.parent] = row
                continue
            if kind == SpanKind.ASYNC_WAIT:
                continue
            owner = self._owner(row, owners, open_on)
            if owner is None:
                owner = self._cut(row, waits.get(track, ())) if kind in _NESTED else self._step(row)
                if track.startswith("task ") and kind in _NESTED:
                    open_on[track] = (row.end_ns, owner)
            owners[row.span] = owner
            # Of a step that was cut by waits it is the part that it began in.
            while owner and self.steps[owner - 1].span == self.steps[owner].span != row.span:
                if self.steps[owner].start <= row.start_ns:
                    break
                owner -= 1
            self._know(row, owner)
        for track, times in waits.items():
            for start, end in times:
                self.steps.append(
                    Step(SpanKind.ASYNC_WAIT, "[waiting for asynchronous bodies]", track, end, end, "good", -1)
                )
                self.steps[-1].before.extend((body, "async") for body in self._bodies(start, end))
        self._serial()
        self._workers(rows, service, owners)

    def _step(self, row: _Row, start: int | None = None, end: int | None = None) -> int:
        first, last = row.start_ns if start is None else start, row.end_ns if end is None else end
        if start is None and row.kind == SpanKind.INITCALL and row.duration_ns is not None:
            # It takes what it is known to take: what its stamps hold beyond that lies before it.
            first = max(first, last - max(0, row.duration_ns))
        self.steps.append(Step(row.kind, row.name, row.track, first, last, row.grade, row.span))
        return len(self.steps) - 1

    def _cut(self, row: _Row, waits: Sequence[tuple[int, int]]) -> int:
        """One step, or the parts of it before, between and after its waits; returns the last one."""
        at, cut = row.start_ns, False
        for start, end in waits[bisect_left(waits, (at, 0)) :] if waits else ():
            if start >= row.end_ns:
                break
            if end <= row.end_ns:
                cut = True
                self.by_name.setdefault(row.name, []).append(self._step(row, at, start))
                at = end
        return self._step(row, at) if cut else self._step(row)

    def _owner(self, row: _Row, owners: dict[int, int], open_on: dict[str, tuple[int, int]]) -> int | None:
        """The step that a span is a part of: by its parents, else by task and time."""
        if row.kind not in _NESTED:
            return None
        if row.parent is not None:
            parent = next((span for span in ancestors(row.parent, self._parents) if span in owners), None)
            if parent is not None and self.steps[owners[parent]].kind in _NESTED:
                return owners[parent]
        until, step = open_on.get(row.track, (None, None))
        return step if until is not None and row.end_ns <= until else None

    def _know(self, row: _Row, owner: int) -> None:
        names = [row.name]
        if row.kind == SpanKind.UEVENT:
            # What one record names by the path another names by the device.
            names += [row.also_called] if row.also_called else []
            names += [f"{NUMBER}{row.seqnum}"] if row.seqnum else []
        for name in names:
            if row.kind in _LINKED:
                self.named.setdefault((row.kind, name), []).append((row.end_ns, row.start_ns, owner))
            known = self.by_name.get(name)
            if known is None:
                self.by_name[name] = [owner]
            elif known[-1] != owner:
                known.append(owner)

    def _bodies(self, start: int, end: int) -> list[int]:
        if self._asynchronous is None:
            ended = ((step.end, number) for number, step in enumerate(self.steps) if step.kind == "async")
            self._asynchronous = sorted(ended)
        low, high = (bisect_right(self._asynchronous, (instant, len(self.steps))) for instant in (start, end))
        # The last ones decide; that many may stand beside them, so that hostile waits do not make it quadratic.
        return [number for _, number in self._asynchronous[max(low, high - 64) : high]]

    def _serial(self) -> None:
        """A task does one thing after another."""
        last: dict[str, int] = {}
        tasks = (number for number, step in enumerate(self.steps) if step.track.startswith("task "))
        for number in sorted(tasks, key=self._key):
            step = self.steps[number]
            before = last.get(step.track)
            if before is not None and self.steps[before].end <= step.start:
                step.before.append((before, "serial"))
            if before is None or step.end >= self.steps[before].end:
                last[step.track] = number

    def _key(self, number: int) -> tuple[int, int, int]:
        step = self.steps[number]
        return (step.start, step.end, number)

    def _workers(self, rows: list[_Row], service: dict[int, _Row], owners: dict[int, int]) -> None:
        """A uevent that no worker was free for waited for what its worker did before."""
        last: dict[str, int] = {}
        events = [(service[row.span], row) for row in rows if row.kind == SpanKind.UEVENT and row.span in service]
        for served, row in sorted(events, key=lambda pair: (pair[0].start_ns, pair[0].span)):
            number = owners[row.span]
            step = self.steps[number]
            step.track = served.track or step.track
            step.release = step.start
            before = last.get(served.track) if served.track else None
            if before is not None and step.start < self.steps[before].end <= served.start_ns:
                step.before.append((before, "worker"))
            if served.track:
                last[served.track] = number

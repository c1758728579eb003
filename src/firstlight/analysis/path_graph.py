"""What came before what in a boot: intervals, and the edges that the record tells between them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from firstlight.analysis.spans import spans_of
from firstlight.boot.boot import Boot

#: Kinds of spans that are steps of a boot; parts of a step belong to it.
_STEPS = ("initcall", "probe", "async", "async_wait", "uevent", "uevent_service", "unit", "stage", "firmware")
_NESTED = frozenset({"initcall", "probe", "async"})
_USER = frozenset({"unit", "stage"})

#: Names of phases and stages with which user land begins: until there the kernel's phases follow one another.
_USER_LAND = frozenset({"user_land", "user", "user_start", "userspace", "userspace_start", "initrd", "initrd_start",
                        "guest_start", "soft-reboot"})  # fmt: skip

#: Stages that systemd tells of what ran before it: no part of user land.
_BEFORE_USER_LAND = frozenset({"firmware", "loader", "kernel"})

#: The phase of which no record tells where the kernel ended and user land began.
_UNDIVIDED = "unknown"

#: So links name uevents, by the kernel's number.
_NUMBER = "SEQNUM="

#: An edge that no record tells: the step that ended last before this one began.
INFERRED = "inferred"


def kernel_phases(boot: Boot) -> tuple[list[tuple[str, int, int]], int | None]:
    """The phases of the kernel and what ran before it, in order, and when user land began; by stages without phases."""
    phases = boot.phases().select("phase", "start_ns", "end_ns").drop_nulls().rows()
    if not phases:
        stages = spans_of(boot, "stage").filter(pl.col("parent").is_null())
        phases = stages.select("name", "start_ns", "end_ns").drop_nulls().rows()
    kernel: list[tuple[str, int, int]] = []
    for name, start, end in phases:
        if name in _USER_LAND:
            return kernel, start
        if name == _UNDIVIDED:
            return kernel, None
        if end > start and (not kernel or start >= kernel[-1][2]):
            kernel.append((name, start, end))
    return kernel, None


@dataclass
class Step:
    """An interval of the boot, or a part of one that waited in between."""

    kind: str
    name: str
    track: str
    start: int
    end: int
    grade: str
    span: int
    before: list[tuple[int, str]] = field(default_factory=list)
    """Steps that this one waited for, by number, each with the kind of the edge."""
    release: int | None = None
    """It cannot begin before, whatever it waits for: a uevent's arrival."""


@dataclass
class PathGraph:
    """Steps, and which of them belong to what name."""

    steps: list[Step]
    order: list[int]
    """The numbers of all steps, each after those that it waited for."""
    by_name: dict[str, list[int]]
    unfinished: int
    """Spans without an end: they are no steps, because nobody knows what waited for them."""


def path_graph(boot: Boot) -> PathGraph:
    """The steps of a boot with their edges; about linear in the number of spans and links.

    Edges that are recorded: `serial` (a task does one thing after another), `after` and `requires` of units,
    `blocked_by` of uevents, `worker` (a udev worker does one event after another), `supplier` of probes, `async` (what
    was waited for with `async_waiting`). A step without any has one edge that is inferred.
    """
    frame = spans_of(boot, *_STEPS, keys=("seqnum", "returned", "also_called"))
    frame = frame.filter((pl.col("kind") != "stage") | pl.col("parent").is_not_null())
    frame = frame.with_columns(pl.coalesce("end_ns", pl.col("start_ns") + pl.col("duration_ns")))
    whole = frame.drop_nulls(["start_ns", "end_ns"]).filter(pl.col("end_ns") >= pl.col("start_ns"))
    builder = _Builder(boot)
    builder.add(whole)
    builder.link(boot.links())
    builder.infer()
    builder.divide(kernel_phases(boot)[1])
    order = _ordered(builder.steps)
    return PathGraph(builder.steps, order, builder.by_name, frame["end_ns"].null_count())


class _Builder:
    def __init__(self, boot: Boot) -> None:
        self.steps: list[Step] = []
        self.by_name: dict[str, list[int]] = {}
        self._parents = dict(boot.spans().select("span", "parent").drop_nulls().iter_rows())
        # Of every name of a kind: the spans with their instants and the steps they stand for, in order of their ends.
        self._named: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        self._asynchronous: list[tuple[int, int]] | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Make steps of spans: what is nested in a step of its task belongs to it, and waits cut it into parts."""
        rows = frame.sort(["start_ns", "end_ns", "span"], descending=[False, True, False]).to_dicts()
        waits: dict[str, list[tuple[int, int]]] = {}
        for row in rows:
            if row["kind"] == "async_wait" and row["track"]:
                waits.setdefault(row["track"], []).append((row["start_ns"], row["end_ns"]))
        owners: dict[int, int] = {}
        open_on: dict[str, tuple[int, int]] = {}
        service = {}
        for row in rows:
            kind, track = row["kind"], row["track"] or ""
            if kind == "uevent_service":
                if row["parent"] is not None:
                    service[row["parent"]] = row
                continue
            if kind == "async_wait":
                continue
            owner = self._owner(row, owners, open_on)
            if owner is None:
                owner = self._cut(row, waits.get(track, [])) if kind in _NESTED else self._step(row)
                if track.startswith("task ") and kind in _NESTED:
                    open_on[track] = (row["end_ns"], owner)
            owners[row["span"]] = owner
            # Of a step that was cut by waits it is the part that it began in.
            while owner and self.steps[owner - 1].span == self.steps[owner].span != row["span"]:
                if self.steps[owner].start <= row["start_ns"]:
                    break
                owner -= 1
            self._know(row, owner)
        for track, times in waits.items():
            for start, end in times:
                self.steps.append(Step("async_wait", "[waiting for asynchronous bodies]", track, end, end, "good", -1))
                self.steps[-1].before.extend((body, "async") for body in self._bodies(start, end))
        self._serial()
        self._workers(rows, service, owners)

    def _step(self, row: dict[str, Any], start: int | None = None, end: int | None = None) -> int:
        first, last = row["start_ns"] if start is None else start, row["end_ns"] if end is None else end
        if start is None and row["kind"] == "initcall" and row["duration_ns"] is not None:
            # It takes what it is known to take: what its stamps hold beyond that lies before it.
            first = max(first, last - max(0, row["duration_ns"]))
        self.steps.append(Step(row["kind"], row["name"], row["track"] or "", first, last, row["grade"], row["span"]))
        return len(self.steps) - 1

    def _cut(self, row: dict[str, Any], waits: list[tuple[int, int]]) -> int:
        """One step, or the parts of it before, between and after its waits; returns the last one."""
        at, cut = row["start_ns"], False
        for start, end in waits[bisect_left(waits, (at, 0)) :] if waits else ():
            if start >= row["end_ns"]:
                break
            if end <= row["end_ns"]:
                cut = True
                self.by_name.setdefault(row["name"], []).append(self._step(row, at, start))
                at = end
        return self._step(row, at) if cut else self._step(row)

    def _owner(self, row: dict[str, Any], owners: dict[int, int], open_on: dict[str, tuple[int, int]]) -> int | None:
        """The step that a span is a part of: by its parents, else by task and time."""
        if row["kind"] not in _NESTED:
            return None
        parent = row["parent"]
        for _ in range(64):  # a damaged table may have a ring of parents
            if parent is None or parent in owners:
                break
            parent = self._parents.get(parent)
        if parent in owners and self.steps[owners[parent]].kind in _NESTED:
            return owners[parent]
        until, step = open_on.get(row["track"] or "", (None, None))
        return step if until is not None and row["end_ns"] <= until else None

    def _know(self, row: dict[str, Any], owner: int) -> None:
        names = [row["name"]]
        if row["kind"] == "uevent":
            # What one record names by the path another names by the device.
            names += [row["also_called"]] if row["also_called"] else []
            names += [f"{_NUMBER}{row['seqnum']}"] if row["seqnum"] else []
        for name in names:
            self._named.setdefault((row["kind"], name), []).append((row["end_ns"], row["start_ns"], owner))
            known = self.by_name.setdefault(name, [])
            if not known or known[-1] != owner:
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
        for number in sorted(range(len(self.steps)), key=lambda number: self._key(number)):
            step = self.steps[number]
            if not step.track.startswith("task "):
                continue
            before = last.get(step.track)
            if before is not None and self.steps[before].end <= step.start:
                step.before.append((before, "serial"))
            if before is None or step.end >= self.steps[before].end:
                last[step.track] = number

    def _key(self, number: int) -> tuple[int, int, int]:
        step = self.steps[number]
        return (step.start, step.end, number)

    def _workers(self, rows: list[dict[str, Any]], service: dict[int, dict[str, Any]], owners: dict[int, int]) -> None:
        """A uevent that no worker was free for waited for what its worker did before."""
        last: dict[str, int] = {}
        events = [(service[row["span"]], row) for row in rows if row["kind"] == "uevent" and row["span"] in service]
        for served, row in sorted(events, key=lambda pair: (pair[0]["start_ns"], pair[0]["span"])):
            number = owners[row["span"]]
            step = self.steps[number]
            step.track = served["track"] or step.track
            step.release = step.start
            before = last.get(served["track"]) if served["track"] else None
            if before is not None and step.start < self.steps[before].end <= served["start_ns"]:
                step.before.append((before, "worker"))
            if served["track"]:
                last[served["track"]] = number

    def link(self, links: pl.DataFrame) -> None:
        """Add the edges that the records tell by name, and those of device units to the uevents of their devices."""
        for times in self._named.values():
            times.sort()
        kinds = {"after": "unit", "requires": "unit", "blocked_by": "uevent", "supplier": "probe"}
        wanted = links.filter(pl.col("kind").is_in(list(kinds))).drop_nulls(["from_name", "to_name"])
        for edge, waits, other in wanted.select("kind", "from_name", "to_name").unique(maintain_order=True).iter_rows():
            kind = kinds[edge]
            self._edge(edge, self._named.get((kind, waits), ()), self._named.get((kind, other), ()))
        events: dict[str, list[tuple[int, int, int]]] = {}
        for (kind, name), times in self._named.items():
            if kind == "uevent" and not name.startswith(_NUMBER):
                # The kernel's path, and the name of the device, which is all that udevd's log has.
                for known in {name, name.rpartition("/")[2]}:
                    events.setdefault(known, []).extend(times)
        for times in events.values():
            times.sort()
        for (kind, name), times in list(self._named.items()):
            if kind == "unit" and name.endswith(".device"):
                self._edge(INFERRED, times, events.get(_device_of(name), ()))
        self._settle_uevents()

    def _edge(self, edge: str, waits: Iterable[tuple[int, int, int]], others: Any) -> None:
        """From every span of one name to the last one of another name that ended before it began."""
        for end, start, step in waits:
            # A uevent arrives before what blocks it is done; all else begins after what it waited for.
            limit = end if edge in ("blocked_by", INFERRED) else start
            place = bisect_right(others, (limit, limit, len(self.steps)))
            if not place:
                continue
            before = others[place - 1][2]
            late = self.steps[before].end > (limit if edge in ("blocked_by", INFERRED) else self.steps[step].start)
            if before != step and not late:
                self.steps[step].before.append((before, edge))

    def _settle_uevents(self) -> None:
        """A step that waited after it had arrived begins, as work, once what it waited for was done."""
        for step in self.steps:
            if step.kind not in ("uevent", "unit"):
                continue
            ends = [self.steps[before].end for before, _ in step.before]
            last = max((end for end in ends if end <= step.end), default=step.start)
            if last > step.start:
                step.start = last

    def infer(self) -> None:
        """Give every step that nothing recorded came before the one that ended last before it began."""
        everyone = sorted((step.end, step.start, number) for number, step in enumerate(self.steps))
        users = [entry for entry in everyone if _of_user_land(self.steps[entry[2]])]
        kernels = [entry for entry in everyone if self.steps[entry[2]].kind not in _USER | {"uevent"}]
        for number, step in enumerate(self.steps):
            if step.before:
                continue
            own = everyone if step.kind == "uevent" else users if _of_user_land(step) else kernels
            for among in (own, everyone):
                place = bisect_left(among, (step.start, step.start, number))
                if place:
                    step.before.append((among[place - 1][2], INFERRED))
                    break

    def divide(self, user_land: int | None) -> None:
        """Nothing of user land begins before the kernel has started it, whatever else it waited for."""
        if user_land is None:
            return
        border = Step("border", "[user land begins]", "", user_land, user_land, "good", -1)
        kernel = [(step.end, step.start, number) for number, step in enumerate(self.steps)
                  if step.end <= user_land and step.start < user_land]  # fmt: skip
        first = [entry for entry in kernel if self.steps[entry[2]].track == "task 1"]
        if kernel:
            border.before.append((max(first or kernel)[2], "serial"))
        number = len(self.steps)
        for step in self.steps:
            if step.start >= user_land and all(self.steps[before].end <= user_land for before, _ in step.before):
                step.before.append((number, "serial"))
        self.steps.append(border)


def _of_user_land(step: Step) -> bool:
    return step.kind in _USER and not (step.kind == "stage" and step.name in _BEFORE_USER_LAND)


def _device_of(unit: str) -> str:
    """The device of a device unit: its path in sysfs without `/sys`, or its name below `/dev`.

    >>> _device_of("dev-vda1.device"), _device_of("sys-devices-a-b\\\\x2dc.device")
    ('vda1', '/devices/a/b-c')
    """
    path = unit.removesuffix(".device").replace("-", "/")
    parts = path.split("\\x")
    out = parts[0]
    for part in parts[1:]:
        try:
            out += chr(int(part[:2], 16)) + part[2:]
        except ValueError:
            out += "\\x" + part
    return "/" + out.removeprefix("sys/") if out.startswith("sys/") else out.removeprefix("dev/")


def _ordered(steps: list[Step]) -> list[int]:
    """All steps, each after those it waited for; an edge that would close a ring is taken away."""
    missing = [len(step.before) for step in steps]
    after: list[list[int]] = [[] for _ in steps]
    for number, step in enumerate(steps):
        for before, _ in step.before:
            after[before].append(number)
    by_time = deque(sorted(range(len(steps)), key=lambda number: (steps[number].start, steps[number].end, number)))
    ready = deque(number for number in by_time if not missing[number])
    done = [False] * len(steps)
    order: list[int] = []
    while True:
        while ready:
            number = ready.popleft()
            if done[number]:
                continue
            done[number] = True
            order.append(number)
            for later in after[number]:
                missing[later] -= 1
                if not missing[later]:
                    ready.append(later)
        while by_time and done[by_time[0]]:
            by_time.popleft()
        if not by_time:
            return order
        ring = by_time.popleft()
        steps[ring].before = [edge for edge in steps[ring].before if done[edge[0]]]
        ready.append(ring)

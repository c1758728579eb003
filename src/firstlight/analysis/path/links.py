"""The edges that records state by name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import polars as pl

from firstlight.analysis.path.schedule import NUMBER, Placing
from firstlight.analysis.path.steps import INFERRED, Step
from firstlight.schema.spans import LinkKind, SpanKind


def link(placing: Placing, links: pl.DataFrame) -> None:
    """Add the edges that the records state by name, and those of device units to the uevents of their devices."""
    named = placing.named
    for times in named.values():
        times.sort()
    kinds = {"after": "unit", "requires": "unit", LinkKind.BLOCKED_BY: SpanKind.UEVENT, "supplier": "probe"}
    wanted = links.filter(pl.col("kind").is_in(list(kinds))).drop_nulls(["from_name", "to_name"])
    for edge, waits, other in wanted.select("kind", "from_name", "to_name").unique(maintain_order=True).iter_rows():
        kind = kinds[edge]
        _edge(placing.steps, edge, named.get((kind, waits), ()), named.get((kind, other), ()))
    events: dict[str, list[tuple[int, int, int]]] = {}
    for (kind, name), times in named.items():
        if kind == SpanKind.UEVENT and not name.startswith(NUMBER):
            # The kernel's path, and the name of the device, which is all that udevd's log has.
            for known in {name, name.rpartition("/")[2]}:
                events.setdefault(known, []).extend(times)
    for times in events.values():
        times.sort()
    for (kind, name), times in list(named.items()):
        if kind == "unit" and name.endswith(".device"):
            _edge(placing.steps, INFERRED, times, events.get(_device_of(name), ()))
    _settle_uevents(placing.steps)


def _edge(steps: list[Step], edge: str, waits: Iterable[tuple[int, int, int]], others: Any) -> None:
    """From every span of one name to the last one of another name that ended before it began."""
    for end, start, step in waits:
        # A uevent arrives before what blocks it is done; all else begins after what it waited for.
        limit = end if edge in (LinkKind.BLOCKED_BY, INFERRED) else start
        place = bisect_right(others, (limit, limit, len(steps)))
        if not place:
            continue
        before = others[place - 1][2]
        late = steps[before].end > (limit if edge in (LinkKind.BLOCKED_BY, INFERRED) else steps[step].start)
        if before != step and not late:
            steps[step].before.append((before, edge))


def _settle_uevents(steps: list[Step]) -> None:
    """A step that waited after it had arrived begins, as work, once what it waited for was done."""
    for step in steps:
        if step.kind not in (SpanKind.UEVENT, SpanKind.UNIT):
            continue
        ends = [steps[before].end for before, _ in step.before]
        last = max((end for end in ends if end <= step.end), default=step.start)
        if last > step.start:
            step.start = last


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

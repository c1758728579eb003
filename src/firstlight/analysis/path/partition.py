"""A chain of steps as a path without gaps: between them are phases of the kernel, what ran, silences, or waits."""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.during import explain
from firstlight.analysis.kernel_phases import UNKNOWN, KernelPhases
from firstlight.analysis.path.goal import driver
from firstlight.analysis.path.load import SampledLoad
from firstlight.analysis.path.processor import Processor
from firstlight.analysis.path.silences import divide_by_lines
from firstlight.analysis.path.steps import PathGraph
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.schema.spans import SpanKind

_ROWS = columns(
    "kind name track start_ns:int end_ns:int duration_ns:int edge grade during ran before after span:int "
    "process service reason"
)
#: Silences of the log below this share of the path, in thousandths, stay in the part that they are in.
_LEAST = 5


def cover(
    boot: Boot,
    graph: PathGraph,
    chain: list[int],
    goal: int,
    first: int,
    processor: Processor,
    load: SampledLoad | None,
) -> pl.DataFrame:
    """The path as a partition of the time from the first mark to the goal, in order of time.

    :param processor: who had the processor, where the parts shall state it.
    :param load: what limited the boot; without it no part is divided by the lines of the log.
    """
    phases = KernelPhases(boot)
    rows: list[dict[str, Any]] = []
    at = graph.steps[goal].end
    for place, number in enumerate(chain):
        step = graph.steps[number]
        edge = driver(graph.steps, number)
        waited = edge[1] if edge is not None and place + 1 < len(chain) else None
        begin = min(max(step.start, first), at)
        shown = step.span >= 0
        if shown and step.end >= first:
            rows.append(
                {"kind": step.kind, "name": step.name, "track": step.track, "start_ns": begin, "end_ns": at,
                 "edge": waited, "grade": step.grade, "span": step.span}
            )  # fmt: skip
        before = graph.steps[chain[place + 1]].end if place + 1 < len(chain) else first
        before = min(max(before, first), begin)
        why = step.name if step.kind == SpanKind.ASYNC_WAIT else UNKNOWN
        rows.extend(phases.cover(before, begin, why))
        at = before
        if at <= first:
            break
    rows = processor.charge(_joined(rows[::-1]))
    if load is not None and not processor.stretches:
        rows = divide_by_lines(boot, rows, (graph.steps[goal].end - first) * _LEAST // 1000)
    if load is not None:
        for row in rows:
            row["ran"] = row.get("ran") or load.text(row["start_ns"], row["end_ns"])
    return framed(boot, rows)


def framed(boot: Boot, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Parts of a path as a table, with what else was in progress in those that nothing explains."""
    for row in rows:
        row["duration_ns"] = row["end_ns"] - row["start_ns"]
        for column in _ROWS:
            row.setdefault(column, None)
    explain(boot, rows)
    return pl.DataFrame(rows, schema=_ROWS)


def _joined(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Waits of unknown cause that only a border of stages divides are one; so is what a process did on end."""
    joined: list[dict[str, Any]] = []
    for row in rows:
        process = row["kind"] == SpanKind.PROCESS and joined and joined[-1]["end_ns"] == row["start_ns"]
        if joined and (process or row["name"] == UNKNOWN) and _key(row) == _key(joined[-1]):
            joined[-1]["end_ns"] = row["end_ns"]
        else:
            joined.append(row)
    return joined


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["kind"], row["name"], row["span"])

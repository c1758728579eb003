"""A chain of steps as a path without holes: between them lie the kernel's phases, what ran, or a wait."""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.during import explain
from firstlight.analysis.kernel_phases import UNKNOWN, KernelPhases
from firstlight.analysis.path.goal import driver
from firstlight.analysis.path.processor import Processor
from firstlight.analysis.path.steps import PathGraph
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.schema.spans import SpanKind

_ROWS = columns("kind name track start_ns:int end_ns:int duration_ns:int edge grade during ran span:int")


def cover(boot: Boot, graph: PathGraph, chain: list[int], goal: int, first: int, processor: Processor) -> pl.DataFrame:
    """The path as parts without holes between them, in order of time.

    :param processor: who had the processor, as far as the parts shall say so.
    """
    phases = KernelPhases(boot)
    rows: list[dict[str, Any]] = []
    at = graph.steps[goal].end
    for place, number in enumerate(chain):
        step = graph.steps[number]
        edge = driver(graph.steps, number)
        told = edge[1] if edge is not None and place + 1 < len(chain) else None
        begin = min(max(step.start, first), at)
        shown = step.span >= 0
        if shown and step.end >= first:
            rows.append(
                {"kind": step.kind, "name": step.name, "track": step.track, "start_ns": begin, "end_ns": at,
                 "edge": told, "grade": step.grade, "span": step.span}
            )  # fmt: skip
        before = graph.steps[chain[place + 1]].end if place + 1 < len(chain) else first
        before = min(max(before, first), begin)
        why = step.name if step.kind == SpanKind.ASYNC_WAIT else UNKNOWN
        rows.extend(phases.cover(before, begin, why))
        at = before
        if at <= first:
            break
    rows = processor.charge(_joined(rows[::-1]))
    for row in rows:
        row["duration_ns"] = row["end_ns"] - row["start_ns"]
        row.setdefault("during", None)
        row.setdefault("ran", None)
    explain(boot, rows)
    return pl.DataFrame(rows, schema=_ROWS)


def _joined(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Waits of unknown cause that only a border of stages divides are one."""
    joined: list[dict[str, Any]] = []
    for row in rows:
        if joined and joined[-1]["name"] == row["name"] == UNKNOWN and joined[-1]["kind"] == row["kind"] == "waiting":
            joined[-1]["end_ns"] = row["end_ns"]
        else:
            joined.append(row)
    return joined

"""What came before what in a boot: intervals, and the edges that the record states between them."""

from __future__ import annotations

from collections import deque

import polars as pl

from firstlight.analysis.kernel_phases import kernel_phases
from firstlight.analysis.path.inferred import divide, infer
from firstlight.analysis.path.links import link
from firstlight.analysis.path.processes import add_processes
from firstlight.analysis.path.schedule import Placing
from firstlight.analysis.path.stages import switches, without_frames
from firstlight.analysis.path.steps import PathGraph, Step
from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.schema.spans import SpanKind

#: Kinds of spans that are steps of a boot; parts of a step belong to it.
_STEPS = (
    SpanKind.INITCALL,
    SpanKind.PROBE,
    SpanKind.ASYNC,
    SpanKind.ASYNC_WAIT,
    SpanKind.UEVENT,
    SpanKind.UEVENT_SERVICE,
    SpanKind.UNIT,
    SpanKind.STAGE,
    SpanKind.FIRMWARE,
)


def path_graph(boot: Boot) -> PathGraph:
    """The steps of a boot with their edges; about linear in the number of spans and links.

    Edges that are recorded: `serial` (a task does one thing after another), `after` and `requires` of units,
    `blocked_by` of uevents, `worker` (a udev worker does one event after another), `supplier` of probes, `async` (what
    was waited for with `async_waiting`), `parent` of sampled processes. A step without any has one edge that is
    inferred, and so has a process that went on when its child had ended.
    """
    frame = spans_of(boot, *_STEPS, keys=("seqnum", "returned", "also_called"))
    frame = frame.with_columns(pl.coalesce("end_ns", pl.col("start_ns") + pl.col("duration_ns")))
    frame, instants = _as_instants(frame)
    switched = switches(frame)
    frame = without_frames(frame.filter((pl.col("kind") != "stage") | pl.col("parent").is_not_null()), instants)
    whole = frame.drop_nulls(["start_ns", "end_ns"]).filter(pl.col("end_ns") >= pl.col("start_ns"))
    placing = Placing(boot)
    placing.add(whole)
    steps = placing.steps
    link(placing, boot.links())
    if boot.runs().is_empty():
        add_processes(boot, steps, placing.by_name)
    infer(steps)
    divide(steps, kernel_phases(boot)[1], switched)
    without_start = frame.filter(pl.col("start_ns").is_null() & pl.col("end_ns").is_not_null()).height
    return PathGraph(steps, _ordered(steps), placing.by_name, frame["end_ns"].null_count(), without_start, instants)


def _as_instants(frame: pl.DataFrame) -> tuple[pl.DataFrame, frozenset[int]]:
    """Units of which only the instant is known at which they were up, such as targets, as points; and their spans."""
    only_end = (pl.col("kind") == "unit") & pl.col("start_ns").is_null() & pl.col("end_ns").is_not_null()
    begins = pl.col("end_ns") - pl.col("duration_ns").clip(lower_bound=0)
    points = frozenset(frame.filter(only_end & pl.col("duration_ns").is_null())["span"].to_list())
    start = pl.when(only_end).then(pl.coalesce(begins, "end_ns")).otherwise("start_ns").alias("start_ns")
    return frame.with_columns(start), points


def _ordered(steps: list[Step]) -> list[int]:
    """All steps, each after those it waited for; an edge that would close a ring is taken away."""
    in_time = [number for *_, number in sorted((step.start, step.end, number) for number, step in enumerate(steps))]
    if _in_order(steps, in_time):
        return in_time
    missing = [len(step.before) for step in steps]
    after: list[list[int]] = [[] for _ in steps]
    for number, step in enumerate(steps):
        for before, _ in step.before:
            after[before].append(number)
    by_time = deque(in_time)
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


def _in_order(steps: list[Step], order: list[int]) -> bool:
    """Whether each step comes after all that it waited for."""
    done = [False] * len(steps)
    for number in order:
        for before, _ in steps[number].before:
            if not done[before]:
                return False
        done[number] = True
    return True

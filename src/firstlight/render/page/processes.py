"""Processes as the report page shows them: each at its place in the tree, with what it did over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.processes import in_tree_order, processes
from firstlight.analysis.processes.states import ThreadState, process_states
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.render.page.text import shortened

#: Characters of a name.
NAME = 300
#: A page has no more processes: those that executed most.
MOST_PROCESSES = 2_000
#: Instants of the boot that a picture distinguishes.
_CELLS = 1_600

#: The state of a process that was there, of a boot without runs.
_UNKNOWN = len(ThreadState)

Json = dict[str, Any]


def page_processes(boot: Boot) -> Json:
    """The processes in the order of their tree, as columns; no rows where they were not followed.

    `parts` has for each process triples of a state (0 running, 1 runnable, 2 blocked, 3 not recorded), a start and an
    end, as fine as a picture is: what lasts less than a cell of it takes the cell, and running goes before waiting.

    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> page_processes(firstlight.open(bundle))["rows"]
    0
    """
    rows = in_tree_order(processes(boot))
    kept = set(rows.sort("cpu_ns", "process", descending=[True, False]).head(MOST_PROCESSES)["process"])
    shown = rows.filter(pl.col("process").is_in(kept))
    every = process_names_of(boot)
    names = [every[process] for process in shown["process"].to_list()]
    parts, last = _parts(boot, kept), window(boot).last_ns
    figures = ("pid", "depth", "start_ns", "end_ns", "cpu_ns", "wait_ns", "user_instructions", "kernel_instructions",
               "interrupt_instructions", "calls")  # fmt: skip
    return {
        "rows": rows.height,
        "name": [shortened(name.text, NAME) for name in names],
        "comm": [shortened(name or "", NAME) for name in shown["name"].to_list()],
        "image": [shortened(name or "", NAME) for name in shown["image"].to_list()],
        "service": [shortened(name or "", NAME) for name in shown["service"].to_list()],
        "started_by": [shortened(name.parent, NAME) for name in names],
        **{name: shown[name].to_list() for name in figures},
        "parts": [
            parts.get(process) or ([] if start is None else [_UNKNOWN, start, last if end is None else end])
            for process, start, end in shown.select("process", "start_ns", "end_ns").rows()
        ],
    }


def _parts(boot: Boot, kept: set[int]) -> dict[int, list[int]]:
    whole = window(boot)
    cell = max(1, whole.length_ns // _CELLS)
    ranks = {str(state): rank for rank, state in enumerate(ThreadState)}
    found: dict[int, list[int]] = {}
    states = process_states(boot).filter(pl.col("process").is_in(kept))
    for (process,), frame in states.partition_by("process", as_dict=True).items():
        spans = [(ranks[state], start, end) for start, end, state in frame.select("start_ns", "end_ns", "state").rows()]
        found[process] = [number for part in coarse(spans, cell) for number in part]
    return found


def coarse(spans: Sequence[tuple[int, int, int]], cell: int) -> list[tuple[int, int, int]]:
    """Intervals of a rank, a start and an end, no finer than cells; in each cell the lowest rank counts.

    >>> coarse([(2, 0, 95), (0, 95, 97), (2, 97, 300)], 100)
    [(0, 0, 100), (2, 100, 300)]
    """
    best: dict[int, int] = {}
    for rank, start, end in spans:
        for place in range(start // cell, max(start, end - 1) // cell + 1):
            best[place] = min(rank, best.get(place, rank))
    found: list[tuple[int, int, int]] = []
    for place in sorted(best):
        rank, start, end = best[place], place * cell, (place + 1) * cell
        if found and found[-1][0] == rank and found[-1][2] == start:
            found[-1] = (rank, found[-1][1], end)
        else:
            found.append((rank, start, end))
    return found

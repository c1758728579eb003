"""What `explain` found, as the page shows it: what each cause costs, what removes it, and where it is in time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import polars as pl

from firstlight.advise.findings import Explanation, Finding, explain
from firstlight.analysis.ledger.costs import plain_name
from firstlight.analysis.path.critical import CriticalPath
from firstlight.bundle.boot import Boot
from firstlight.render.page.text import shortened
from firstlight.render.views.explain import remedy_text
from firstlight.schema.spans import SpanKind

#: Characters of a text.
_TEXT = 400
#: No more places of one finding than this: the longest.
PLACES = 40

Json = dict[str, Any]
Interval = tuple[int, int]


def page_findings(boot: Boot, path: CriticalPath) -> list[Json]:
    """The causes, then what features cost, then what is the emulated machine's own; the most expensive of each first.

    `places` are intervals, as start and end in turn: of the initcalls and phases that a cause of the kernel is in, of
    the processes, and of waits. A finding without places is known by its evidence alone.

    :param path: the critical path of the boot.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> opened = firstlight.open(bundle)
    >>> [found["id"] for found in page_findings(opened, opened.path()) if found["sort"] == "machine"]
    ['CAL-03']
    """
    found = explain(boot, path=path)
    places = _Places(boot, found)
    sorts = {"cause": found.findings, "feature": found.features, "machine": found.machine}
    return [_finding(each, sort, places) for sort, group in sorts.items() for each in group]


def _finding(found: Finding, sort: str, places: _Places) -> Json:
    return {
        "id": found.entry.id,
        "sort": sort,
        "title": shortened(found.entry.title, _TEXT),
        "cost_ns": found.cost.ns,
        "share": found.share,
        "certainty": str(found.certainty),
        "remedy": shortened(remedy_text(found.remedy), _TEXT),
        "places": [instant for interval in places.of(found) for instant in interval],
    }


class _Places:
    """Where findings are in time."""

    def __init__(self, boot: Boot, found: Explanation) -> None:
        self._boot = boot
        self._contexts = found.contexts

    @cached_property
    def _initcalls(self) -> dict[str, list[Interval]]:
        ended = pl.col("start_ns").is_not_null() & pl.col("end_ns").is_not_null()
        return _by_name(self._boot.spans().filter((pl.col("kind") == SpanKind.INITCALL) & ended))

    def of(self, found: Finding) -> list[Interval]:
        """The longest places of a finding, in order of time."""
        held = found.held
        contexts = (*held.contexts, *(stretch for portion in held.portions for stretch in portion.contexts))
        places = [*held.parts, *held.waits, *self._of_processes(held.processes), *self._of_contexts(contexts)]
        longest = sorted(set(places), key=lambda place: place[0] - place[1])[:PLACES]
        return sorted(longest)

    def _of_contexts(self, stretches: tuple[Interval, ...]) -> list[Interval]:
        """The initcalls that contexts are in; else the phase that executes most of them, for the tree has no times."""
        if self._contexts is None or not stretches:
            return []
        stacks = [self._contexts.stack(stretch) for stretch in stretches]
        found = [place for stack in stacks for name in stack for place in self._initcalls.get(name, [])]
        if found:
            return found
        nodes = pl.Series(self._contexts.nodes(stretches))
        held = self._boot.phase_calls().filter(pl.col("node").is_in(nodes.implode()))
        sums = held.group_by("phase").agg(pl.col("self_instructions").sum()).sort("self_instructions", "phase")
        phases = self._boot.phases().filter(pl.col("phase") == sums["phase"][-1]) if sums.height else sums.clear()
        return [
            (start, end)
            for start, end in (phases.select("start_ns", "end_ns").iter_rows() if phases.height else [])
            if start is not None and end is not None
        ]

    def _of_processes(self, processes: frozenset[int]) -> Iterable[Interval]:
        if not processes:
            return []
        rows = self._boot.table("processes").filter(pl.col("process").is_in(list(processes)))
        return [(start, end) for start, end in rows.select("start_ns", "end_ns").iter_rows() if end is not None]


def _by_name(spans: pl.DataFrame) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    for name, start, end in spans.select("name", "start_ns", "end_ns").iter_rows():
        found.setdefault(plain_name(name), []).append((start, end))
    return found

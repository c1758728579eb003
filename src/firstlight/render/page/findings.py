"""What `explain` found, as the page shows it: what each cause costs, what removes it, and where it is in time."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import polars as pl

from firstlight.advise.contexts import Contexts, common, merged
from firstlight.advise.findings import Explanation, Finding, explain
from firstlight.analysis.ledger.costs import plain_name
from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.processes.call_functions import SYSTEM_CALL
from firstlight.bundle.boot import Boot
from firstlight.render.page.text import shortened
from firstlight.render.views.explain import remedy_text
from firstlight.schema.spans import SpanKind

#: Characters of a text; commands and paths of remedies are shown in full.
_TEXT = 2000
#: No more places of one finding than this: the longest.
PLACES = 40
#: The share of the time that the shown places cover; many short places hold the rest.
_MOST = 0.95

Json = dict[str, Any]
Interval = tuple[int, int]


def page_findings(boot: Boot, path: CriticalPath) -> list[Json]:
    """The causes, then what features cost, then what is the emulated machine's own; the most expensive of each first.

    `places` are intervals, as start and end in turn: of the initcalls, system calls or slices of time that a cause of
    the kernel is in, of the processes, and of waits. A finding without places is known by its evidence alone. `shares`
    has the time that a finding has in common with others, by their titles: these costs do not add up.

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
    titles = {each.entry.id: shortened(each.entry.title, _TEXT) for group in sorts.values() for each in group}
    return [_finding(each, sort, places, titles) for sort, group in sorts.items() for each in group]


def _finding(found: Finding, sort: str, places: _Places, titles: dict[str, str]) -> Json:
    return {
        "id": found.entry.id,
        "sort": sort,
        "title": shortened(found.entry.title, _TEXT),
        "cost_ns": found.cost.ns,
        "share": found.share,
        "certainty": str(found.certainty),
        "remedy": shortened(remedy_text(found.remedy), _TEXT),
        "shares": [{"title": titles[each.entry], "ns": each.ns} for each in found.shares],
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

    @cached_property
    def _system_calls(self) -> dict[str, list[Interval]]:
        ended = self._boot.table("system_calls").filter(pl.col("end_ns").is_not_null())
        return _by_name(ended)

    def of(self, found: Finding) -> list[Interval]:
        """The longest places of what a finding is priced by, in order of time."""
        held = found.held
        contexts = (*held.contexts, *(stretch for portion in held.portions for stretch in portion.contexts))
        executed = (
            self._of_contexts(contexts)
            or [interval for turn in held.turns for interval in turn.intervals]
            or self._of_processes(held.processes)
            or held.parts
        )
        longest = sorted({*executed, *held.waits}, key=lambda place: place[0] - place[1])[:PLACES]
        return sorted(longest)

    def _of_contexts(self, stretches: tuple[Interval, ...]) -> list[Interval]:
        """Where most of the time of contexts is: the initcalls or system calls that they are in, else slices."""
        if self._contexts is None:
            return []
        taken = _most([(self._contexts.ns([stretch]), stretch) for stretch in stretches])
        return list(dict.fromkeys(place for stretch in taken for place in self._of_context(self._contexts, stretch)))

    def _of_context(self, contexts: Contexts, stretch: Interval) -> list[Interval]:
        stack = contexts.stack(stretch)
        callers = [name for name, caller in pairwise(stack) if caller == "do_one_initcall"]
        if found := [place for name in callers for place in self._initcalls.get(name, [])]:
            return found
        nodes = pl.Series(contexts.nodes([stretch])).implode()
        slices = self._slices(nodes) or self._phase(nodes)
        if found := [place for name in stack if (call := SYSTEM_CALL.fullmatch(name)) is not None
                     for place in self._system_calls.get(call[1], [])]:  # fmt: skip
            return [(start, end) for start, end in found if common(((start, end),), slices)]
        return slices

    def _slices(self, nodes: pl.Series) -> list[Interval]:
        """The slices of time that execute most of some nodes; neighbours are one place."""
        held = self._boot.slice_calls().filter(pl.col("node").is_in(nodes))
        sums = held.group_by("slice").agg(pl.col("self_instructions").sum()).sort("slice")
        rows = sums.join(self._boot.slices().select("slice", "start_ns", "end_ns"), on="slice")
        weights = rows.select("self_instructions", "start_ns", "end_ns").iter_rows()
        return list(merged(_most([(weight, (start, end)) for weight, start, end in weights])))

    def _phase(self, nodes: pl.Series) -> list[Interval]:
        """Of a boot without slices, the phase that executes most of some nodes."""
        held = self._boot.phase_calls().filter(pl.col("node").is_in(nodes))
        sums = held.group_by("phase").agg(pl.col("self_instructions").sum()).sort("self_instructions", "phase")
        phases = self._boot.phases().filter(pl.col("phase") == sums["phase"][-1]) if sums.height else sums.clear()
        return [
            (start, end)
            for start, end in (phases.select("start_ns", "end_ns").iter_rows() if phases.height else [])
            if start is not None and end is not None
        ]

    def _of_processes(self, processes: frozenset[int]) -> list[Interval]:
        if not processes:
            return []
        rows = self._boot.table("processes").filter(pl.col("process").is_in(list(processes)))
        return [(start, end) for start, end in rows.select("start_ns", "end_ns").iter_rows() if end is not None]


def _most(weighed: list[tuple[int, Interval]]) -> list[Interval]:
    """The heaviest intervals, which together have :data:`_MOST` of the weight.

    >>> _most([(5, (0, 1)), (90, (1, 2)), (5, (2, 3))])
    [(1, 2), (0, 1)]
    """
    left = _MOST * sum(weight for weight, _ in weighed)
    taken = []
    for weight, interval in sorted(weighed, key=lambda each: -each[0]):
        if left <= 0:
            break
        taken.append(interval)
        left -= weight
    return taken


def _by_name(spans: pl.DataFrame) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    for name, start, end in spans.select("name", "start_ns", "end_ns").iter_rows():
        found.setdefault(plain_name(name), []).append((start, end))
    return found

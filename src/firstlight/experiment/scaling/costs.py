"""Costs by sizes: what was measured, and its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from firstlight.analysis.mark_interval import measure
from firstlight.analysis.processes.sums import UserspaceKind, userspace_sums
from firstlight.bundle.boot import Boot
from firstlight.bundle.folding import SHARED_NAME
from firstlight.bundle.manifest import Concern
from firstlight.bundle.reliability import check_reliable
from firstlight.schema.spans import SpanKind
from firstlight.stats.scaling.analysis import ScalingAnalysis, study
from firstlight.stats.scaling.counts import counted_term

#: So many parts are shown by name: those that grow most.
MOST_PARTS = 12


_USERSPACE = {
    "processes": UserspaceKind.PROCESS,
    "services": UserspaceKind.SERVICE,
    "system_calls": UserspaceKind.SYSTEM_CALL,
    "files": UserspaceKind.FILE,
    "packages": UserspaceKind.PACKAGE,
    "user_functions": UserspaceKind.USER_FUNCTION,
}


@dataclass
class CostSeries:
    """The costs of one configuration."""

    name: str
    sizes: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    parts: list[Mapping[str, float]] = field(default_factory=list)
    """Of each cost; one that lacks a part had none of it."""
    exact: bool = True
    terms: tuple[str, ...] = ()
    """Columns of counts, joined by `*`, that the cost may grow with."""

    def study(self) -> ScalingAnalysis:
        """What the costs follow.

        :raises UsageError: when there are too few sizes, or a figure is not a size or cost.
        """
        counts = {name for term in self.terms for name in term.split("*")}
        terms = [
            counted_term(term, self.sizes, [math.prod(row[name] for name in term.split("*")) for row in self.parts])
            for term in self.terms
        ]
        parts = [{name: ns for name, ns in row.items() if name not in counts} for row in self.parts]
        return study(self.sizes, self.costs, _largest(self.sizes, parts), exact=self.exact, terms=terms)


def _largest(sizes: Sequence[float], rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """The parts that differ most between any two sizes, the largest first; the rest is left to the total."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [float(row.get(name, 0)) for row in rows] for name in names}
    ordered = sorted(columns, key=lambda name: (min(columns[name]) - max(columns[name]), name))
    return {name: columns[name] for name in ordered[:MOST_PARTS]}


def parts_of(boot: Boot, kind: str, first: str | None = None, last: str | None = None) -> dict[str, int]:
    """The parts of a boot between two marks, in nanoseconds; what lies in no part is left to the total.

    :param kind: `phases`; `functions`, by self time; `initcalls`, by the time until they returned; `processes` by
        program, `services`, `system_calls`, `files`, `packages` and `user_functions`, by what was executed.

    >>> import firstlight
    >>> sum(parts_of(firstlight.open(bundle), "phases").values())
    829882107
    """
    where = str(boot.directory)
    if kind == "functions":
        boot.check_profile()
        check_reliable(boot.manifest, where, Concern.FUNCTIONS)
        rows = boot.calls().group_by(pl.col("function").str.replace(SHARED_NAME, "")).agg(pl.col("self_ns").sum())
        return {str(name): int(ns or 0) for name, ns in rows.iter_rows()}
    if kind in _USERSPACE:
        return userspace_sums(boot, _USERSPACE[kind])
    window = measure(boot, first, last)
    times = {row["mark"]: row["time_ns"] for row in reversed(boot.marks().to_dicts())}
    begin, end = times[window.first], times[window.last]
    found: dict[str, int] = {}
    if kind == "phases":
        for row in boot.phases().iter_rows(named=True):
            if row["start_ns"] is not None and row["end_ns"] is not None:
                inside = min(row["end_ns"], end) - max(row["start_ns"], begin)
                if inside > 0:
                    found[row["phase"]] = found.get(row["phase"], 0) + inside
        return found
    check_reliable(boot.manifest, where, Concern.INITCALLS)
    spans = boot.spans()
    busy_until = begin
    for row in spans.filter(spans["kind"] == SpanKind.INITCALL).sort("start_ns").iter_rows(named=True):
        # What runs beside another, or inside it, would count twice.
        if None not in (row["start_ns"], row["end_ns"]) and busy_until <= row["start_ns"] <= row["end_ns"] <= end:
            found[row["name"]] = found.get(row["name"], 0) + row["end_ns"] - row["start_ns"]
            busy_until = row["end_ns"]
    return found

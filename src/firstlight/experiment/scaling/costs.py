"""Costs by sizes: what was measured, and its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from firstlight.analysis.mark_interval import measure
from firstlight.bundle.boot import Boot
from firstlight.bundle.folding import SHARED_NAME
from firstlight.bundle.manifest import Concern
from firstlight.bundle.reliability import check_reliable
from firstlight.schema.spans import SpanKind
from firstlight.stats.scaling.analysis import ScalingAnalysis, study

#: So many parts are shown by name: those that grow most.
MOST_PARTS = 12


@dataclass
class CostSeries:
    """The costs of one configuration."""

    name: str
    sizes: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    parts: list[Mapping[str, float]] = field(default_factory=list)
    """Of each cost; one that lacks a part had none of it."""
    exact: bool = True

    def study(self) -> ScalingAnalysis:
        """What the costs follow.

        :raises UsageError: when there are too few sizes, or a figure is no size or cost.
        """
        return study(self.sizes, self.costs, _largest(self.sizes, self.parts), exact=self.exact)


def _largest(sizes: Sequence[float], rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """The parts that differ most between any two sizes, the largest first; the rest is left to the total."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [float(row.get(name, 0)) for row in rows] for name in names}
    ordered = sorted(columns, key=lambda name: (min(columns[name]) - max(columns[name]), name))
    return {name: columns[name] for name in ordered[:MOST_PARTS]}


def parts_of(boot: Boot, kind: str, first: str | None = None, last: str | None = None) -> dict[str, int]:
    """The parts of a boot between two marks, in nanoseconds; what lies in no part is left to the total.

    :param kind: `phases`; `functions`, by self time; `initcalls`, by the time until they returned.

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

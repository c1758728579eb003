"""Quantiles of the cells of an experiment whose boots vary, and the share of their slow boots, against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstlight.comparison.statistical.quantiles import Statistic, StatisticChange, compare_statistics
from firstlight.experiment.estimates import varies
from firstlight.experiment.results import Results

#: Error rate over all cells together.
_ALPHA = 0.05


@dataclass(frozen=True)
class CellQuantile:
    """One statistic of a cell."""

    cell: str
    found: StatisticChange
    """`adjusted_p` is adjusted for the statistics and for the cells."""


def cell_quantiles(results: Results, statistics: Sequence[str]) -> list[CellQuantile]:
    """Compare statistics of each cell with those of the first, in the blocks where both count.

    All of them together call equal cells different in at most 5 % of experiments: the statistics of a cell by Holm's
    method, the cells by Bonferroni's. An exact experiment has none: its boots do not vary.

    :param statistics: `p50`, `p90`, `p95` or `slow-share`.
    :raises ValueError: for any other.

    Source: Holm (1979); Dunn (1961), Multiple comparisons among means.
    """
    wanted = [Statistic(name) for name in statistics]
    if not wanted or not varies(results):
        return []
    times = [
        {boot.repeat: boot.measured.time_ns for boot in cell.boots if boot.measured is not None}
        for cell in results.cells
    ]
    others = max(1, len(results.cells) - 1)
    rows = []
    for cell, own in zip(results.cells[1:], times[1:], strict=True):
        both = sorted(own.keys() & times[0].keys())
        found = compare_statistics(
            [times[0][repeat] for repeat in both], [own[repeat] for repeat in both], wanted,
            paired=True, seed=results.state.seed, alpha=_ALPHA / others,
        )  # fmt: skip
        for each in found:
            p = None if each.adjusted_p is None else min(1.0, each.adjusted_p * others)
            rows.append(CellQuantile(cell.name, each.model_copy(update={"adjusted_p": p})))
    return rows

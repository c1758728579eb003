"""The calling-context tree, pruned: nothing is lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.analysis.function_options import Unit
from firstlight.analysis.prune import ContextRow, context_tree


def check_sums(rows: list[ContextRow]) -> None:
    """A node's own and the lines right below it add up to its total."""
    for place, row in enumerate(rows):
        below = []
        for other in rows[place + 1 :]:
            if other.depth <= row.depth:
                break
            if other.depth == row.depth + 1:
                below.append(other)
        if not row.pruned:
            parts = [row.own, *(other.total for other in below)]
            assert row.total == sum(part for part in parts if part is not None), row


@pytest.mark.parametrize("min_share", [0.0, 0.01, 0.2, 1.0])
@pytest.mark.parametrize("unit", ["time", "instructions"])
def test_lines_add_up_however_much_is_pruned(invented_boot: Path, unit: Unit, min_share: float) -> None:
    boot = firstlight.open(invented_boot)
    rows = context_tree(boot, unit=unit, min_share=min_share)
    check_sums(rows)
    totals = boot.manifest.totals
    assert rows[0].total == (totals.virtual_ns if unit == "time" else totals.instructions)


def test_a_phase_has_what_ran_in_it(invented_boot: Path) -> None:
    boot = firstlight.open(invented_boot)
    for phase, duration in boot.phases().select("phase", "duration_ns").iter_rows():
        rows = context_tree(boot, phase=phase)
        check_sums(rows)
        assert rows[0].total == duration


def test_under_a_function_every_outermost_call_is_a_root(invented_boot: Path) -> None:
    boot = firstlight.open(invented_boot)
    rows = context_tree(boot, under="kmem_cache_create", min_share=0.0)
    check_sums(rows)
    calls = boot.calls().filter(pl.col("function") == "kmem_cache_create")
    roots = [row for row in rows if row.depth == 0]
    assert len(roots) == calls.height
    assert sum(row.total or 0 for row in roots) == calls["total_ns"].sum()


def test_a_very_deep_tree(invented_boot: Path) -> None:
    depth = 20_000
    number = pl.int_range(depth, eager=True, dtype=pl.Int64)
    calls = firstlight.open(invented_boot).calls().head(1)
    deep = pl.concat([calls] * depth).with_columns(node=number, parent=number - 1, self_ns=pl.lit(1, dtype=pl.Int64))
    boot = firstlight.open(invented_boot)
    boot._frames["calls"] = deep
    rows = context_tree(boot, min_share=0.0)
    assert (rows[0].total, rows[-1].depth) == (depth, depth - 1)

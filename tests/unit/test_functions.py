"""The kd table: the engine's against the plain one, and the sums that must hold."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
import kd_oracle
from boot_tree import PHASES
from bundles import make_bundle
from firstlight.analysis.functions import select

QUESTIONS = [
    (None, None),
    (None, "do_one_initcall"),
    ("initcalls_device", None),
    ("initcalls_fs", "kmem_cache_create"),
    ("early_init", "[interrupts]"),
]


@pytest.mark.parametrize(("phase", "under"), QUESTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_the_table_is_what_the_tree_says(tmp_path: Path, seed: int, phase: str | None, under: str | None) -> None:
    path = make_bundle(tmp_path, seed=seed, hostile=seed == 2)
    table = firstlight.open(path).functions(phase, under)
    worth = table.filter((pl.col("count") > 0) | (pl.col("total_ns") > 0))
    got = {(row["function"], row["module"]): [row[figure] for figure in kd_oracle.FIGURES] for row in worth.to_dicts()}
    rows = kd_oracle.kd_table(path, phase, under)
    assert got == {(row["function"], row["module"]): [row[figure] for figure in kd_oracle.FIGURES] for row in rows}


@pytest.mark.parametrize(("phase", "under"), QUESTIONS)
def test_max_sub_is_the_direct_callee_with_the_largest_total(
    invented_boot: Path, phase: str | None, under: str | None
) -> None:
    table = firstlight.open(invented_boot).functions(phase, under)
    totals = {(row["function"], row["module"]): row["total_ns"] for row in table.to_dicts()}
    callees = {row["function"]: row["callees"] for row in kd_oracle.kd_table(invented_boot, phase, under)}
    for row in table.filter(pl.col("max_sub").is_not_null()).to_dicts():
        # What was entered in an earlier phase was not called in this one.
        called = {callee: calls for callee, calls in callees[row["function"]].items() if callee in totals and calls > 0}
        largest = max(totals[callee] for callee in called)
        assert (row["max_sub"], largest, row["max_sub_count"]) in {
            (callee[0], totals[callee], calls) for callee, calls in called.items()
        }


def test_self_adds_up_to_the_boot_and_its_phases_to_the_same(invented_boot: Path) -> None:
    boot = firstlight.open(invented_boot)
    assert boot.functions()["self_ns"].sum() == boot.manifest.totals.virtual_ns
    assert boot.functions()["self_instructions"].sum() == boot.manifest.totals.instructions
    by_phase = [boot.functions(phase)["self_ns"].sum() for phase in PHASES]
    assert by_phase == boot.phases()["duration_ns"].to_list()


def test_under_adds_up_to_the_total_of_the_function(invented_boot: Path) -> None:
    boot = firstlight.open(invented_boot)
    total = boot.functions().filter(pl.col("function") == "dh_init")["total_ns"].item()
    assert boot.functions(under="dh_init")["self_ns"].sum() == total


@pytest.mark.parametrize("limit", [0, 1, 7, 10_000, None])
@pytest.mark.parametrize("order", ["self", "total", "count"])
def test_what_a_limit_leaves_out_is_not_lost(invented_boot: Path, order: str, limit: int | None) -> None:
    boot = firstlight.open(invented_boot)
    selection = select(boot.functions(), order, "time", limit)  # type: ignore[arg-type]
    assert selection.whole_self("time") == boot.manifest.totals.virtual_ns
    assert selection.whole_self("instructions") == boot.manifest.totals.instructions
    column = {"self": "self_ns", "total": "total_ns", "count": "count"}[order]
    shown = selection.shown[column].to_list()
    assert shown == sorted(shown, reverse=True)
    assert limit is None or selection.shown.height == min(limit, selection.shown.height + selection.left_out.height)


def test_the_tables_of_all_phases_at_once_are_those_of_each(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    tables = boot.phase_functions()
    assert list(tables) == boot.phases()["phase"].to_list()
    for phase, table in tables.items():
        assert table.equals(boot.functions(phase=phase)), phase

"""Analyses run once for a boot, and a change to one caller's result does not reach other callers."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import firstlight
from bundles import make_bundle
from firstlight.analysis.spans import spans_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once


def test_a_result_is_made_once_for_each_boot_and_its_arguments(tmp_path: Path) -> None:
    made: list[tuple[Boot, str]] = []

    @once
    def marks_of(boot: Boot, name: str, *, more: bool = False) -> pl.DataFrame:
        made.append((boot, name))
        return boot.marks().filter(pl.col("mark") == name)

    one, other = (firstlight.open(make_bundle(tmp_path, name=name)) for name in ("a.boot", "b.boot"))
    first = marks_of(one, "ready")
    assert marks_of(one, "ready").equals(first)
    assert [marks_of(boot, "ready").height for boot in (one, other, one)] == [1, 1, 1]
    marks_of(one, "ready", more=True)
    marks_of(one, "kernel_start")
    assert [(boot is one, name) for boot, name in made] == [
        (True, "ready"), (False, "ready"), (True, "ready"), (True, "kernel_start")
    ]  # fmt: skip


def test_what_a_caller_changes_in_place_stays_its_own(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    mine = spans_of(boot, "initcall")
    mine.insert_column(0, pl.Series("mine", range(mine.height)))
    mine[0, "name"] = "changed"
    again = spans_of(boot, "initcall")
    assert "mine" not in again.columns
    assert "changed" not in again["name"].to_list()


def test_replaced_tables_are_analysed_again(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    assert spans_of(boot, "initcall").height == 33
    boot.replace_tables(spans=boot.spans().clear())
    assert spans_of(boot, "initcall").height == 0

"""Processes, system calls and files of two real boots: the programs that one of them runs more are named as new."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.lab.run.record import record
from short_boots import short

pytestmark = pytest.mark.boot

PARTS = ["caused_ns", "moved_ns", "accident_ns"]


@pytest.fixture(scope="module")
def found(boots: Path) -> firstlight.Comparison:
    plain, more = (
        record(short(output=boots / name, guest_commands=(commands,)))
        for name, commands in (
            ("plain-levels.boot", "true"),
            ("more-levels.boot", "cat /init > /tmp/x; stat /tmp/x; true"),
        )
    )
    return firstlight.compare(plain, more)


def test_every_level_of_real_boots_adds_up(found: firstlight.Comparison) -> None:
    assert {"processes", "system_calls", "files", "path"} <= set(found.tables)
    for name, table in found.tables.items():
        assert table["change_ns"].sum() == found.total.change_ns, name
        assert table.select(pl.sum_horizontal(PARTS)).to_series().to_list() == table["change_ns"].to_list(), name
    sums = {tuple(table.select(pl.col(PARTS).sum()).row(0)) for table in found.tables.values()}
    assert len(sums) == 1


def test_the_programs_that_only_one_boot_ran_are_new(found: firstlight.Comparison) -> None:
    rows = found.table("processes")
    new = rows.filter((pl.col("kind") == "process") & (pl.col("a_ns") == 0) & (pl.col("b_ns") > 0))["name"].to_list()
    assert {"cat /init", "stat"} <= set(new)
    files = found.table("files")
    assert files.filter(pl.col("name") == "/tmp/x")["b_ns"].item() > 0

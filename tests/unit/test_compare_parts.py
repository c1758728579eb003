"""Comparing a part of boots, from one mark to another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import firstlight
from bundles import make_bundle
from firstlight.bundle.part import part_between
from firstlight.cli.main import run
from firstlight.errors import FirstlightError


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return make_bundle(tmp_path, name="a.boot"), make_bundle(tmp_path, name="b.boot", seed=2, append="quiet")


def test_the_parts_of_a_boot_add_up_to_it(pair: tuple[Path, Path]) -> None:
    boot = firstlight.open(pair[0])
    marks = boot.marks().drop_nulls("time_ns").sort("time_ns")["mark"].to_list()
    for mark in marks[1:-1]:
        head, tail = part_between(boot, None, mark), part_between(boot, mark)
        for column in ("virtual_ns", "instructions", "idle_ns"):
            total = getattr(head.manifest.totals, column) + getattr(tail.manifest.totals, column)
            assert total == getattr(boot.manifest.totals, column), (mark, column)
        for part in (head, tail):
            assert part.phases()["duration_ns"].sum() == part.manifest.totals.virtual_ns


def test_a_difference_from_mark_to_mark_is_a_partition(pair: tuple[Path, Path]) -> None:
    entire = firstlight.compare(*pair)
    found = firstlight.compare(*pair, from_mark="early_init_start", to_mark="user_start")
    one, other = (firstlight.open(path).marks().rows_by_key("mark", named=True, unique=True) for path in pair)
    lengths = [marks["user_start"]["time_ns"] - marks["early_init_start"]["time_ns"] for marks in (one, other)]
    assert found.total.change_ns == lengths[1] - lengths[0]
    assert found.tables["phases"]["change_ns"].sum() == found.total.change_ns
    assert "functions" not in found.tables
    assert "functions" in entire.tables


def test_boots_with_other_ends_are_compared_up_to_a_mark_that_both_have(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((pair[1] / "manifest.json").read_text())
    words = ["compare", *map(str, pair), "--to", "user_start", "--json"]
    assert manifest["status"] == "complete"
    assert run(words) == 0
    capsys.readouterr()
    assert run([*words[:3], "--to", "no_such_mark"]) == 1
    assert "no_such_mark" in capsys.readouterr().err
    assert run([*words[:3], "--from", "user_start", "--to", "early_init_start"]) == 2
    with pytest.raises(FirstlightError, match="not after"):
        part_between(firstlight.open(pair[0]), "ready")

"""Boots compared between two marks, and what a comparison of one boot per side does not take."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import firstlight
import unsure_boot
from bundles import make_bundle, settle, write_table
from firstlight.cli.main import run
from firstlight.comparison.exact.difference import ExactDifference

PART = ["--from", "early_init_start", "--to", "run_init_start"]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return str(make_bundle(tmp_path)), str(make_bundle(tmp_path, name="b.boot", append="quiet", seed=2))


def test_a_part_has_no_functions_because_it_is_a_part(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *pair, *PART]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "functions are not compared between two marks: the tree of calls counts the entire boot" in text
    assert "has no rows" not in text


def test_parts_of_boots_whose_clocks_begin_at_different_instants_are_compared(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(pair[1]) / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["clock"]["origin"] = "firmware_start"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert run(["compare", *pair]) != 0
    assert "--from MARK --to MARK" in capsys.readouterr().err
    assert run(["compare", *pair, *PART]) == 0


def test_options_of_arms_that_vary_are_not_ignored_in_silence(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *pair, "--quantile", "p95", "--look", "2"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "is compared with one boot per side, so `--quantile` and `--look` do not apply" in said


def test_what_calls_initcalls_calls_other_functions_which_are_no_initcalls(tmp_path: Path) -> None:
    bundles = [make_bundle(tmp_path, name=name) for name in ("a.boot", "b.boot")]
    settle(bundles[0])
    rows = pl.read_parquet(bundles[1] / "calls.parquet")
    above = rows.filter(pl.col("function") == "do_one_initcall").row(0, named=True)
    new = dict.fromkeys(rows.columns, 0) | {"node": rows.height, "parent": above["node"], "kind": "function"}
    new |= {"function": "initcall_blacklisted", "module": None, "calls": 9}
    new |= {"self_instructions": 70_000, "self_ns": 70_000}
    write_table(bundles[1], "calls", pl.concat([rows, pl.DataFrame([new], schema=rows.schema)]))
    settle(bundles[1])
    found = firstlight.compare(*bundles).evidence
    assert isinstance(found, ExactDifference)
    level = found.initcalls
    assert level is not None
    assert {row.name: row.change_ns for row in level.changed} == {"[outside all initcalls]": 70_000}
    assert sum(parts.change_ns for parts in found.parts["initcalls"].values()) == 70_000


@pytest.mark.parametrize(("user", "unsure"), [(2.05, True), (2.9, False)])
def test_a_phase_that_changed_by_less_than_its_bounds_is_unsure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], user: float, unsure: bool
) -> None:
    one, other = (
        unsure_boot.boot(tmp_path, name, user=at, program=at + 0.06) for name, at in (("a", 2.0), ("b", user))
    )
    capsys.readouterr()
    assert run(["compare", str(one.directory), str(other.directory), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["data"]["comparisons"]
    marked = {row["name"] for row in found["levels"]["phases"]["rows"] if row.get("unsure")}
    changed = {row["name"] for row in found["levels"]["phases"]["rows"] if row["change"]["ns"]}
    assert "userspace" in changed
    assert marked == ({"userspace"} if unsure else set())
    assert run(["compare", str(one.directory), str(other.directory)]) == 0
    assert ("unsure" in capsys.readouterr().out) == unsure

"""Slices of time: what an interval of a boot counts, in Python and in the terminal."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, write_table
from firstlight.bundle.equality import equal_tables
from firstlight.bundle.part import part_between
from firstlight.cli.main import run
from firstlight.errors import BundleError, UsageError
from firstlight.render.page.slices import page_slices
from firstlight.render.page.tree import fold

FIGURES = ("count", "total_instructions", "total_ns", "self_instructions", "self_ns")
MS = 1_000_000


def random_intervals(boot: firstlight.Boot, number: int) -> list[tuple[int, int]]:
    chance = random.Random(7)
    end = boot.manifest.totals.virtual_ns or 0
    pairs = [sorted(chance.sample(range(-end // 10, end + end // 10), 2)) for _ in range(number)]
    return [(first, last) for first, last in pairs if first < end and last > 0]


@pytest.mark.parametrize("shift", [0, 3])
def test_the_sums_of_an_interval_are_those_of_its_slices(tmp_path: Path, shift: int) -> None:
    boot = firstlight.open(make_bundle(tmp_path, shift=shift))
    for start, end in random_intervals(boot, 40):
        chosen = boot.interval(start, end)
        assert chosen.end_ns - chosen.start_ns == (chosen.instructions << shift) + chosen.idle_ns
        there = boot.interval_calls(start, end)
        assert there["self_instructions"].sum() == chosen.instructions
        assert there["self_ns"].sum() == chosen.end_ns - chosen.start_ns
        table = boot.functions(between=(start, end))
        assert table["self_instructions"].sum() == chosen.instructions
        assert table["self_ns"].sum() == chosen.end_ns - chosen.start_ns
        assert table["count"].sum() == there["calls"].sum()


def test_an_interval_that_is_a_phase_is_the_phase(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    for phase, start, end in boot.phases().select("phase", "start_ns", "end_ns").iter_rows():
        between = boot.functions(between=(start, end)).drop("doubtful_calls")
        assert between.equals(boot.functions(phase=phase).drop("doubtful_calls"))
        tree = boot.context_tree(between=(start, end), min_share=0)
        assert tree == boot.context_tree(phase=phase, min_share=0)


def test_the_whole_boot_is_the_tree(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    end = boot.manifest.totals.virtual_ns or 0
    assert (
        boot.functions(between=(0, end))
        .select("function", *FIGURES)
        .equals(boot.functions().select("function", *FIGURES))
    )


def test_edges_are_the_nearest_ones_and_never_none(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    slices = boot.slices()
    third = slices.row(3, named=True)
    lasts = third["end_ns"] - third["start_ns"]
    near = boot.interval(third["start_ns"] + lasts // 10, third["end_ns"] - lasts // 10)
    assert (near.first, near.last, near.slices) == (3, 3, 1)
    within = boot.interval(third["start_ns"] + 1, third["start_ns"] + 2)
    assert (within.start_ns, within.end_ns) == (third["start_ns"], third["end_ns"])
    beyond = boot.interval(slices["end_ns"][-1] - 1, 10**15)
    assert beyond.last == slices.height - 1
    for outside in ((10**15, 10**15 + 1), (-2, -1)):
        with pytest.raises(UsageError, match="is outside the boot"):
            boot.interval(*outside)
    with pytest.raises(UsageError, match="is not after"):
        boot.interval(5, 5)


def test_a_boot_without_slices_says_so(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    for table in ("slices", "slice_calls"):
        (bundle / f"{table}.parquet").unlink()
        del manifest["tables"][table]
    for invariant in ("slices_sum_to_tree", "slices_sum_to_phases"):
        del manifest["invariants"][invariant]
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    boot = firstlight.open(bundle)
    assert boot.slices().is_empty()
    boot.check_sums()
    assert equal_tables(boot, firstlight.open(make_bundle(tmp_path, name="now.boot")))
    with pytest.raises(BundleError, match="no time slices"):
        boot.functions(between=(0, 5))
    with pytest.raises(BundleError, match="no profile"):
        firstlight.open(make_bundle(tmp_path, name="b.boot", profile=False)).interval(0, 5)


def test_an_invariant_of_slices_is_needed_where_there_are_slices(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    del manifest["invariants"]["slices_sum_to_phases"]
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="slices_sum_to_phases`: it is missing"):
        firstlight.open(bundle).calls()


def test_the_terminal_names_the_interval_that_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    monkeypatch.chdir(tmp_path)
    chosen = boot.interval(100 * MS, 900 * MS)
    assert run(["functions", "a.boot", "--between", "100ms..0.9s", "-n", "3"]) == 0
    printed = capsys.readouterr().out
    edges = [f"{ns // 10**9}.{ns % 10**9:09d}" for ns in (chosen.start_ns, chosen.end_ns)]
    assert f"{edges[0]} to {edges[1]} s ({chosen.slices} slices of time)" in printed
    assert run(["functions", "a.boot", "--between", "100ms..0.9s", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["data"]
    assert sum(row["self_instructions"] for row in rows) == chosen.instructions
    assert run(["functions", "a.boot", "--between", "100ms..0.9s", "--tree"]) == 0
    assert edges[0] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--between", "5ms"], "is not START..END"),
        (["--between", "5..9"], "is not a duration"),
        (["--between", "9ms..5ms"], "`5ms` is not after `9ms`"),
        (["--between", "100s..200s"], "100.000000 s to 200.000000 s is outside the boot, which lasts from 0 ns to"),
        (["--between", "1ms..5ms", "--phase", "user"], "cannot be combined with `--phase`"),
    ],
)
def test_a_wrong_interval_is_a_usage_error(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["functions", str(make_bundle(tmp_path)), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_page_puts_neighbours_together_where_there_are_too_many_slices(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    boot = firstlight.open(bundle)
    # Every slice in as many as a page may have; the figures are in the last part of each.
    parts = 25
    rows: list[tuple[int, ...]] = []
    for row in boot.slices().iter_rows(named=True):
        for part in range(parts):
            start = row["start_ns"] if part == 0 else row["end_ns"] - (row["instructions"] + row["idle_ns"])
            last = part == parts - 1
            end = row["end_ns"] if last else start
            figures = (row["instructions"], row["idle_ns"]) if last else (0, 0)
            rows.append((len(rows), start, end, *figures))
    many = boot.slice_calls(raw_names=True).with_columns(slice=pl.col("slice") * parts + parts - 1)
    write_table(bundle, "slices", pl.DataFrame(rows, schema=boot.slices().schema, orient="row"))
    write_table(bundle, "slice_calls", many)
    boot = firstlight.open(bundle)
    described, columns = page_slices(boot, fold(boot.calls()), boot.functions())
    assert described is not None
    assert described["recorded"] == len(rows) > 600
    assert len(described["end_ns"]) <= 600
    assert sum(described["instructions"]) == boot.manifest.totals.instructions
    assert described["end_ns"][-1] == boot.manifest.totals.virtual_ns
    assert described["bytes"] == len(columns)


def test_a_part_between_two_marks_has_no_slices(tmp_path: Path) -> None:
    part = part_between(firstlight.open(make_bundle(tmp_path)), "early_init_start")
    assert part.slices().is_empty()
    assert part.slice_calls(raw_names=True).is_empty()

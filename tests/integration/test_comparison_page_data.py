"""`firstlight compare --html`: what the page carries, and where it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from answers import data_of_answer
from browser.report_page import data_of
from bundles import make_bundle
from firstlight.cli.main import run
from firstlight.comparison.compare import compare_arms
from firstlight.comparison.sides.arms import read_arms
from firstlight.render.page.comparison import comparison_page_data
from firstlight.render.page.html import filled
from firstlight.render.page.text import sound
from varying_boots import noise, session

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def arms(tmp_path: Path) -> tuple[Path, Path]:
    return make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=2, append="quiet")


def _data(*paths: Path) -> dict[str, Any]:
    first, *others = read_arms(list(paths))
    found = [(compare_arms(first, other), None) for other in others]
    return comparison_page_data(first.name, found)


def test_the_page_carries_what_compare_prints_as_json(arms: tuple[Path, Path], tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "out.html"
    options = ["-n", "1000", "--min-percent", "0.1"]
    assert run(["compare", *map(str, arms), "--html", str(page), "--json", *options]) == 0
    printed = data_of_answer(capsys.readouterr().out)
    carried = data_of(page.read_text(encoding="utf-8"))
    assert {name: carried[name] for name in printed} == printed
    assert (carried["format"], carried["version"]) == ("firstlight-comparison-page", 1)
    assert (
        carried["said"][0]["sentence"]
        == "B is slower by 7.625 ms (0.919 %); caused by init (+3.452 ms); by function: init_idle (+3.702 ms)."
    )


def test_the_same_boots_give_the_same_page(arms: tuple[Path, Path]) -> None:
    assert filled(_data(*arms)) == filled(_data(*arms))


def test_the_page_is_named_on_standard_output_and_not_replaced_unasked(
    arms: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    page = tmp_path / "out.html"
    words = ["compare", *map(str, arms), "--html", str(page)]
    assert run(words) == 0
    assert capsys.readouterr().out == f"{page}\n"
    page.write_text("mine", encoding="utf-8")
    assert run(words) == 1
    assert "`--force` replaces it" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "mine"
    assert run([*words, "--force"]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_dash_is_standard_output(arms: tuple[Path, Path], capsys: Capture) -> None:
    assert run(["compare", *map(str, arms), "--html", "-"]) == 0
    assert data_of(capsys.readouterr().out)["said"][0]["word"] == "slower"
    assert run(["compare", *map(str, arms), "--html", "-", "--json"]) == 2
    assert run(["compare", *map(str, arms), "--force"]) == 2


def test_strict_is_reported_by_the_exit_code_with_a_page_too(tmp_path: Path) -> None:
    a, b = session(tmp_path, noise(4))
    assert run(["compare", str(a), str(b), "--html", str(tmp_path / "out.html"), "--strict"]) == 5


def test_a_change_within_the_nuisance_band_is_flagged(arms: tuple[Path, Path], tmp_path: Path) -> None:
    from firstlight.comparison.robustness import BandedChange, Robustness

    found = compare_arms(*read_arms([*arms]))
    total = BandedChange("all", None, "whole", 7_625_499, 9_000_000)
    data = comparison_page_data("a.boot", [(found, Robustness("the band is of another recipe", total, {}))])
    lines = data["said"][0]["lines"]
    assert ["flag", "caution", "the band is of another recipe"] in lines
    assert ["flag", "noise band", "+7.625 ms is within a band of 9.000 ms: exact but not robust"] in lines


def test_boots_that_take_as_long_by_other_work_are_not_called_equal(tmp_path: Path) -> None:
    bundle, bare = make_bundle(tmp_path), make_bundle(tmp_path, name="bare.boot", profile=False)
    said = _data(bundle, bare)["said"][0]
    assert said["sentence"] == "B takes exactly as long as A, in every part that was compared."
    assert [name for sort, name, _ in said["lines"] if sort == "flag"] == ["profile"]


def test_all_that_vanished_is_summed_up_though_few_have_a_row(arms: tuple[Path, Path]) -> None:
    first, other = read_arms([*arms])
    whole = _data(*arms)["comparisons"][0]["tree"]
    few = comparison_page_data("a", [(compare_arms(first, other), None)], limit=1)["comparisons"][0]["tree"]
    assert len(few["vanished"]) == 1
    assert few["vanished_sum"] == whole["vanished_sum"]
    assert whole["vanished_sum"] == {
        "count": len(whole["vanished"]), "total_ns": sum(row["total_a_ns"] for row in whole["vanished"])
    }  # fmt: skip


def test_texts_and_figures_that_json_cannot_hold_are_mended() -> None:
    mended = sound({"\ud800": [float("nan"), 1.5, ("x" * 5_000,)]})
    assert mended["\ufffd"][:2] == [None, 1.5]
    assert mended["\ufffd"][2][0].endswith("(5,000 characters)")

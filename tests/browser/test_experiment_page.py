"""The page of an experiment shows what each arm or factor did, and its parts add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.report_page import Show, assert_only_text, data_of, rewrite
from experiments import make_experiments
from firstlight.cli.main import run
from firstlight.experiment.results import Results, read_results
from firstlight.render.experiment_json import results_data


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with an experiment of every sort."""
    directory = tmp_path_factory.mktemp("experiments")
    make_experiments(directory)
    return directory


def _page(directory: Path) -> tuple[str, Results]:
    page = directory.parent / f"{directory.name}.html"
    assert run(["experiment", "show", str(directory), "--html", str(page), "--force"]) == 0
    return page.read_text(encoding="utf-8"), read_results(directory)


def test_factors_have_their_effects_and_shares_that_add_up(show: Show, experiments: Path) -> None:
    html, results = _page(experiments / "factors")
    report = show(html=html)
    data = results_data(results)
    effects = report.page.locator("#effects .change").evaluate_all("all => all.map(e => Number(e.dataset.value))")
    assert effects == [each["effect_ns"] for each in data["effects"]]
    steps = report.page.locator("#shares .step[data-scaled]").evaluate_all("all => all.map(e => +e.dataset.scaled)")
    assert sum(steps) == data["shares"]["total_ns"]
    assert "exactly all on less all off" in report.section("shares")
    assert "changes nothing" in report.section("effects")
    assert "quiet=on x notests=on" in report.section("interactions")


def test_arms_have_their_stages_beside_one_another(show: Show, experiments: Path) -> None:
    html, results = _page(experiments / "arms")
    report = show(html=html)
    for cell in results.cells[:3]:
        parts = report.page.locator(f"#stages .stack[data-total='{cell.time}'] .part")
        assert sum(parts.evaluate_all("all => all.map(e => +e.dataset.ns)")) == cell.time
    assert "A→B" in report.section("stages")
    assert "broken, boot 1, does not count: the boot failed (panic)" in report.page.locator("header").inner_text()
    assert "Three kernels ‹U+001B›[31m<b>|*" in report.page.locator("h1").inner_text()
    assert_only_text(report)


def test_boots_that_vary_have_a_verdict(show: Show, experiments: Path) -> None:
    html, _ = _page(experiments / "noisy")
    report = show(html=html, width=400, dark=True)
    assert "Not exact: means of boots in randomised blocks" in report.page.locator("header").inner_text()
    assert "inconclusive" in report.section("cells")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_hostile_names_are_shown_and_do_nothing(show: Show, experiments: Path) -> None:
    html, _ = _page(experiments / "factors")
    bad = "</script><script>alert(1)</script>\u202e\x1b[31m&amp;__proto__"

    def change(data: dict[str, object]) -> None:
        results = data["results"]
        assert isinstance(results, dict)
        for row in (*results["effects"], *results["shares"]["factors"]):
            row |= {"factor": bad, "level": bad}
        for cell in results["cells"]:
            cell["name"] = cell["why_not"] = bad
        results["stages"]["arms"] = [bad] * len(results["stages"]["arms"])
        data["said"] = data["heading"] = [bad, bad]
        tables = data["tables"]
        assert isinstance(tables, dict)
        tables["cells"]["rows"] = [[bad] * 5]
        tables["__proto__"] = tables["cells"]

    report = show(html=rewrite(html, change))
    assert_only_text(report)
    assert "</script><script>alert(1)</script>‹U+202E›‹U+001B›[31m&amp;__proto__" in report.section("cells")


def test_the_page_carries_what_show_prints_as_json(experiments: Path) -> None:
    html, results = _page(experiments / "factors")
    assert data_of(html)["results"] == results_data(results)


def test_a_page_that_is_there_is_not_replaced_unasked(experiments: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = experiments / "once.html"
    words = ["experiment", "show", str(experiments / "arms"), "--html", str(page)]
    assert run(words) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert run(words) == 1
    assert run([*words, "--force", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("## ")

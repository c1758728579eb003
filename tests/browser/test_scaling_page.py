"""The page of a scaling shows what was measured, the law through it, and what it leaves open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from answers import data_of_answer
from browser.report_page import Show, assert_only_text, data_of, rewrite
from firstlight.cli.main import run

_SIZES = (1, 2, 4, 8, 16, 32, 64)


def _page(directory: Path, *options: str) -> str:
    """The page of two boards: one with a small constant and a steep slope, one the other way round."""
    lines = ["n,cost,board"]
    lines += [f"{n},{cost},{board}" for board, a, b in (("alpha", 100, 9), ("beta", 180, 2))
              for n in _SIZES for cost in (a + b * n,)]  # fmt: skip
    table, page = directory / "boards.csv", directory / "boards.html"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run(["scale", str(table), "--by", "board", "--exact", "--html", str(page), "--force", *options]) == 0
    return page.read_text(encoding="utf-8")


def test_every_measurement_lies_on_its_law(show: Show, tmp_path: Path) -> None:
    report = show(html=_page(tmp_path, "--at", "128"))
    assert "alpha: 100 + 9 x n" in report.page.locator("header").inner_text()
    assert "Crossover at n = 11.43: above it beta costs less than alpha." in report.page.locator("header").inner_text()
    dots = report.page.locator("#picture circle.measured")
    costs = dots.evaluate_all("all => all.map(e => Number(e.dataset.cost))")
    assert costs == [a + b * n for a, b in ((100, 9), (180, 2)) for n in _SIZES]
    off = report.page.locator("#picture .configuration").evaluate_all(
        """all => all.map(group => {
          const law = group.querySelector("path.law");
          const points = Array.from({length: 2001}, (_, i) => law.getPointAtLength(law.getTotalLength() * i / 2000));
          return Math.max(...[...group.querySelectorAll("circle")].map(dot =>
            Math.min(...points.map(p => Math.hypot(p.x - dot.cx.baseVal.value, p.y - dot.cy.baseVal.value)))));
        })"""
    )
    assert max(off) < 2
    assert report.page.locator("#picture .configuration path.predicted").count() == 2
    assert report.page.locator("#picture path.crossover").count() == 1
    assert "1,252" in report.section("law")


def test_far_beyond_the_sizes_only_the_band_is_drawn(show: Show, tmp_path: Path) -> None:
    report = show(html=_page(tmp_path, "--at", "1000"))
    ends = report.page.locator("#picture .configuration").first.evaluate(
        "group => [group.querySelector('.law').getBBox(), group.querySelector('.band').getBBox()]"
        ".map(box => box.x + box.width)"
    )
    assert ends[0] < ends[1] - 20
    assert report.page.locator("#picture .configuration path.diamond").count() == 0


def test_a_cost_that_falls_has_dots_and_no_law(show: Show, tmp_path: Path) -> None:
    table, page = tmp_path / "falls.csv", tmp_path / "falls.html"
    table.write_text("n,cost\n1,500\n2,400\n4,320\n8,260\n16,200\n32,150\n", encoding="utf-8")
    assert run(["scale", str(table), "--at", "64", "--html", str(page)]) == 0
    report = show(html=page.read_text(encoding="utf-8"))
    assert "falls as n grows" in report.page.locator("header").inner_text()
    assert report.page.locator("#picture circle.measured").count() == 6
    assert report.page.locator("#picture .configuration path.law").get_attribute("d") == ""
    assert report.page.locator("#picture .configuration path.predicted").count() == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_axis_switches_and_the_page_fits_a_narrow_screen(show: Show, tmp_path: Path, dark: bool) -> None:
    report = show(html=_page(tmp_path), width=400, dark=dark)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 400
    where = "all => all.map(e => Number(e.getAttribute('cx')))"
    by_factors = report.page.locator("#picture circle.measured").evaluate_all(where)[:7]
    report.page.locator("#picture .units span", has_text="Sizes as they are").click()
    as_they_are = report.page.locator("#picture circle.measured").evaluate_all(where)[:7]
    assert by_factors[3] - by_factors[0] > 3 * (as_they_are[3] - as_they_are[0])


def test_hostile_names_are_shown_and_do_nothing(show: Show, tmp_path: Path) -> None:
    bad = "</script><script>alert(1)</script>\u202e\x1b[31m&amp;"

    def change(data: dict[str, Any]) -> None:
        scale = data["scale"]
        scale |= {"title": bad, "variable": bad, "unit": bad, "notes": [bad]}
        for found, told in zip(scale["configurations"], data["configurations"], strict=True):
            found |= {"name": bad, "notes": [bad]}
            told |= {"law": bad, "certainty": "__proto__", "lines": [bad], "tables": {"__proto__": data["points"]}}
        data["points"]["rows"] = [[bad] * 5]
        data["crossovers"] = [{"size": 3, "text": bad, "line": bad}]

    report = show(html=rewrite(_page(tmp_path), change))
    assert_only_text(report)
    assert "alert(1)</script>‹U+202E›‹U+001B›[31m&amp;" in report.section("points")


def test_the_page_carries_what_scale_prints_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:

    html = _page(tmp_path, "--at", "128", "--json")
    assert data_of(html)["scale"] == data_of_answer(capsys.readouterr().out)

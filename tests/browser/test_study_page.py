"""The page of a study: verdicts first, the first chart with its figures, and where the tables are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browser.report_page import Show, assert_only_text
from firstlight.render.page.html import filled
from firstlight.render.page.study import study_page_data
from invented_study import NO_TOOL, invented_outcome


def _page(name: str = "cramfs") -> str:
    return filled(study_page_data(invented_outcome(name)))


def test_verdicts_tables_and_what_is_missing_are_there(show: Show) -> None:
    report = show(html=_page())
    findings = report.section("findings")
    assert "execute in place wins" in findings
    assert findings.index("holds") < findings.index("no longer holds") < findings.index("not testable here")
    assert findings.count("then 0.76 s; here 0.70 s") == 1
    assert "Tables as CSV: " in report.section("recipe")
    assert NO_TOOL in report.section("missing")


def test_every_chart_draws_every_figure(show: Show) -> None:
    outcome = invented_outcome()

    def values(key: str, marks: str) -> list[float]:
        charts = tuple(chart for chart in outcome.charts if chart.key == key)
        report = show(html=filled(study_page_data(replace(outcome, charts=charts))))
        found: list[float] = report.page.locator(f"figure[data-chart={key}] {marks}").evaluate_all(
            "all => all.map(each => Number(each.dataset.value))"
        )
        return found

    assert values("bars", "rect.bar") == [842_789_100, 900_000_000]
    assert values("stacked", "rect.bar") == [3e6, 1e6, 4e6, 2e6]
    assert values("lines", "circle.measured") == [10, 95, 990]
    assert values("histogram", "rect.bar") == [3, 9, 1]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_a_narrow_screen(show: Show, dark: bool) -> None:
    report = show(html=_page(), width=400, dark=dark)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_hostile_names_are_shown_and_do_nothing(show: Show) -> None:
    report = show(html=_page("</script><img src=x onerror=alert(1)>"))
    assert_only_text(report)
    assert "</script><img" in report.section("pictures")

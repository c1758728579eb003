"""On paper, a page fits the width, shows what is folded among the known causes, and has nothing to press."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
from browser.report_page import Report, Show, rewrite
from bundles import make_bundle
from firstlight.render.page.html import page_html
from firstlight.render.page.pair import pair_html
from imported_bundle import make_imported

PAPERS = {"Letter": 816, "A4": 794}

#: A browser lays the page out for paper at once, without the frames in which a page draws itself anew for a new width.
_WIDER = """(width) => {
  dispatchEvent(new Event("beforeprint"));
  document.body.style.width = `${width}px`;
  const wide = [...document.querySelectorAll("header *, main *")].filter((each) =>
    !each.closest(".unseen") && each.getBoundingClientRect().right > width + 1);
  return wide.map((each) => `${each.tagName} ${each.getAttribute("class")} ${each.textContent.slice(0, 40)}`);
}"""


def on_paper(report: Report, paper: str) -> list[str]:
    """Lays the page out for a paper; what is wider than it."""
    report.page.wait_for_timeout(300)
    report.page.emulate_media(media="print")
    wider: list[str] = report.page.evaluate(_WIDER, PAPERS[paper])
    return wider


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_every_part_of_a_boot_fits_the_width(show: Show, tmp_path: Path, paper: str) -> None:
    assert on_paper(show(make_bundle(tmp_path)), paper) == []
    assert on_paper(show(make_imported(tmp_path)), paper) == []


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_every_part_of_two_boots_fits_the_width(show: Show, tmp_path: Path, paper: str) -> None:
    a, b = (firstlight.open(each) for each in (make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=9)))
    report = show(html=pair_html(a, b))
    assert on_paper(report, paper) == []
    shares = report.page.locator("#bridge .share-of").all_text_contents()
    assert any("%" in share for share in shares)


def test_a_long_timeline_is_one_drawing_with_its_ruler(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path), dark=True)
    on_paper(report, "Letter")
    texts = report.page.locator(".tl-paper text").all_text_contents()
    assert texts[0].startswith("imported.boot: 0.000000 to 4.800000 s")
    assert {"Console", "Held back"} <= set(texts)
    assert not report.page.locator(".tl-frame").first.is_visible()
    # Paper is bright, whatever the screen is.
    ground = report.page.locator(".tl-paper rect").first.evaluate("each => getComputedStyle(each).fill")
    assert ground == "rgb(255, 255, 255)"


def test_nothing_to_press_is_printed_and_no_cause_is_folded(show: Show, tmp_path: Path) -> None:
    causes = [f"cause {number}" for number in range(7)]

    def more(data: dict[str, list[dict[str, object]]]) -> None:
        data["findings"] = [{**data["findings"][0], "title": title} for title in causes]

    report = show(html=rewrite(page_html(firstlight.open(make_bundle(tmp_path))), more))
    on_paper(report, "A4")
    assert [cause for cause in causes if cause not in report.section("timeline")] == []
    buttons = report.page.locator("button:visible").evaluate_all(
        "all => all.filter(e => !e.matches('.link, th button')).map(e => e.textContent)"
    )
    assert buttons == []
    assert report.page.locator("input:visible, select:visible").count() == 0
    report.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert report.page.locator(".tl-answers details[open]").count() == 0
    assert report.page.locator(".tl-paper svg").count() == 0

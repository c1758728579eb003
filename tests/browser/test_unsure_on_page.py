"""The page of a boot whose records do not show when userspace began: both phases say so, in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
from browser.report_page import Show
from browser.timeline_page import TimelineOf
from bundles import make_bundle
from unsure_boot import boot


def test_the_table_and_the_bar_of_phases_say_how_far_each_may_be_off(show: Show, tmp_path: Path) -> None:
    report = show(boot(tmp_path, "a").directory)
    assert report.column("phases", "unsure")[:3] == ["", "off by up to 60.0 ms", "off by up to 60.0 ms"]
    report.page.set_viewport_size({"width": 390, "height": 800})
    heights = report.page.locator("#phases td .unbroken").evaluate_all("all => all.map(e => e.getClientRects().length)")
    assert max(heights) == 1
    report.page.set_viewport_size({"width": 1280, "height": 900})
    said = report.page.locator("#phases .unsure-marks").inner_text()
    assert "between 2.000000 s and 2.060001 s" in said
    assert "of the time, perhaps off by up to 60.0 ms" in report.page.locator("header .headline").inner_text()
    report.page.locator("nav input[value=time]").check()
    names = report.page.locator("#phases g.segment").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    # Records have no instructions and no idle time, and nothing is said of them.
    assert names[0] == "kernel: 1.90 s"
    assert [("perhaps off by up to 60.0 ms" in name) for name in names] == [False, True, True]
    assert report.page.locator("#phases g.segment rect[fill='url(#unsure)']").count() == 1


def test_a_begin_that_nothing_bounds_is_unknown(show: Show, tmp_path: Path) -> None:
    report = show(boot(tmp_path, "a", program=None).directory)
    assert report.column("phases", "unsure")[:3] == ["", "off by an unknown time", "off by an unknown time"]
    assert "no line shows by when" in report.page.locator("#phases .unsure-marks").inner_text()


def test_the_timeline_says_between_which_instants_a_phase_begins(show: Show, tmp_path: Path) -> None:
    report = show(boot(tmp_path, "a").directory)
    timeline = TimelineOf(report)
    assert "no record shows when" in report.page.locator("#timeline .legend").inner_text()
    timeline.click("userspace", "Boot")
    assert "it begins between 2.000000 and 2.060001 s" in timeline.details()
    timeline.focus()
    report.page.keyboard.press("ArrowLeft")
    assert "ends between 2.000000 and 2.060001 s" in report.page.locator("#timeline [aria-live]").first.inner_text()


def test_a_boot_whose_marks_are_known_says_nothing_of_it(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path))
    assert report.page.locator("#phases .unsure-marks").count() == 0
    assert report.page.locator("#phases th[data-column=unsure]").count() == 0
    assert "no record shows when" not in report.page.locator("#timeline .legend").inner_text()


@pytest.mark.parametrize("program", [2.06, None], ids=["bounded", "unbounded"])
def test_the_drawing_of_a_timeline_hatches_it(tmp_path: Path, program: float | None) -> None:
    out = tmp_path / "a.svg"
    firstlight.export(boot(tmp_path, "a", program=program), "timeline-svg", out)
    assert 'fill="url(#unsure)"' in out.read_text()

"""The page of two boots: both on one axis, aligned at a mark, with what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
from browser.report_page import Show, assert_only_text
from browser.timeline_page import TimelineOf
from bundles import make_bundle
from firstlight.errors import UsageError
from firstlight.render.page.pair import pair_html
from imported_bundle import make_imported


def pair(a: Path, b: Path, align: str | None = None) -> str:
    """The page of two bundles."""
    return pair_html(firstlight.open(a), firstlight.open(b), align)


def test_each_track_of_a_stands_above_that_of_b(show: Show, tmp_path: Path) -> None:
    report = show(html=pair(make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=9)))
    heads = TimelineOf(report).heads()
    assert heads[:3] == ["Boot", "A Phases", "B Phases"]
    assert report.page.locator("main > section").nth(0).get_attribute("id") == "bridge"
    assert report.page.locator("main > section").nth(1).get_attribute("id") == "timeline"


def test_the_chosen_mark_is_at_the_same_place(show: Show, tmp_path: Path) -> None:
    a, b = make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=9)
    phases = [firstlight.open(each).phases() for each in (a, b)]
    name = phases[0]["phase"][5]
    mark = next(
        mark
        for mark, time in firstlight.open(a).marks().select("mark", "time_ns").iter_rows()
        if time == phases[0]["start_ns"][5]
    )
    report = show(html=pair(a, b, mark))
    timeline = TimelineOf(report)
    place = phases[0]["start_ns"][5]
    started = [each for each in timeline.ask("ranAt", place) if each[2] == name]
    assert [each[3] for each in started] == [place, place]
    assert f"aligned at the mark {mark.replace('_', ' ')}" in report.section("timeline")
    other = firstlight.open(a).marks()["mark"][0]
    report.page.get_by_label("Aligned at the mark").select_option(other)
    report.page.wait_for_timeout(200)
    assert f"aligned at the mark {other.replace('_', ' ')}" in report.section("timeline")


def test_an_address_keeps_the_mark_that_aligns(show: Show, tmp_path: Path) -> None:
    report = show(html=pair(make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=9)))
    timeline = TimelineOf(report)
    choice = report.page.get_by_label("Aligned at the mark")
    mark = firstlight.open(tmp_path / "a.boot").marks()["mark"][-2]
    assert choice.input_value() != mark
    choice.select_option(mark)
    phase = firstlight.open(tmp_path / "a.boot").phases()["phase"][4]
    timeline.click(phase, "B Phases")
    seen = [timeline.ask(what) for what in ("shown", "picked")]
    report.page.wait_for_timeout(400)
    assert f"m.align={mark}" in report.page.url
    report.page.reload()
    report.page.wait_for_selector("html[data-ready]")
    assert choice.input_value() == mark
    assert f"aligned at the mark {mark.replace('_', ' ')}" in report.section("timeline")
    assert [timeline.ask(what) for what in ("shown", "picked")] == seen
    report.misdeeds.requests[1:] = []


def test_equal_boots_differ_in_nothing(show: Show, tmp_path: Path) -> None:
    report = show(html=pair(make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot")))
    assert "Every bar of A is in B and lasts as long." in report.section("timeline")


def test_boots_that_cannot_be_compared_have_both_timelines_and_the_reason(show: Show, tmp_path: Path) -> None:
    report = show(html=pair(make_bundle(tmp_path), make_imported(tmp_path)))
    assert {"A Phases", "B Units"} <= set(TimelineOf(report).heads())
    assert_only_text(report)


def test_hostile_names_are_text(show: Show, tmp_path: Path) -> None:
    report = show(html=pair(make_imported(tmp_path), make_imported(tmp_path, name="h.boot", hostile=True)))
    assert_only_text(report)


def test_a_mark_that_one_lacks_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no mark `user_strat`") as refused:
        pair(make_bundle(tmp_path), make_imported(tmp_path), "user_strat")
    assert "there are:" in (refused.value.hint or "")

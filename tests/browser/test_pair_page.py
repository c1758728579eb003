"""The page of two boots: both on one axis, aligned at a mark, with what differs."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import firstlight
from browser.report_page import Show, assert_only_text
from browser.timeline_page import TimelineOf
from bundles import make_bundle, write_table
from firstlight.errors import UsageError
from firstlight.render.page.pair import pair_html
from imported_bundle import make_imported
from invented_processes import make_processes


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


def with_lines(bundle: Path, lines: list[tuple[int, str]]) -> Path:
    """The bundle with these lines on its console."""
    rows = [(number, time, "console", text, *[None] * 4) for number, (time, text) in enumerate(lines)]
    write_table(bundle, "log", pl.DataFrame(rows, schema=firstlight.open(bundle).log().schema, orient="row"))
    return bundle


def test_both_consoles_are_shown_aligned_and_a_search_finds_their_lines(show: Show, tmp_path: Path) -> None:
    a = with_lines(make_bundle(tmp_path), [(5_000_000, "only in a"), (200_000_000, "said by both")])
    b = make_bundle(tmp_path, name="b.boot", seed=9)
    with_lines(b, [(9_000_000, "only in <b>b</b>"), (210_000_000, "said by both")])
    marks = [dict(firstlight.open(each).marks().select("mark", "time_ns").iter_rows()) for each in (a, b)]
    mark = next(mark for mark, time in marks[0].items() if time != marks[1].get(mark, time))
    by = marks[0][mark] - marks[1][mark]
    report = show(html=pair(a, b, mark))
    timeline = TimelineOf(report)
    search = report.page.get_by_label("Search the timeline")
    search.fill('"only in"')
    assert "1 console line of A, and 1 console line of B" in report.section("timeline")
    search.fill("only in <b>")
    search.press("Enter")
    assert f"B, {(9_000_000 + by) / 1e9:.6f} s: only in <b>b</b>" in report.section("timeline")
    # The lines of a bar are those of both, each with its boot.
    timeline.click(firstlight.open(a).phases()["phase"][-1], "A Phases")
    report.page.keyboard.press("0")
    search.fill("")
    report.page.keyboard.press("Escape")
    with report.page.expect_download() as download:
        report.page.get_by_role("button", name="Save SVG").click()
    drawing = Path(download.value.path()).read_text(encoding="utf-8")
    assert "A Console" in drawing
    assert "B Console" in drawing
    assert drawing.count("said by both") == 2
    # Another mark moves the lines of B, and the search still finds them.
    other = next(each for each, time in marks[0].items() if each in marks[1] and time - marks[1][each] != by)
    search.fill("only in <b>")
    report.page.get_by_label("Aligned at the mark").select_option(other)
    search.press("Enter")
    moved = 9_000_000 + marks[0][other] - marks[1][other]
    assert f"B, {moved / 1e9:.6f} s: only in <b>b</b>" in report.section("timeline")
    assert_only_text(report)
    report.misdeeds.requests[1:] = []


def test_a_bar_has_the_lines_of_both_consoles(show: Show, tmp_path: Path) -> None:
    a = with_lines(make_bundle(tmp_path), [(5_000_000, "of a")])
    report = show(html=pair(a, with_lines(make_bundle(tmp_path, name="b.boot"), [(4_000_000, "of b")])))
    timeline = TimelineOf(report)
    phases = firstlight.open(a).phases()
    name = phases.filter((pl.col("start_ns") <= 4_000_000) & (pl.col("end_ns") > 5_000_000))["phase"][0]
    timeline.click(name, "A Phases")
    lines = report.page.locator("#timeline .tl-lines").inner_text().splitlines()
    assert [(line[0], line.split("  ")[1]) for line in lines] == [("B", "of b"), ("A", "of a")]


def test_the_gaps_of_both_consoles_are_gone_through_longest_first(show: Show, tmp_path: Path) -> None:
    a = with_lines(make_bundle(tmp_path), [(10_000_000, "a"), (700_000_000, "a")])
    b = with_lines(make_bundle(tmp_path, name="b.boot"), [(20_000_000, "b"), (320_000_000, "b")])
    report = show(html=pair(a, b, "power_on"))
    timeline = TimelineOf(report)
    report.page.get_by_role("button", name="Next gap").click()
    assert timeline.ask("selection") == [10_000_000, 700_000_000]
    assert re.search(r"Gap 1 of \d+: 690\S* ms without a console line of A", report.section("timeline"))
    timeline.focus()
    report.page.keyboard.press("g")
    assert timeline.ask("selection")[0] == 320_000_000
    assert "without a console line of B" in report.section("timeline")


def test_boots_without_console_lines_have_no_key_for_gaps(show: Show, tmp_path: Path) -> None:
    a, b = (with_lines(make_bundle(tmp_path, name=name), []) for name in ("a.boot", "b.boot"))
    report = show(html=pair(a, b))
    TimelineOf(report).focus()
    report.page.keyboard.press("g")
    assert report.page.get_by_role("button", name="Next gap").count() == 0
    report.page.keyboard.press("?")
    assert "search" in report.page.locator("#timeline .tl-keys").inner_text()
    assert "gap" not in report.page.locator("#timeline .tl-keys").inner_text()
    assert "without a console line" not in report.section("timeline")
    assert "no two lines" not in report.section("timeline")


def test_a_boot_without_a_console_has_no_strip(show: Show, tmp_path: Path) -> None:
    a = make_bundle(tmp_path)
    report = show(html=pair(a, with_lines(make_bundle(tmp_path, name="b.boot"), [])))
    height = "document.querySelector('#timeline .tl-ruler').clientHeight"
    one = report.page.evaluate(height)
    both = show(html=pair(a, make_bundle(tmp_path, name="c.boot")))
    assert both.page.evaluate(height) > one


def test_both_boots_have_their_system_calls(show: Show, tmp_path: Path) -> None:
    a, b = make_processes(tmp_path), make_processes(tmp_path, name="other.boot", seed=9)
    marks = [firstlight.open(each).marks().sort("time_ns") for each in (a, b)]
    by = marks[0]["time_ns"][-1] - marks[1]["time_ns"][-1]
    report = show(html=pair(a, b, marks[0]["mark"][-1]))
    timeline = TimelineOf(report)
    boots = [firstlight.open(each) for each in (a, b)]
    for side, boot, moved in (("A", boots[0], 0), ("B", boots[1], by)):
        calls = boot.table("system_calls").filter(pl.col("end_ns") > pl.col("start_ns"))
        for name, start, end in calls.select("name", "start_ns", "end_ns").iter_rows():
            assert ["Processes", f"{side} System calls", name, start + moved, end + moved] in timeline.ask(
                "ranAt", start + moved
            )
    # They are below their process, and folded at first.
    assert "A system calls" not in timeline.heads()
    row = report.page.locator("#timeline .tl-head", has_text="A udevadm")
    row.click()
    assert timeline.heads()[timeline.heads().index(row.locator(".tl-label").inner_text()) + 1] == "A system calls"
    report.page.get_by_label("Search the timeline").fill("track:system openat")
    assert "Nothing matches" not in report.section("timeline")
    # They are not matched with one another.
    assert "system calls" not in report.page.locator("#timeline .data-table").last.inner_text()


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

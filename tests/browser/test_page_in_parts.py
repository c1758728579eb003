"""A page shows its timeline from the first part of its data, and everything else after it."""

from __future__ import annotations

from pathlib import Path

import firstlight
from browser.report_page import Show, data_of, part_of
from browser.timeline_page import TimelineOf
from bundles import make_bundle
from firstlight.render.page.html import page_html
from firstlight.render.page.parts import COLUMNS, DATA, LATER, SLICES, parts
from imported_bundle import make_imported
from invented_processes import make_processes

_MARKS = "performance.getEntriesByType('mark').map((mark) => mark.name)"


def test_the_timeline_is_seen_before_the_rest_is_drawn(show: Show) -> None:
    report = show()
    marks = report.page.evaluate(_MARKS)
    assert marks[:2] == ["first-picture", "first-picture-shown"]
    assert marks[-1] == "page-drawn"
    sections = report.page.locator("main > section").evaluate_all("all => all.map((each) => each.id)")
    assert sections[:4] == ["timeline", "phases", "flame", "functions"]


def test_a_file_that_was_cut_shows_its_timeline_and_says_what_it_lacks(show: Show, tmp_path: Path) -> None:
    html = page_html(firstlight.open(make_bundle(tmp_path)))
    before, rest = html.split(f'id="{LATER}">', 1)
    cut = show(html=f'{before}id="{LATER}">{rest[: rest.index("<") // 10 * 5]}')
    assert TimelineOf(cut).ask("shown") == [
        0,
        firstlight.open(make_bundle(tmp_path, name="b.boot")).phases()["end_ns"].max(),
    ]
    assert "The rest of this report cannot be shown" in cut.page.get_by_role("alert").last.inner_text()
    assert cut.page.locator("html").get_attribute("data-ready") == "failed"


def test_the_first_part_says_what_the_second_one_has(tmp_path: Path) -> None:
    html = page_html(firstlight.open(make_processes(tmp_path)))
    first, later = part_of(html, DATA)["later"], part_of(html, LATER)
    assert first["rows"]["functions"] == len(later["functions"]["name"]) > 0
    assert first["rows"]["processes"] == len(later["processes"]["name"]) > 0
    hottest = max(later["functions"]["self_instructions"])
    assert first["hottest"]["self_instructions"] == hottest
    assert "functions" not in part_of(html, DATA)
    assert data_of(html).keys() >= {"timeline", "tree", "slices"}


def test_columns_of_the_timeline_and_of_slices_are_apart() -> None:
    data = {"format": "firstlight-page", "timeline": {"bytes": 2}, "tree": {"parent": [], "self_ns": []}}
    found = parts(data, b"abcde")
    assert (found[COLUMNS], found[SLICES]) == (b"ab", b"cde")


def test_what_is_hidden_is_drawn_when_it_is_shown(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path))
    assert report.page.locator("#flame-chart canvas").count() == 0
    report.page.get_by_label("Order of the frames").select_option("time")
    report.page.wait_for_timeout(300)
    assert report.page.evaluate("document.getElementById('flame-chart').firstlight.drawn().length") > 0


def test_an_imported_log_shows_what_it_has_and_no_empty_columns(show: Show, tmp_path: Path) -> None:
    log = tmp_path / "two.txt"
    log.write_text("[    0.000000] Linux version 6.1.0\n[    1.234567] Run /sbin/init as init process\n")
    report = show(firstlight.import_(log, output=tmp_path / "two.boot").directory)
    heads = report.page.locator(".figures dt").all_inner_texts()
    assert heads == ["Time"]
    assert report.column("gaps", "duration") == ["1.23 s"]
    columns = report.page.locator("#path th[data-column]").evaluate_all("all => all.map((e) => e.dataset.column)")
    assert "ran" not in columns
    assert report.page.locator("#path td > .code").first.bounding_box()["width"] > 200  # type: ignore[index]
    assert "instructions" not in report.section("phases").lower()
    assert report.page.locator("#checks h2").inner_text() == "Repeat"
    assert "records say" in report.section("facts")


def test_a_recorded_boot_says_so_where_an_imported_one_does_not(show: Show, tmp_path: Path) -> None:
    recorded, imported = show(), show(make_imported(tmp_path))
    assert recorded.page.locator(".figures dt").all_inner_texts() == ["Instructions", "Virtual time", "Idle"]
    assert "guest said" in recorded.section("facts")
    assert imported.page.locator(".figures dt").first.inner_text() == "Time"


def test_the_timeline_begins_on_the_first_screen(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path))
    box = report.page.locator("#timeline .tl-overview").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900

"""The address of a report page keeps filters, orders, searches and the chosen frame, and ignores what means nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
from playwright.sync_api import Page

import firstlight
from browser.report_page import Report, Show, assert_only_text
from browser.timeline_page import TimelineOf
from bundles import HOSTILE, make_bundle, write_table
from firstlight.render.page.pair import pair_html
from imported_bundle import make_imported
from invented_processes import make_processes

#: Longer than a page waits before it writes its address, in milliseconds.
WRITTEN = 400


def check_link(report: Report, seen: Callable[[], object]) -> None:
    """The address shows the same in a page that is newly opened, and in one that shows something else."""
    report.page.wait_for_timeout(WRITTEN)
    before, link = seen(), report.page.url
    report.page.goto("about:blank")
    report.page.goto(link)
    report.page.wait_for_selector("html[data-ready]")
    report.page.wait_for_timeout(WRITTEN)
    assert seen() == before
    report.page.evaluate("location.hash = '#m.unit=instructions'")
    report.page.wait_for_timeout(WRITTEN)
    assert seen() != before
    report.page.evaluate("link => { location.hash = link.replace(/^[^#]*/, '') }", link)
    report.page.wait_for_timeout(WRITTEN)
    assert seen() == before
    assert report.page.url == link
    report.misdeeds.requests[:] = [report.file.as_uri()]


def zoomed(page: Page) -> list[str]:
    """The path to the frame that the flame graph zooms to."""
    return page.locator("#flame .crumbs button").all_inner_texts()


def test_it_keeps_filters_and_orders_of_tables(show: Show) -> None:
    report = show()
    report.page.get_by_label("Filter functions").fill("count>1 -mpi")
    report.page.locator("#functions th[data-column='function'] button").click()
    report.page.locator("#facts th[data-column='value'] button").click()
    report.page.locator("#facts th[data-column='value'] button").click()

    def seen() -> object:
        columns = [report.column("functions", "function"), report.column("facts", "value")]
        return report.page.get_by_label("Filter functions").input_value(), columns

    assert seen()[0] == "count>1 -mpi"  # type: ignore[index]
    check_link(report, seen)
    # What is as it always is at first is not in the address.
    report.page.get_by_label("Filter functions").fill("")
    report.page.wait_for_timeout(WRITTEN)
    assert "functions.filter" not in report.page.url
    assert "functions.sort" in report.page.url


def test_it_keeps_how_many_rows_are_shown(show: Show) -> None:
    report = show()
    more = report.page.locator("#functions").get_by_role("button", name="Show")
    assert more.count() > 0
    more.last.click()
    check_link(report, lambda: len(report.column("functions", "count")))


def test_it_keeps_search_and_zoom_of_the_flame_graph(show: Show) -> None:
    report = show()
    report.page.get_by_label("Search the flame graph").fill("mpihelp")
    report.page.locator("#flame g.frame[name='dh_init']").click()
    assert zoomed(report.page)[-1] == "dh_init"
    check_link(
        report,
        lambda: (
            zoomed(report.page),
            report.page.get_by_label("Search the flame graph").input_value(),
            "match" in report.page.locator("#flame .toolbar .count").first.inner_text(),
        ),
    )


def test_it_keeps_the_function_of_the_sandwich_and_its_zoom(show: Show) -> None:
    report = show()
    sides = report.show_sandwich("mpi_powm")
    box = report.page.get_by_label("Function of the sandwich")
    sides.first.locator("g.frame[name='dh_compute_value']").click()
    report.page.wait_for_timeout(WRITTEN)

    def seen() -> object:
        zoomed_to = [side.locator("g.frame[tabindex='0']").get_attribute("name") for side in sides.all()]
        return report.page.get_by_label("Order of the frames").input_value(), box.input_value(), zoomed_to

    assert seen()[2] == ["dh_compute_value", "mpi_powm"]  # type: ignore[index]
    check_link(report, seen)


def test_it_keeps_search_and_frame_in_time_order(show: Show) -> None:
    report = show()
    report.page.get_by_label("Order of the frames").select_option("time")
    report.page.get_by_label("Search the frames").fill("mpi")
    report.page.get_by_label("Search the frames").press("Enter")

    def seen() -> object:
        if report.page.locator("#flame-chart .tl-frame").count() == 0:
            return None
        answers = "document.getElementById('flame-chart').firstlight.picked()"
        return report.page.evaluate(answers), report.page.get_by_label("Search the frames").input_value()

    assert "mpi" in seen()[0]  # type: ignore[index]
    check_link(report, seen)


def test_it_keeps_the_choice_of_unit_and_that_only_tracks_with_finds_are_shown(show: Show) -> None:
    report = show()
    report.page.get_by_role("radio", name="Virtual time").check(force=True)
    report.page.get_by_label("Search the timeline").fill("initcalls_device")
    report.page.locator("#timeline").get_by_label("only tracks with finds").check()
    check_link(
        report,
        lambda: (TimelineOf(report).heads(), report.page.get_by_role("radio", name="Virtual time").is_checked()),
    )


def test_it_keeps_the_parts_of_two_boots(show: Show, tmp_path: Path) -> None:
    boots = [
        firstlight.open(make_bundle(tmp_path, name=name, seed=seed)) for name, seed in (("a.boot", 7), ("b.boot", 9))
    ]
    report = show(html=pair_html(boots[0], boots[1]))
    report.page.get_by_label("Filter the differences").fill("initcall")
    report.page.locator("#timeline th[data-column='name'] button").first.click()
    report.page.locator("#tree").get_by_text("Changed", exact=True).click()
    report.page.locator("#tree .flame g.frame").nth(3).click()
    report.page.get_by_label("Search the graph of changes").fill("mpi")
    report.page.locator("#changes").get_by_text("Phases (").click()
    report.page.locator("#changes th[data-column='a'] button").click()

    def seen() -> object:
        return (
            report.page.get_by_label("Filter the differences").input_value(),
            report.column("timeline", "name"),
            report.page.locator("#tree .crumbs button").all_inner_texts(),
            report.page.get_by_label("Search the graph of changes").input_value(),
            report.column("changes", "a"),
        )

    check_link(report, seen)


def test_what_means_nothing_is_ignored(show: Show) -> None:
    report = show()
    names = report.column("functions", "function")
    seen = [zoomed(report.page), TimelineOf(report).ask("shown")]
    attacks = [
        "#m.functions.sort=evil&m.functions.rows=1e9&m.functions.filter=&m.flame.zoom=999999999&m.flame.find=%00",
        "#m.functions.sort=--count&m.functions.rows=-5&m.flame.zoom=-1&m.frames.picked=9~9&m.view=evil&m.tree=evil",
        "#m.functions.rows=00000000000000001&m.flame.zoom=0.5&m.phase=evil&m.unit=evil&m.__proto__=x&m.only=2&p=0~0~0.5",
        "#m.flame.zoom=NaN&m.toString=x&m.functions.sort=__proto__&m.frames.picked=x&v=x&s=&t=&m.sandwich.callers=77",
    ]
    for attack in attacks:
        report.page.evaluate("hash => { location.hash = hash }", attack)
        report.page.wait_for_timeout(100)
        assert report.column("functions", "function") == names
        assert [zoomed(report.page), TimelineOf(report).ask("shown")] == seen
        report.page.reload()
        report.page.wait_for_selector("html[data-ready]")
        report.page.wait_for_timeout(100)
        assert report.column("functions", "function") == names
        assert [zoomed(report.page), TimelineOf(report).ask("shown")] == seen
    report.misdeeds.requests[1:] = []


def test_hostile_values_are_text(show: Show) -> None:
    report = show()
    for attack in HOSTILE:
        values = {"m.functions.filter": attack, "m.flame.find": attack, "m.sandwich": attack, "m.view": "sandwich"}
        report.page.evaluate("values => { location.hash = '#' + new URLSearchParams(values) }", values)
        report.page.wait_for_timeout(100)
        assert report.page.get_by_label("Filter functions").input_value() != ""
        assert "No frame has this name." in report.section("flame")
    assert_only_text(report)
    report.misdeeds.requests[1:] = []


def test_it_keeps_how_far_the_tracks_are_scrolled(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path))
    report.page.set_viewport_size({"width": 1000, "height": 400})
    report.page.wait_for_timeout(200)
    pane = report.page.locator("#timeline .tl-pane")
    far = pane.evaluate("e => { e.scrollTop = e.scrollHeight; return e.scrollTop }")
    assert far > 0
    check_link(report, lambda: pane.evaluate("e => e.scrollTop"))
    # The beginning is also a place: of a bar that the sender scrolled away from.
    timeline = TimelineOf(report)
    timeline.focus()
    for _ in range(40):
        report.page.keyboard.press("ArrowDown")
    assert pane.evaluate("e => e.scrollTop") > 0
    report.page.wait_for_timeout(WRITTEN)
    bar, link = timeline.ask("picked"), report.page.url
    pane.evaluate("e => { e.scrollTop = 0 }")
    check_link(report, lambda: (pane.evaluate("e => e.scrollTop"), timeline.ask("picked")))
    # A link without a place brings its bar into view.
    report.page.goto("about:blank")
    report.page.goto(re.sub(r"&y=\d+", "", link))
    report.page.wait_for_selector("html[data-ready]")
    report.page.wait_for_timeout(WRITTEN)
    assert timeline.ask("picked") == bar
    assert pane.evaluate("e => e.scrollTop") > 0
    report.misdeeds.requests[:] = [report.file.as_uri()]


def test_it_keeps_which_find_the_reader_went_to(show: Show) -> None:
    report = show()
    search = report.page.get_by_label("Search the timeline")
    search.fill("e")
    counted = report.page.locator("#timeline .tl-find .count")
    search.press("Shift+Enter")
    # The last find is a console line; the address has it with its text.
    number, of = counted.inner_text().split()[0::2][:2]
    assert number == of
    assert " s: " in counted.inner_text()
    check_link(report, lambda: (counted.inner_text(), TimelineOf(report).ask("picked")))
    report.page.evaluate("location.hash = '#q=e&n=99999999'")
    report.page.wait_for_timeout(WRITTEN)
    assert " of " not in counted.inner_text().split(",")[0]
    report.misdeeds.requests[:] = [report.file.as_uri()]


def test_it_keeps_that_all_lanes_are_drawn(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    spans = firstlight.open(bundle).spans()
    [unit] = spans.filter(pl.col("kind") == "unit").head(1).to_dicts()
    first = spans["span"].to_list()[-1] + 1
    many = [{**unit, "span": first + i, "name": f"{i}.service"} for i in range(90)]
    write_table(bundle, "spans", pl.concat([spans, pl.DataFrame(many, schema=spans.schema)]))
    report = show(bundle)
    lanes = report.page.locator("#units g.lane")
    few = lanes.count()
    report.page.locator("#units").get_by_role("button", name="Draw all").click()
    report.page.locator("#units .waterfall").evaluate("e => { e.scrollTop = 400 }")
    report.page.wait_for_timeout(WRITTEN)
    assert "m.all.units-over-time=" in report.page.url
    names = "all => all.map(e => e.dataset.name)"
    check_link(report, lambda: lanes.evaluate_all(names))
    report.page.evaluate("location.hash = '#m.all.units-over-time=99999'")
    report.page.wait_for_timeout(WRITTEN)
    assert lanes.count() == few
    assert report.page.locator("#units").get_by_role("button", name="Draw all").count() == 1
    report.misdeeds.requests[:] = [report.file.as_uri()]

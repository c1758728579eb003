"""The flame graph in the order of time: exact, on the axis, zoom and selection of the timeline."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl

import firstlight
from browser.report_page import Report, Show
from browser.timeline_page import TimelineOf
from bundles import make_bundle, write_table
from firstlight.render.page.tree import fold
from imported_bundle import make_imported

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"


def ask(report: Report, what: str, *values: object) -> Any:
    script = "([what, values]) => document.getElementById('flame-chart').firstlight[what](...values)"
    return report.page.evaluate(script, [what, list(values)])


def in_time_order(show: Show, bundle: Path, **how: Any) -> Report:
    report = show(bundle, **how)
    report.page.get_by_label("Order of the frames").select_option("time")
    report.page.wait_for_timeout(100)
    return report


def test_every_frame_is_as_long_as_python_says(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    boot = firstlight.open(bundle)
    report = in_time_order(show, bundle)
    calls = boot.calls()
    tree = fold(calls)
    places = dict(zip(calls["node"].to_list(), tree.place, strict=True))
    slices = boot.slices()
    edges = [0, *slices["end_ns"].to_list()]
    chance = random.Random(5)
    for _ in range(20):
        first, last = sorted(chance.sample(range(len(edges)), 2))
        own = boot.interval_calls(edges[first], edges[last])
        expected = [0] * len(tree.parent)
        for node, ns in own.select("node", "self_ns").iter_rows():
            expected[places[node]] += ns
        for place in range(len(expected) - 1, 0, -1):
            expected[tree.parent[place]] += expected[place]
        found = ask(report, "between", edges[first], edges[last])
        assert {int(node): ns for node, ns in found.items()} == {
            place: ns for place, ns in enumerate(expected) if ns and place
        }


def test_it_shows_what_the_timeline_shows_and_the_other_way_round(show: Show, tmp_path: Path) -> None:
    report = in_time_order(show, make_bundle(tmp_path))
    timeline = TimelineOf(report)
    timeline.click("initcalls_device", "Phases")
    keys = report.page.keyboard
    keys.press("m")
    keys.press("f")
    assert ask(report, "shown") == timeline.ask("shown")
    assert ask(report, "selection") == timeline.ask("selection")
    canvas = report.page.locator("#flame-chart .tl-canvas")
    canvas.focus()
    keys.press("0")
    assert timeline.ask("shown") == ask(report, "shown")
    keys.press("ArrowDown")
    picked = ask(report, "picked")
    assert picked
    assert picked in report.page.locator("#flame-chart .card-name").inner_text()
    assert "deep, frame" in report.page.locator("#flame-chart [aria-live]").inner_text()
    keys.press("m")
    assert timeline.ask("selection") == ask(report, "selection")
    assert "the selection, at the nearest edges" in report.section("functions")
    keys.press("+")
    assert timeline.ask("shown") == ask(report, "shown")
    keys.press("Escape")
    assert timeline.ask("selection") is None


def test_the_wheel_zooms_to_frames_that_were_drawn_together(show: Show, tmp_path: Path) -> None:
    report = in_time_order(show, make_bundle(tmp_path))
    canvas = report.page.locator("#flame-chart .tl-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    before = ask(report, "shown")
    report.page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + 40)
    report.page.mouse.wheel(0, -400)
    report.page.wait_for_timeout(100)
    after = ask(report, "shown")
    assert after[1] - after[0] < before[1] - before[0]
    assert TimelineOf(report).ask("shown") == after
    report.page.get_by_label("Search the frames").fill("mpihelp_submul_1")
    assert "bar" in report.page.locator("#flame-chart .count").first.inner_text()
    report.page.get_by_label("Search the frames").press("Enter")
    assert ask(report, "picked") == "mpihelp_submul_1"


def test_the_address_keeps_it(show: Show, tmp_path: Path) -> None:
    report = in_time_order(show, make_bundle(tmp_path))
    report.page.wait_for_timeout(400)
    assert "m.view=time" in report.page.url
    report.page.reload()
    report.page.wait_for_selector("html[data-ready]")
    report.page.wait_for_timeout(200)
    assert report.page.locator("#flame-chart .tl-canvas").is_visible()
    assert sum(ask(report, "frames")) > 0
    report.page.get_by_label("Order of the frames").select_option("size")
    assert not report.page.locator("#flame-chart .tl-canvas").is_visible()
    assert report.page.locator("#flame g.frame").count() > 0
    report.misdeeds.requests[1:] = []


def test_a_boot_without_slices_or_profile_has_no_such_order(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    for table in ("slices", "slice_calls"):
        write_table(bundle, table, pl.read_parquet(bundle / f"{table}.parquet").clear())
    report = show(bundle)
    orders = report.page.get_by_label("Order of the frames").locator("option")
    assert "time" not in orders.evaluate_all("all => all.map(each => each.value)")
    assert show(make_imported(tmp_path)).page.locator("#flame-chart").count() == 0


def test_the_accessibility_checker_finds_nothing_and_390_pixels_suffice(show: Show, tmp_path: Path) -> None:
    report = in_time_order(show, make_bundle(tmp_path), width=390, dark=True)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 390
    report.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = report.page.evaluate("axe.run()")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []

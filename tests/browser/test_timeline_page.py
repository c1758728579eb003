"""The timeline of the report page answers, zooms, selects, searches and keeps its state in the address."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

import firstlight
from browser.report_page import Misdeeds, Report, Show, rewrite
from browser.selections import check_counts, check_selections
from browser.timeline_page import TimelineOf
from bundles import HOSTILE, make_bundle, write_table
from firstlight.render.page.findings import page_findings
from firstlight.render.page.html import page_html
from firstlight.render.page.timeline.build import timeline_tracks
from imported_bundle import make_bare, make_imported
from invented_processes import make_processes
from unit.test_places_of_findings import make_modules
from unit.test_udev_events import make_queue

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"


def test_it_is_the_first_section_of_any_boot(show: Show, tmp_path: Path) -> None:
    for bundle in (make_bundle(tmp_path), make_imported(tmp_path), make_bare(tmp_path)):
        report = show(bundle)
        assert report.page.locator("main > section").first.get_attribute("id") == "timeline"
        assert TimelineOf(report).heads()[:2] == ["Boot", "Phases"]


def test_an_imported_boot_has_a_track_of_each_kind(show: Show, tmp_path: Path) -> None:
    heads = TimelineOf(show(make_imported(tmp_path))).heads()
    assert {"Kernel", "Initcalls", "Probes", "Services", "Units", "udev", "Uevents", "Critical path"} <= set(heads)


def test_what_ran_at_1000_instants_equals_the_bundle(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    timeline = TimelineOf(show(bundle))
    spans = firstlight.open(bundle).spans().filter(pl.col("start_ns").is_not_null() & pl.col("end_ns").is_not_null())
    rows = spans.select("kind", "name", "start_ns", "end_ns").rows()
    kinds = {"phase": "Phases", "initcall": "Initcalls", "probe": "Probes", "unit": "Units", "uevent": "Uevents"}
    chance = random.Random(7)
    differ = []
    times = [chance.randrange(4_800_000_000) for _ in range(1000)]
    for time, found in zip(times, timeline.ask_each("ranAt", times), strict=True):
        got = sorted([kind, name, start, end] for _, kind, name, start, end in found if kind in kinds.values())
        wanted = sorted([kinds[kind], *rest] for kind, *rest in rows if kind in kinds and rest[1] <= time < rest[2])
        open_too = [row for row in got if row not in wanted]
        if [row for row in wanted if row not in got] or any(row[3] != 4_800_000_000 for row in open_too):
            differ.append(time)
    assert differ == []


def test_the_runs_of_processes_equal_the_bundle_and_their_sums(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    boot = firstlight.open(bundle)
    timeline = TimelineOf(show(bundle))
    runs = boot.runs()
    chance = random.Random(3)
    first, last = int(runs["start_ns"].min()), int(runs["end_ns"].max())  # type: ignore[arg-type]
    for _ in range(50):
        start, end = sorted(chance.randrange(first, last) for _ in range(2))
        inside = runs.select(
            (pl.min_horizontal("end_ns", pl.lit(end)) - pl.max_horizontal("start_ns", pl.lit(start))).clip(0)
        )
        sums = timeline.ask("sums", start, end)
        assert sum(each["time"] for each in sums if each["kind"] == "Processor time") == inside.sum().item()


def test_system_calls_that_never_returned_last_until_their_process_ends(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    boot = firstlight.open(bundle)
    calls = boot.table("system_calls")
    open_too = pl.col("name").is_in(["futex", "read"])
    write_table(bundle, "system_calls", calls.with_columns(end_ns=pl.when(open_too).then(None).otherwise("end_ns")))
    boot = firstlight.open(bundle)
    owners = boot.threads().select("thread", "process", last_ns="end_ns")
    ends = boot.processes().select("process", process_end_ns="end_ns")
    never = boot.table("system_calls").filter(pl.col("end_ns").is_null()).join(owners, on="thread")
    timeline = TimelineOf(show(bundle))
    names = never["name"].to_list()
    assert {"exit_group", "futex", "read"} <= set(names)
    for row in never.join(ends, on="process", how="left").iter_rows(named=True):
        end = row["process_end_ns"] or boot.manifest.totals.virtual_ns
        end = row["last_ns"] if row["name"] == "exit_group" else end
        found = timeline.ask("ranAt", row["start_ns"])
        assert ["Processes", "System calls", row["name"], row["start_ns"], end] in found
    search = timeline.report.page.get_by_label("Search the timeline")
    search.fill("is:open futex")
    timeline.report.page.wait_for_timeout(300)
    assert "Nothing matches" not in timeline.report.section("timeline")


def test_causes_with_time_in_common_say_so_and_remedies_are_complete(show: Show, tmp_path: Path) -> None:
    bundle = make_modules(tmp_path)
    text = show(bundle).page.locator("#timeline .tl-answers").inner_text()
    boot = firstlight.open(bundle)
    found = {each["id"]: each for each in page_findings(boot, boot.path())}
    for each in found.values():
        assert each["remedy"].replace("`", "") in text
    assert f"of it is also in “{found['INI-24']['title']}”" in text


def test_sums_of_processes_are_those_of_python_under_one_name(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    boot = firstlight.open(bundle)
    timeline = TimelineOf(show(bundle))
    shown = timeline.ask("sums", *timeline.ask("shown"))
    ran = {each["name"]: each["time"] for each in shown if each["kind"] == "Processor time"}
    owners = boot.threads().select("thread", "process")
    runs = boot.runs().join(owners, on="thread").join(boot.processes().select("process", "name", "pid"), on="process")
    took = runs.group_by("name", "pid").agg((pl.col("end_ns") - pl.col("start_ns")).sum().alias("ns"))
    assert ran == {f"{name} · {pid}": ns for name, pid, ns in took.iter_rows()}
    first = [each["kind"] for each in shown][: len(ran) + 1]
    assert set(first) == {"Processor time", "Idle"}


def test_a_process_has_its_last_name_and_its_details_the_earlier_ones(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    boot = firstlight.open(bundle)
    timeline = TimelineOf(show(bundle))
    names = boot.thread_names().filter(pl.col("thread") == 2).sort("time_ns")
    assert names["name"].to_list() == ["sh", "udevadm"]
    assert boot.processes().filter(pl.col("process") == 2)["name"].to_list() == ["udevadm"]
    for start in boot.runs().filter(pl.col("thread") == 2)["start_ns"]:
        ran = [each[2] for each in timeline.ask("ranAt", start) if each[1] == "Processor time"]
        assert ran == ["udevadm"]
    timeline.click("udevadm", "Processes")
    assert f"Earlier names\tsh until {names['time_ns'][1] / 1e9:.6f} s" in timeline.details()


def test_a_thread_has_its_last_name_throughout(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    names = firstlight.open(bundle).thread_names()
    begin = firstlight.open(bundle).runs().filter(pl.col("thread") == 4)["start_ns"].min()
    before = pl.DataFrame([(4, begin, "svc")], schema=names.schema, orient="row")
    later = names.with_columns(time_ns=pl.when(pl.col("thread") == 4).then(pl.col("time_ns") + 1).otherwise("time_ns"))
    write_table(bundle, "thread_names", pl.concat([before, later]).sort("thread", "time_ns"))
    boot = firstlight.open(bundle)
    tracks = [each for each in timeline_tracks(boot, boot.path())[2] if each.label == "thread worker"]
    assert {bar.name for track in tracks for lane in track.lanes for bar in lane} == {"worker"}
    assert [name for track in tracks for _, name in track.earlier] == ["svc"]


def test_a_selection_of_phases_recomputes_the_profile_as_python_does(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    boot = firstlight.open(bundle)
    report = show(bundle)
    timeline = TimelineOf(report)
    phases = boot.phases()["phase"].to_list()
    timeline.click(phases[3], "Phases")
    timeline.report.page.keyboard.press("m")
    expected = boot.functions(phase=phases[3])
    for button in report.page.locator("#functions .more button").all()[-1:]:
        button.click()
    local = dict(zip(report.column("functions", "function"), report.column("functions", "count"), strict=True))
    assert "2 slices of time" in report.section("functions")
    assert "the selection, at the nearest edges" in report.section("flame")
    check_counts(local, expected)


def test_the_profile_of_random_selections_is_that_of_python(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    boot = firstlight.open(bundle)
    check_selections(show(bundle), boot, 30)


def test_a_boot_without_slices_counts_phases(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    for table in ("slices", "slice_calls"):
        write_table(bundle, table, pl.read_parquet(bundle / f"{table}.parquet").clear())
    report = show(bundle)
    TimelineOf(report).click(firstlight.open(bundle).phases()["phase"].to_list()[3], "Phases")
    report.page.keyboard.press("m")
    assert "the selection, at the edges of phases" in report.section("functions")


def test_wheel_drag_and_buttons_zoom_and_move(show: Show) -> None:
    report = show()
    timeline = TimelineOf(report)
    whole = timeline.ask("shown")
    x, y = timeline.place("initcalls_device", "Phases")
    report.page.mouse.click(x, y)
    report.page.mouse.wheel(0, -300)
    report.page.wait_for_timeout(100)
    near = timeline.ask("shown")
    assert near[1] - near[0] < whole[1] - whole[0]
    report.page.mouse.move(x, y)
    report.page.mouse.down()
    report.page.mouse.move(x + 80, y, steps=4)
    report.page.mouse.up()
    moved = timeline.ask("shown")
    assert moved[0] < near[0]
    assert moved[1] - moved[0] == pytest.approx(near[1] - near[0])
    report.page.get_by_role("button", name="Whole boot").click()
    assert timeline.ask("shown") == whole


def test_a_notch_of_the_wheel_zooms_as_far_over_the_tracks_as_over_the_ruler(show: Show) -> None:
    report = show()
    timeline = TimelineOf(report)
    x, y = timeline.place("initcalls_device", "Phases")
    ruler = report.page.locator("#timeline .tl-ruler").bounding_box()
    assert ruler is not None
    kept = []
    for place, key in (((x, y), "Control"), ((x, ruler["y"] + 10), None)):
        start, end = timeline.ask("shown")
        report.page.mouse.move(*place)
        if key:
            report.page.keyboard.down(key)
        report.page.mouse.wheel(0, -100)
        report.page.wait_for_timeout(100)
        if key:
            report.page.keyboard.up(key)
        now = timeline.ask("shown")
        kept.append((now[1] - now[0]) / (end - start))
    assert kept[0] == pytest.approx(kept[1], rel=1e-6)
    assert 0.6 < kept[0] < 0.95


def test_without_focus_the_wheel_scrolls_the_page(show: Show) -> None:
    report = show()
    timeline = TimelineOf(report)
    whole = timeline.ask("shown")
    report.page.mouse.move(*timeline.place("firmware", "Phases"))
    report.page.mouse.wheel(0, 200)
    report.page.wait_for_timeout(100)
    assert timeline.ask("shown") == whole


def test_every_function_is_reached_with_the_keys(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    timeline = TimelineOf(report)
    keys = report.page.keyboard
    keys.press("/")
    keys.type("kind:initcalls")
    keys.press("Enter")
    first = timeline.ask("picked")
    assert first is not None
    keys.press("Escape")
    keys.press("n")
    assert timeline.ask("picked") != first
    keys.press("m")
    start, end = timeline.ask("selection")
    keys.press("]")
    assert timeline.ask("selection")[1] > end
    keys.press("[")
    assert timeline.ask("selection")[0] <= start
    keys.press("f")
    shown = timeline.ask("shown")
    assert shown[1] - shown[0] < 4.8e9
    for press, change in (("+", -1), ("-", 1)):
        before = timeline.ask("shown")
        keys.press(press)
        after = timeline.ask("shown")
        assert ((after[1] - after[0]) - (before[1] - before[0])) * change > 0
    before = timeline.ask("shown")
    keys.press("Control+ArrowRight")
    assert timeline.ask("shown")[0] > before[0]
    keys.press("0")
    assert timeline.ask("shown") == [0, 4_800_000_000]
    keys.press("g")
    assert "without a console line" in report.section("timeline")
    keys.press("Escape")
    assert timeline.ask("selection") is None
    picked = []
    for press in ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
        keys.press(press)
        picked.append(timeline.ask("picked"))
    assert all(picked)
    assert "starts at" in report.page.locator("#timeline [aria-live]").inner_text()
    keys.press("?")
    assert report.page.locator("#timeline .tl-help").get_attribute("open") is not None


def test_the_labels_are_a_tree_with_one_stop_of_the_tab_key(show: Show) -> None:
    report = show()
    timeline = TimelineOf(report)
    stops = report.page.locator("#timeline [role=treeitem][tabindex='0']")
    assert stops.count() == 1
    assert "early" not in timeline.heads()
    stops.focus()
    report.page.keyboard.press("ArrowLeft")
    assert report.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
    assert "Phases" not in timeline.heads()
    report.page.keyboard.press("ArrowRight")
    while not report.page.evaluate("document.activeElement.textContent").startswith("▸Initcalls"):
        report.page.keyboard.press("ArrowDown")
    report.page.keyboard.press("Enter")
    assert "device" in timeline.heads()
    assert stops.count() == 1


def test_an_address_shows_what_its_sender_saw(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    timeline = TimelineOf(report)
    timeline.click("app.service")
    report.page.keyboard.press("m")
    report.page.keyboard.press("f")
    report.page.get_by_label("Search the timeline").fill("app")
    report.page.wait_for_timeout(400)
    seen = [timeline.ask(what) for what in ("shown", "selection", "picked")]
    address = report.page.url
    assert "#v=" in address
    report.page.goto("about:blank")
    report.page.goto(address)
    report.page.wait_for_selector("html[data-ready]")
    report.page.wait_for_timeout(200)
    again = [timeline.ask(what) for what in ("shown", "selection", "picked")]
    assert [[round(x) for x in part] if isinstance(part, list) else part for part in again] == [
        [round(x) for x in part] if isinstance(part, list) else part for part in seen
    ]
    assert report.page.get_by_label("Search the timeline").input_value() == "app"
    assert "made for other data" not in report.section("timeline")
    report.misdeeds.requests.clear()
    report.misdeeds.requests.append(report.file.as_uri())


def test_the_profile_follows_the_selection_of_an_address(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    TimelineOf(report).click(firstlight.open(bundle).phases()["phase"].to_list()[3], "Phases")
    report.page.keyboard.press("m")
    report.page.wait_for_timeout(400)

    def profile() -> list[str]:
        notes = [report.page.locator(f"#{section} > .note").first.inner_text() for section in ("flame", "functions")]
        return [*notes, *report.column("functions", "count")]

    seen = profile()
    assert "the selection, at the nearest edges" in seen[0]
    report.page.reload()
    report.page.wait_for_selector("html[data-ready]")
    assert profile() == seen
    # The same by a change of the address alone: the link is opened in a page that shows something else.
    link = report.page.url
    report.page.evaluate("location.hash = '#m.unit=time'")
    report.page.evaluate("link => { location.hash = link.replace(/^[^#]*/, '') }", link)
    report.page.wait_for_timeout(200)
    assert profile() == seen
    report.misdeeds.requests[1:] = []


def test_a_damaged_address_harms_nothing(show: Show) -> None:
    report = show()
    report.page.evaluate("location.hash = '#v=1e99~-5&s=x&p=9~9~9&q=%00&c=zz&b=00000000&m.unit=evil'")
    report.page.wait_for_timeout(200)
    start, end = TimelineOf(report).ask("shown")
    assert end > start


def test_copies_are_a_link_a_picture_a_drawing_and_a_text(show: Show) -> None:
    report = show()
    for button, name in (
        ("Save SVG", "a.boot-timeline.svg"),
        ("Copy image", "a.boot-timeline.png"),
        ("Copy text", "a.boot-timeline.md"),
    ):
        with report.page.expect_download() as download:
            report.page.evaluate(
                "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})"
            )
            report.page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        content = Path(download.value.path()).read_bytes()
        start = {"svg": b"<svg", "png": b"\x89PNG", ".md": b"a.boot: 0.0"}[name[-3:]]
        assert content.startswith(start)
    report.misdeeds.requests[1:] = []


def test_the_text_beside_the_picture_says_what_is_shown(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    report.page.locator("#timeline .tl-shown summary").click()
    report.page.wait_for_timeout(700)
    table = report.page.locator("#timeline .tl-shown table").inner_text()
    assert "Kernel › Initcalls" in table
    assert "/devices/pci/disk0/disk0p1, 95.0 ms" in table


def test_hostile_names_are_text(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path, hostile=True))
    timeline = TimelineOf(report)
    report.page.get_by_label("Search the timeline").fill(HOSTILE[0])
    report.page.keyboard.press("Enter")
    assert HOSTILE[0][:20] in timeline.details()
    report.page.mouse.click(*timeline.place("initcalls", "Phases"))
    assert report.page.locator("img, iframe, object, embed, link, form, base").count() == 0
    assert report.page.locator("script").count() == 1
    with report.page.expect_download() as download:
        report.page.get_by_role("button", name="Save SVG").click()
    drawing = Path(download.value.path()).read_text()
    assert "<img" not in drawing
    assert "<script" not in drawing
    report.misdeeds.requests[1:] = []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1300, 390])
def test_the_accessibility_checker_finds_nothing(show: Show, tmp_path: Path, dark: bool, width: int) -> None:
    report = show(make_processes(tmp_path), width=width, dark=dark)
    TimelineOf(report).click("initcalls_device", "Phases")
    report.page.keyboard.press("m")
    report.page.locator("#timeline .tl-shown summary").click()
    report.page.wait_for_timeout(700)
    report.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = report.page.evaluate("axe.run()")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


def test_390_pixels_do_not_scroll_sideways(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path), width=390)
    TimelineOf(report).click("initcalls", "Phases")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_one_line_without_anything_else_has_no_timeline_or_a_small_one(show: Show, tmp_path: Path) -> None:
    log = tmp_path / "one.txt"
    log.write_text("[    0.000000] Linux version 6.1.0 (builder) #1 SMP\n")
    report = show(firstlight.import_(log, output=tmp_path / "one.boot").directory)
    assert report.page.locator("h1").count() == 1
    assert "Console" in report.section("log")


def test_a_clock_that_stepped_leaves_the_axis_sound(show: Show, tmp_path: Path) -> None:
    def step(data: dict[str, Any]) -> None:
        data["log"]["time_ns"][1] = -5
        data["marks"]["time_ns"][0] = None

    report = show(html=rewrite(page_html(firstlight.open(make_imported(tmp_path))), step))
    start, end = TimelineOf(report).ask("shown")
    assert (start, end) == (0, 4_800_000_000)


def test_what_explain_found_stands_on_top_with_its_place(show: Show) -> None:
    report = show()
    answers = report.page.locator("#timeline .tl-answers")
    assert "local APIC timer calibrated by waiting" in answers.inner_text()
    # What a user copies is shown as code, without the quotes.
    assert "`" not in answers.inner_text()
    assert "nolapic_timer rcupdate.rcu_expedited=1" in answers.locator("code").all_inner_texts()
    machine = answers.locator(".of-machine").first
    assert "the emulated machine’s own" in machine.inner_text()
    machine.get_by_role("button").click()
    start, end = TimelineOf(report).ask("selection")
    shown = TimelineOf(report).ask("shown")
    assert shown[0] <= start < end <= shown[1]


def test_the_sandwich_shows_callers_and_callees_and_the_address_keeps_it(show: Show) -> None:
    report = show()
    sides = report.show_sandwich("mpi_powm")
    names = [
        side.locator("g.frame").evaluate_all("all => all.map(e => e.getAttribute('name'))") for side in sides.all()
    ]
    assert names[0][:2] == ["mpi_powm", "dh_compute_value"]
    assert "mpihelp_submul_1" in names[1]
    report.page.wait_for_timeout(400)
    assert "m.view=sandwich" in report.page.url


def test_the_timeline_of_400_000_bars_opens_and_says_what_is_left_out(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    few = pl.read_parquet(bundle / "spans.parquet")
    number = pl.int_range(400_000, dtype=pl.Int64)
    many = few.filter(pl.col("kind") == "initcall").head(1).select(
        pl.exclude("span", "kind", "name", "start_ns", "end_ns", "duration_ns").repeat_by(400_000).explode(),
    )  # fmt: skip
    many = many.with_columns(
        span=number + few.height,
        kind=pl.lit("uevent"),
        name=pl.format("work_{}", number % 1000),
        start_ns=number * 11_000,
        end_ns=number * 11_000 + 5_000 + number % 1000,
        duration_ns=5_000 + number % 1000,
    )
    write_table(bundle, "spans", pl.concat([few, many.select(few.columns)]))
    report = show(bundle)
    assert "of the shortest bars" in report.section("timeline")
    assert "shorter left out" in report.page.locator("#timeline .tl-note", has_text="left out").first.inner_text()
    assert report.file.stat().st_size < 3_000_000
    assert report.page.locator("#timeline .tl-canvas").is_visible()


def test_the_pointer_shows_what_is_below_it(show: Show) -> None:
    report = show()
    timeline = TimelineOf(report)
    report.page.mouse.move(*timeline.place("initcalls_device", "Phases"))
    tip = report.page.locator("#timeline .tl-tip")
    assert "initcalls_device" in tip.inner_text()
    report.page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_a_finger_picks_moves_and_selects(show: Show, browser: Browser) -> None:
    file = show().file
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]")
    timeline = TimelineOf(Report(page, file, Misdeeds()))
    page.touchscreen.tap(*timeline.place("initcalls_device", "Phases"))
    assert timeline.ask("picked") == "initcalls_device"
    page.get_by_role("button", name="Fit", exact=True).first.click()
    before = timeline.ask("shown")
    drag(page, *timeline.place("initcalls_device", "Phases"), 60)
    assert timeline.ask("shown")[0] < before[0]
    page.get_by_role("button", name="Select by dragging").click()
    drag(page, *timeline.place("initcalls_device", "Phases"), 60)
    assert timeline.ask("selection") is not None
    context.close()


def drag(page: Page, x: float, y: float, by: float) -> None:
    """Moves one finger sideways over the page."""
    session = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", x), ("touchMove", x + by / 2), ("touchMove", x + by), ("touchEnd", None)):
        points = [] if at is None else [{"x": at, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_timeout(100)


def test_a_selection_of_several_phases_adds_up_as_python_does(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    boot = firstlight.open(bundle)
    report = show(bundle)
    timeline = TimelineOf(report)
    phases = boot.phases()
    first, last = (phases["phase"].to_list().index(name) for name in ("decompression", "initcalls_device"))
    timeline.click(phases["phase"][first], "Phases")
    report.page.keyboard.down("Shift")
    timeline.click(phases["phase"][last], "Phases")
    report.page.keyboard.up("Shift")
    tables = boot.phase_functions()
    chosen = [tables[name] for name in phases["phase"].to_list()[first : last + 1] if name in tables]
    expected = pl.concat(chosen).group_by("function", "module").agg(pl.col("count").sum())
    for button in report.page.locator("#functions .more button").all()[-1:]:
        button.click()
    counts = dict(zip(report.column("functions", "function"), report.column("functions", "count"), strict=True))
    assert f"{2 * (last - first + 1)} slices of time" in report.section("functions")
    check_counts(counts, expected)


def test_the_queue_of_udev_is_a_graph_and_its_workers_are_tracks(show: Show, tmp_path: Path) -> None:
    timeline = TimelineOf(show(make_queue(tmp_path)))
    heads = timeline.heads()
    assert {"udev", "Queue", "Workers"} <= set(heads)
    assert "waiting" not in heads
    # What waited is found by its device, and is unfolded for it.
    timeline.report.page.keyboard.press("/")
    timeline.report.page.keyboard.type("loop0 track:waiting")
    timeline.report.page.keyboard.press("Enter")
    assert timeline.ask("picked") == "/devices/virtual/block/loop0"
    assert "waiting" in timeline.heads()
    shown = timeline.ask("sums", *timeline.ask("shown"))
    queue = [each for each in shown if each["kind"] == "Queue"]
    assert [each["name"] for each in queue] == ["any number waiting"]
    assert [each["name"] for each in shown if each["kind"] == "Workers"].count("/devices/virtual/block/loop0") == 1


def test_a_saved_drawing_has_title_axis_and_legend_and_no_blank_track(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    timeline = TimelineOf(report)
    timeline.click("app.service")
    report.page.keyboard.press("f")
    report.page.wait_for_timeout(100)
    with report.page.expect_download() as download:
        report.page.get_by_role("button", name="Save SVG").click()
    report.misdeeds.requests[1:] = []
    root = ElementTree.parse(download.value.path()).getroot()
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    start, end = (f"{at / 1e9:.6f}" for at in timeline.ask("shown"))
    assert texts[0].startswith(f"imported.boot: {start} to {end} s")
    assert len([text for text in texts if re.fullmatch(r"[\d.]+ s", text)]) >= 4
    assert {"on the critical path", "Console", "Units"} <= set(texts)
    assert "Asynchronous calls" in timeline.heads()
    assert "Asynchronous calls" not in texts

"""The report page does for a person what it says it does."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from browser.large_boot import make_large_bundle
from browser.report_page import Show
from bundles import make_bundle


def test_says_what_boot_it_is_and_keeps_its_three_figures_apart(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    totals = firstlight.open(bundle).manifest.totals
    head = report.page.locator("header").inner_text()
    assert all(f"{figure:,}" in head for figure in (totals.instructions, totals.virtual_ns, totals.idle_ns))
    assert all(word in head for word in ("a.boot", "complete", "exact mode", "6.1.0-56-cloud-amd64", "Virtual time"))
    assert report.page.title() == "a.boot – Firstlight"


def test_shows_every_phase_in_the_bar_and_in_the_table(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    phases = firstlight.open(bundle).phases()
    names = [name.replace("_", " ") for name in phases["phase"]]
    assert report.column("phases", "phase")[: len(names)] == names
    segments = report.page.locator("#phases .segment").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert [segment.split(":")[0] for segment in segments] == names


def test_the_bar_shows_instructions_or_time_as_chosen(show: Show) -> None:
    report = show()
    device = report.page.locator("#phases .segment[aria-label^='initcalls device'] > rect:not(.plate)").first
    by_instructions = float(device.get_attribute("width") or 0)
    report.page.locator(".units span", has_text="Virtual time").click()
    assert float(device.get_attribute("width") or 0) > by_instructions  # this phase idles: longer than it executes


def test_the_phase_bar_is_one_stop_of_the_tab_key(show: Show) -> None:
    report = show()
    stops = report.page.locator("#phases .segment[tabindex='0']")
    assert stops.count() == 1
    stops.focus()
    focused = "document.activeElement.getAttribute('aria-label').split(':')[0]"
    names = []
    for key in ("End", "ArrowLeft", "Home", "ArrowRight"):
        report.page.keyboard.press(key)
        names.append(report.page.evaluate(focused))
    segments = report.page.locator("#phases .segment").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    bar = [segment.split(":")[0] for segment in segments]
    assert names == [bar[-1], bar[-2], bar[0], bar[1]]
    report.page.keyboard.press("Enter")
    assert report.page.locator("#phases .segment[aria-pressed='true'][tabindex='0']").count() == 1
    assert report.page.evaluate(focused) == bar[1]
    assert stops.count() == 1


def test_search_finds_a_function_and_tells_its_share(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    calls = firstlight.open(bundle).calls()
    total = calls.row(by_predicate=pl.col("function") == "mpi_powm", named=True)["total_instructions"]
    share = 100 * total / calls["total_instructions"][0]
    report.page.get_by_label("Search the flame graph").fill("MPI_powm")
    assert f"1 frame matches: {share:.1f} % of the instructions" in report.section("flame")
    hits = report.page.locator("#flame g.frame:has(rect[fill='var(--hit)'])")
    assert hits.evaluate_all("all => all.map(e => e.getAttribute('name'))") == ["mpi_powm"]
    report.page.get_by_label("Search the flame graph").fill("no such function")
    assert "Nothing matches" in report.section("flame")
    assert hits.count() == 0


def test_a_click_zooms_and_reset_shows_the_whole_boot_again(show: Show) -> None:
    report = show()
    before = report.frame_width("dh_init")
    whole = report.frame_width("[boot]")
    report.page.locator("#flame g.frame[name='dh_init']").click()
    report.page.wait_for_timeout(500)
    assert report.frame_width("dh_init") == whole > before > 0
    assert "[decompressor]" not in report.frames()
    assert report.page.locator(".crumbs button").all_inner_texts()[-1].endswith("dh_init")
    report.page.get_by_role("button", name="Reset zoom").click()
    report.page.wait_for_timeout(500)
    assert report.frame_width("dh_init") == before
    assert "[decompressor]" in report.frames()


def test_a_frame_tells_calls_self_and_total_in_both_units(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    calls = firstlight.open(bundle).calls()
    node = calls.row(by_predicate=pl.col("function") == "mpihelp_submul_1", named=True)
    report.page.locator("#flame g.frame[name='mpihelp_submul_1']").hover()
    card = report.page.locator(".card").inner_text()
    assert f"Calls: {node['calls']:,}" in card
    assert f"{node['total_instructions']:,}" in card
    assert f"{node['self_instructions']:,}" in card
    assert "Virtual time" in card
    assert "dh_compute_value › mpi_powm" in card


def test_the_graph_is_walked_and_zoomed_with_the_keys_alone(show: Show) -> None:
    report = show()
    page = report.page
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Search the timeline"
    page.locator("#flame g.frame[tabindex='0']").focus()
    focused = "document.activeElement.getAttribute('name')"
    assert page.evaluate(focused) == "[boot]"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "[decompressor]"
    assert "decompressor" in page.locator(".card").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert report.frame_width("[decompressor]") == report.frame_width("[boot]")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    assert report.frame_width("[decompressor]") < report.frame_width("[boot]") / 2


def test_the_kd_table_sorts_by_a_click_on_its_heads(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    functions = firstlight.open(bundle).functions()
    heads = report.page.locator("#functions thead th").all_inner_texts()
    plain = [head.replace("▼", "").replace("▲", "").strip() for head in heads]
    assert plain == ["Function", "Count", "Time", "Average", "Local", "Local share", "Max-sub", "Ms count", "Machine's"]
    head = report.page.locator("#functions th[data-column='count'] button")
    head.click()
    counts = [int(text.replace(",", "")) for text in report.column("functions", "count")]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == functions["count"].max()
    assert report.page.locator("#functions th[data-column='count']").get_attribute("aria-sort") == "descending"
    head.click()
    counts = [int(text.replace(",", "")) for text in report.column("functions", "count")]
    assert counts == sorted(counts)
    assert counts[0] == functions["count"].min()


def test_what_the_emulated_machine_adds_is_marked_and_listed_with_its_sum(show: Show) -> None:
    report = show()
    page = report.page
    assert "apic-timer-calibration" in report.column("functions", "machine")
    assert page.locator("#machine tbody tr").first.inner_text().startswith("calibration of the local APIC timer")
    assert "--append nolapic_timer" in page.locator("#machine").inner_text()
    assert page.locator("#machine tfoot tr").inner_text().startswith("all")


def test_a_boot_whose_machine_is_unknown_has_no_such_section(show: Show, tmp_path: Path) -> None:
    page = show(make_bundle(tmp_path, live=True)).page
    assert page.locator("#machine").count() == 0
    assert page.locator("a[href='#machine']").count() == 0


def test_the_kd_table_is_filtered_and_shown_whole_on_demand(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    functions = firstlight.open(bundle).functions()
    more = report.page.locator("#functions .more button").last
    more.click()
    assert len(report.column("functions", "function")) == functions.height
    report.page.get_by_label("Filter functions").fill("MPIHELP")
    assert sorted(report.column("functions", "function")) == ["mpihelp_mul_1", "mpihelp_submul_1"]
    assert f"2 of {functions.height} rows" in report.section("functions")


def test_a_phase_restricts_the_table_and_the_graph(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    expected = set(firstlight.open(bundle).functions(phase="decompression")["function"])
    report.page.locator("#phase").select_option(label="decompression")
    assert set(report.column("functions", "function")) >= {"[decompressor]"}
    assert set(report.column("functions", "function")) <= expected
    assert report.frames() == ["[boot]", "[decompressor]"]
    assert "in the phase decompression" in report.section("flame")
    report.page.locator("#phases .segment[aria-label^='decompression']").press("Enter")  # chosen again: the whole boot
    assert "dh_init" in report.frames()
    assert report.page.locator("#phase").input_value() == ""


def test_the_graph_shows_idle_time_only_in_time(show: Show) -> None:
    report = show()
    assert "[idle]" not in report.frames()
    report.page.locator(".units span", has_text="Virtual time").click()
    assert "[idle]" in report.frames()


def test_initcalls_console_facts_and_checks_are_all_there(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(bundle)
    boot = firstlight.open(bundle)
    assert report.column("initcalls", "name")[0] == "dh_init"
    assert report.column("log", "text") == boot.log()["text"].to_list()
    assert dict(zip(report.column("facts", "fact"), report.column("facts", "value"), strict=True))["kernel.lpj"]
    assert report.section("checks").count("holds") == len(boot.manifest.invariants)
    assert "firstlight record -o a.boot" in report.section("checks")


def test_a_recording_that_is_not_reliable_says_so_first_and_among_the_checks(show: Show, tmp_path: Path) -> None:
    broken = {"entries_counted": {"concerns": "functions", "functions": ["<b>dh_init</b>"]}}
    report = show(make_bundle(tmp_path, broken=broken))
    alert = report.page.get_by_role("alert").inner_text()
    assert "Not reliable: 1 of 16 invariants is broken (affects functions)" in alert
    assert "<b>dh_init</b>" in alert
    assert "firstlight audit" in alert
    assert "not reliable" in report.page.locator("h1").inner_text()
    checks = report.section("checks")
    assert "does not hold" in checks
    assert "At most 0 holds. Concerns functions and their tree. Names <b>dh_init</b>." in checks


def test_a_failed_boot_says_so_first_with_reason_and_console(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path, failed=True))
    alert = report.page.get_by_role("alert").inner_text()
    assert "This boot failed: The kernel panicked" in alert
    assert "---[ end Kernel panic" in alert
    head = report.page.locator("header").inner_text()
    assert "✗ failed" in head
    assert "where it ended" in head
    assert "the report of the guest" in head
    assert "dh_init" in report.frames()  # what was attributed up to then


@pytest.mark.parametrize("how", [{"profile": False}, {"live": True}], ids=["without profile", "live"])
def test_a_boot_without_profile_shows_what_it_has(show: Show, tmp_path: Path, how: dict[str, bool]) -> None:
    report = show(make_bundle(tmp_path, **how))  # type: ignore[arg-type]
    assert report.page.locator("#flame, #functions").count() == 0
    assert "no record of a profile of functions" in report.section("absent")
    assert report.page.locator("#phases .segment").count() > 0
    assert "Linux version" in report.section("log")


def test_a_tree_of_200_000_nodes_opens_and_is_searched(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = make_large_bundle(tmp_path, monkeypatch)
    report = show(bundle)
    assert firstlight.open(bundle).calls().height > 200_000
    assert report.file.stat().st_size < 5_000_000
    assert len(report.frames()) > 1_000
    report.page.get_by_label("Search the flame graph").fill("dh_compute_value")
    assert "1 frame matches" in report.section("flame")
    assert "smaller" in report.section("flame")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_by_day_and_by_night(show: Show, dark: bool) -> None:
    assert show(dark=dark).least_contrast("h2", ".lead", ".places a", ".note", "td") >= 4.5  # WCAG 2.2, level AA


def test_a_narrow_page_does_not_scroll_sideways(show: Show) -> None:
    report = show(width=400)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_print_leaves_the_controls_out_and_the_content_in(show: Show) -> None:
    report = show(dark=True)
    report.page.emulate_media(media="print")
    assert not report.page.locator(".controls").is_visible()
    assert report.page.locator("#phases svg").first.is_visible()
    assert report.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"

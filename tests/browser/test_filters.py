"""The filter language in the report page: one for the timeline and for the tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from browser.report_page import Show
from browser.timeline_page import TimelineOf
from bundles import HOSTILE
from firstlight.render.page import boot
from imported_bundle import make_imported


def test_the_timeline_finds_what_the_bundle_has(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    report = show(bundle)
    spans = firstlight.open(bundle).spans().filter(pl.col("kind") == "initcall").drop_nulls("start_ns")
    # The page draws what did not end up to the end of the boot.
    spans = spans.with_columns(pl.col("end_ns").fill_null(4_800_000_000))
    length = pl.col("end_ns") - pl.col("start_ns")
    for text, expected in (
        ("kind:initcalls dur>1ms", length > 1_000_000),
        ("kind:initcalls dur<=10ms", length <= 10_000_000),
        ("kind:initcalls -dur", pl.lit(True)),
        ("kind:initcalls name~pci", pl.col("name").str.contains("pci")),
        ("kind:initcalls -name~pci", ~pl.col("name").str.contains("pci")),
        ("kind:initcalls start>1s dur>0", (pl.col("start_ns") > 1_000_000_000) & (length > 0)),
    ):
        report.page.get_by_label("Search the timeline").fill(text)
        said = report.page.locator("#timeline .tl-find [role=status]").inner_text()
        number = spans.filter(expected).height
        counted = f"{number:,} {'bar' if number == 1 else 'bars'}, " if number else "Nothing matches"
        assert said.startswith(counted), text


def test_a_term_that_means_nothing_is_named(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    report.page.get_by_label("Search the timeline").fill("dur>long")
    assert "“dur>long” is no term" in report.page.locator("#timeline .tl-find [role=status]").inner_text()
    report.page.locator("#initcalls input[type=search]").fill("size>3")
    assert "“size>3” is no term: the columns are" in report.section("initcalls")


def test_a_field_that_does_not_exist_is_named_where_nothing_matches(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    said = report.page.locator("#timeline .tl-find [role=status]")
    for typed in ("foo:bar", "is:foo"):
        report.page.get_by_label("Search the timeline").fill(typed)
        assert f"“{typed}” is no term. Words, and terms: kind:initcall" in said.inner_text()
    # A name with a colon is found, and is not a mistake.
    report.page.get_by_label("Search the timeline").fill("00:04")
    assert "is no term" not in said.inner_text()


def test_the_search_finds_console_lines_and_goes_to_them(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    timeline = TimelineOf(report)
    said = report.page.locator("#timeline .tl-find [role=status]")
    box = report.page.get_by_label("Search the timeline")
    box.fill("running in system mode")
    assert said.inner_text() == "1 console line."
    box.press("Enter")
    assert said.inner_text() == "1 of 1 console line. 1.600000 s: systemd[1]: systemd 252 running in system mode"
    assert "What ran at 1.600000 s" in timeline.details()
    # The strip of the console marks the line; a drawing shows what the canvas does.
    report.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert report.page.locator(".tl-paper rect[width='3.0'][height='16.0']").count() == 1
    report.page.evaluate("dispatchEvent(new Event('afterprint'))")
    # Bars come first, then the lines that have the same word.
    box.fill("core_start")
    assert "bars," in said.inner_text()
    assert said.inner_text().endswith("and 2 console lines.")
    box.press("Shift+Enter")
    assert "initcall core_start+0x0/0x10 returned 0" in said.inner_text()
    # What only bars have finds no line.
    box.fill("is:critical running in system mode")
    assert said.inner_text() == "Nothing matches."


def test_a_search_says_that_the_page_has_a_part_of_the_console(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot, "LOG_LINES", 4)
    bundle = make_imported(tmp_path)
    lines = firstlight.open(bundle).log().height
    report = show(bundle)
    said = report.page.locator("#timeline .tl-find [role=status]")
    part = f"Of the {lines} console lines, this page has the first 2 and the last 2."
    box = report.page.get_by_label("Search the timeline")
    box.fill("nothing has this name")
    assert said.inner_text() == f"Nothing matches. {part}"
    box.fill("kind:initcalls")
    assert part not in said.inner_text()
    report.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert f"{lines - 4} lines are not in this page" in report.page.locator(".tl-paper text").all_text_contents()
    report.page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_tables_have_the_same_language(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    report = show(bundle)
    calls = firstlight.open(bundle).initcalls()
    box = report.page.locator("#initcalls input[type=search]")
    for text, expected in (
        ("dur>1ms", pl.col("duration_ns") > 1_000_000),
        ("name~pci", pl.col("function").str.contains("pci")),
        ("-name~pci level:device", ~pl.col("function").str.contains("pci") & (pl.col("level") == "device")),
        ("start>=1s", pl.col("start_ns") >= 1_000_000_000),
    ):
        box.fill(text)
        wanted = calls.filter(expected)["function"].to_list()
        assert sorted(report.column("initcalls", "name")) == sorted(wanted) or (not wanted), text


def test_the_function_table_takes_figures(show: Show) -> None:
    report = show()
    report.page.get_by_label("Filter functions").fill("count>100 -mpi")
    counts = [int(text.replace(",", "")) for text in report.column("functions", "count")]
    assert counts
    assert min(counts) > 100
    assert not any("mpi" in name for name in report.column("functions", "function"))


@pytest.mark.parametrize(
    "text", [*HOSTILE[:6], "((((", "name~", '"', "-", ">", "dur>", "a" * 600, "\\", "__proto__:x", "constructor>1"]
)
def test_hostile_filters_do_nothing(show: Show, text: str) -> None:
    report = show()
    for label in ("Search the timeline", "Filter functions"):
        report.page.get_by_label(label).fill(text)
    assert report.page.locator("img, iframe, object, embed").count() == 0
    assert report.page.locator("script").count() == 1

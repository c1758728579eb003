"""The report page in a window of 390 pixels, as phones have it."""

from __future__ import annotations

from pathlib import Path

import firstlight
from browser.report_page import Report, Show
from bundles import make_bundle
from firstlight.cli.main import run
from firstlight.render.page.pair import pair_html

#: Lines of a log that say nothing of a phase, with seconds of silence between them.
LOG = "".join(f"[{second:5}.000000] usb 1-{second}: new high-speed USB device number {second}\n" for second in range(9))
LINE = "[    0.000000] Linux version 6.1.0-test (builder@host) (gcc 12) #1 SMP\n"

#: Names in the table of the path, with their width and whether the window cuts them.
NAMES = """() => [...document.querySelectorAll('#path td.main')].map((cell) => {
  const box = cell.getBoundingClientRect();
  return [box.width, box.left >= 0 && box.right <= document.documentElement.clientWidth];
})"""


def _sideways(report: Report) -> int:
    return int(report.page.evaluate("document.documentElement.scrollWidth"))


def test_the_table_of_the_path_shows_its_parts(show: Show, tmp_path: Path) -> None:
    (tmp_path / "dmesg.txt").write_text(LINE + LOG)
    assert run(["import", str(tmp_path / "dmesg.txt"), "-o", str(tmp_path / "a.boot")]) == 0
    report = show(tmp_path / "a.boot", width=390)
    cells = report.page.evaluate(NAMES)
    assert cells
    assert all(width > 250 and inside for width, inside in cells)
    assert _sideways(report) <= 390


def test_a_row_stays_a_row_of_a_table_with_titles_in_its_cells(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path), width=390)
    rows = report.page.locator("#functions").get_by_role("row")
    assert rows.count() > 1
    first = rows.nth(1).get_by_role("cell")
    assert first.nth(1).get_attribute("data-title") == "Count"
    report.page.locator("#functions th[data-column=count] button").click()
    assert report.page.locator("#functions th[data-column=count]").get_attribute("aria-sort") == "descending"


def test_long_names_of_boots_and_causes_do_not_widen_the_page(show: Show, tmp_path: Path) -> None:
    a, b = make_bundle(tmp_path), make_bundle(tmp_path, name=f"{'long_name' * 12}.boot", seed=9)
    report = show(html=pair_html(firstlight.open(a), firstlight.open(b)), width=390)
    assert _sideways(report) <= 390


def test_a_log_of_one_line_has_no_empty_section(show: Show, tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text(LINE)
    assert run(["import", str(tmp_path / "one.log"), "-o", str(tmp_path / "one.boot")]) == 0
    report = show(tmp_path / "one.boot", width=390)
    assert report.page.locator("main .empty").count() == 0
    assert report.page.locator("main svg").count() == 0
    assert "1 line or entry understood" in report.page.locator(".records summary").inner_text()
    assert "kernel start" in report.section("phases")


def test_names_of_a_chart_are_cut_inside_it(show: Show, tmp_path: Path) -> None:
    (tmp_path / "dmesg.txt").write_text(LINE + LOG)
    assert run(["import", str(tmp_path / "dmesg.txt"), "-o", str(tmp_path / "a.boot")]) == 0
    report = show(tmp_path / "a.boot", width=390)
    names = "texts => texts.map((text) => text.getBBox().x)"
    starts = report.page.locator("#path .lane text").evaluate_all(names)
    assert starts
    assert min(starts) >= 0

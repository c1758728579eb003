"""What the report page shows of initcalls, devices, udev, units, gaps and the critical path."""

from __future__ import annotations

from pathlib import Path

import firstlight
from browser.report_page import Report, Show
from bundles import HOSTILE
from firstlight.analysis.path.critical import find_path
from firstlight.analysis.path.fold import folded
from imported_bundle import make_bare, make_imported

SECTIONS = ("path", "initcalls-time", "devices", "udev", "units", "gaps")


def lanes(report: Report, section: str) -> list[str]:
    """The names of the lanes of a section's waterfall, from the top."""
    found = report.page.locator(f"#{section} g.lane").evaluate_all("all => all.map(e => e.dataset.name)")
    return [str(name) for name in found]


def edges(report: Report, section: str, name: str) -> list[tuple[float, float]]:
    """Start and end of each bar in a lane, in pixels."""
    found = report.page.locator(f"#{section} g.lane[data-name='{name}'] rect").evaluate_all(
        "all => all.map(e => [+e.getAttribute('x'), +e.getAttribute('x') + +e.getAttribute('width')])"
    )
    return sorted((float(start), float(end)) for start, end in found)


def test_an_imported_boot_has_a_chart_and_a_table_of_everything(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    for section in SECTIONS:
        assert report.page.locator(f"#{section} svg[role=img]").count() >= 1, section
        assert report.page.locator(f"#{section} tbody tr").count() >= 1, section
    assert report.column("devices", "result").count("bound") == 4
    assert "used 56.8 % of that time" in report.section("udev")
    assert "initcall disk_init" in report.column("gaps", "running")[1]


def test_the_path_is_drawn_part_by_part_and_adds_up(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    report = show(bundle)
    assert lanes(report, "path") == folded(find_path(firstlight.open(bundle)))["name"].to_list()
    assert "The parts add up to 4.80 s" in report.section("path")
    # Each part begins where the one before ends.
    [(_, ends)] = edges(report, "path", "core_start")
    [(begins, _)] = edges(report, "path", "app.service")
    assert ends <= begins


def test_a_unit_waits_then_works(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    (ordered, ready), (held, started), (works, done) = edges(report, "units", "app.service")
    assert ordered < ready
    assert abs(ready - held) < 2
    assert abs(started - works) < 2
    assert works < done
    assert report.column("units", "name")[0] == "app.service"  # the longest activation first
    assert report.column("units", "grade")[0] == "bounded"


def test_a_boot_without_any_has_none_of_these_sections(show: Show, tmp_path: Path) -> None:
    report = show(make_bare(tmp_path))
    assert report.page.locator("#path").count() == 1
    for section in SECTIONS[1:]:
        assert report.page.locator(f"#{section}").count() == 0, section


def test_an_exact_recording_draws_its_initcalls_and_path(show: Show) -> None:
    report = show()
    assert "dh_init" in lanes(report, "initcalls-time")
    assert report.column("path", "name")[0] == "firmware"


def test_names_of_a_hostile_import_are_text(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path, hostile=True))
    assert report.page.locator("img, iframe, object, embed, link, form, video, audio, base").count() == 0
    assert report.page.locator("script").count() == 1
    assert HOSTILE[0] in report.column("units", "name")
    assert any(name.startswith("two‹U+000A›lines") for name in report.column("devices", "name"))
    assert any("<img" in name for name in lanes(report, "units"))


def test_charts_fit_a_narrow_window(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path), width=420)
    wide = report.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 420

"""What the report page shows of processes: a lane with states for each, and a table; hostile names do nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import firstlight
from browser.report_page import Show
from bundles import HOSTILE, make_bundle, write_table
from firstlight.render.page.processes import page_processes
from invented_processes import make_processes


def test_each_process_has_a_lane_with_its_states_and_a_row(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    report = show(bundle)
    rows = firstlight.open(bundle).processes()
    lanes = report.page.locator("#processes g.lane")
    assert lanes.count() == rows.height
    names = lanes.evaluate_all("all => all.map(e => e.dataset.name)")
    assert [name.lstrip("· ") for name in names] == page_processes(firstlight.open(bundle))["name"]
    assert names[0] == "[swapper/0]"
    assert names[1] == "· init"
    assert report.page.locator("#processes g.lane[data-name='· init'] rect").count() >= 2
    assert all(word in report.section("processes") for word in ("running", "ready to run", "blocked"))
    assert sorted(report.column("processes", "pid")) == sorted(map(str, rows["pid"].to_list()))


def test_a_process_has_its_name_and_its_executable_as_in_python(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    processes = firstlight.open(bundle).table("processes")
    renamed = pl.col("name").cast(pl.String).replace({"udevadm": "(udev-worker)"})
    write_table(bundle, "processes", processes.with_columns(renamed))
    report = show(bundle)
    shown = zip(*(report.column("processes", name) for name in ("pid", "comm", "image")), strict=True)
    expected = firstlight.open(bundle).processes().select("pid", "name", pl.col("image").fill_null("")).rows()
    assert sorted(shown) == sorted((str(pid), name, image) for pid, name, image in expected)
    assert ("10", "(udev-worker)", "/usr/bin/udevadm") in {(str(pid), name, image) for pid, name, image in expected}


def test_the_table_filters_by_name_service_and_pid(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path))
    report.page.get_by_label("Filter processes").fill("svc.service")
    report.page.wait_for_timeout(300)
    assert report.column("processes", "pid") == ["20"]


def test_hostile_names_of_processes_do_nothing(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path, hostile=True))
    assert report.page.locator("#processes g.lane").count() == 5
    assert report.page.locator("#processes script, #processes img").count() == 0
    assert len(HOSTILE) > 1


def test_a_boot_without_processes_has_no_such_section(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path))
    assert report.page.locator("#processes").count() == 0

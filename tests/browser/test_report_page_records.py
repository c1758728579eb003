"""What the report page shows of the records that a boot was imported from."""

from __future__ import annotations

from pathlib import Path

from browser.report_page import Show, assert_only_text
from bundles import make_bundle
from firstlight.cli.main import run

_DMESG = """[    0.000000] Linux version 6.1.0
[    0.100000] Command line: quiet
{strange}
[    1.200000] Run /init as init process
"""
_HOSTILE = "</script><script>alert(1)</script>"


def _imported(directory: Path, records: int) -> Path:
    """A boot imported from so many kernel logs, each with a line that is not a kernel's; and one that nothing reads."""
    folder = directory / "records"
    folder.mkdir()
    for number in range(records):
        lines = _DMESG.format(strange=f"{_HOSTILE} of {number}")
        (folder / f"dmesg-{number:02}.txt").write_text(f"{lines}[    1.3{number:05}] usb {number}-1: new device\n")
    (folder / "note.txt").write_text("no record\n")
    assert run(["import", str(folder), "-o", str(directory / "many.boot")]) == 0
    return directory / "many.boot"


def test_many_records_are_one_line_that_unfolds(show: Show, tmp_path: Path) -> None:
    report = show(_imported(tmp_path, 37))
    head = report.page.locator("header")
    told = head.locator(".records summary").inner_text()
    assert told.startswith(
        "38 records · 148 lines and entries understood · 37 not understood · 1 record not recognised"
    )
    assert head.bounding_box()["height"] < 500  # type: ignore[index]
    assert not head.locator(".records table").is_visible()
    head.locator(".records summary").click()
    assert head.locator(".records tbody tr").count() == 38
    assert "1 line has no stamp" in head.inner_text()
    assert "not recognised; kept" in head.inner_text()


def test_what_is_missing_is_folded_where_it_is_much(show: Show, tmp_path: Path) -> None:
    report = show(_imported(tmp_path, 6))
    head = report.page.locator("header")
    assert "incomplete" in head.locator("h1").inner_text()
    missing = head.locator("details.missing")
    assert "1 of 5 lines or records were not parsed, and 5 more" in missing.inner_text()
    missing.locator("summary").click()
    assert "dmesg-05.txt: 1 of 5 lines or records were not parsed" in missing.inner_text()


def test_what_was_not_understood_of_a_single_record_is_reported_at_once(show: Show, tmp_path: Path) -> None:
    report = show(_imported(tmp_path, 1))
    table = report.page.locator(".records table")
    assert table.is_visible()
    cells = table.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells[1:4] == ["printk", "4", "1"]
    assert_only_text(report)


def test_a_recorded_boot_has_no_line_of_records(show: Show, tmp_path: Path) -> None:
    assert show(make_bundle(tmp_path)).page.locator(".records").count() == 0


def test_no_axes_are_drawn_where_nothing_is_known_of_udevs_queue(show: Show, tmp_path: Path) -> None:
    log = tmp_path / "monitor.txt"
    log.write_text(
        "monitor will print the received events for:\nKERNEL - the kernel uevent\n\n"
        "KERNEL[12.100000] add      /devices/pci0000:00/0000:00:01.0 (pci)\n"
        "KERNEL[12.200000] add      /devices/pci0000:00/0000:00:02.0 (pci)\n"
    )
    assert run(["import", str(log), "-o", str(tmp_path / "monitor.boot")]) == 0
    report = show(tmp_path / "monitor.boot")
    assert report.page.locator("#udev svg").count() == 0
    assert "how long they took is not known" in report.section("udev")
    assert report.page.locator("#udev tbody tr").count() == 2

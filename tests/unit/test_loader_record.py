"""What a boot loader printed of its own time, against what was seen from outside."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, settle, write_table
from firstlight.analysis.loader_record import ReportedStage, reported_by_loader
from firstlight.bundle.boot import Boot
from firstlight.render.views.show import boot_data, boot_report

REPORT = (
    "Timer summary in microseconds (4 records):",
    "       Mark    Elapsed  Stage",
    "          0          0  reset",
    "     1,250      1,250  board_init_f",
    "     2,000        750  start_kernel",
    "",
    "Accumulated time:",
    "               345  dm_f",
)


ENTERED = 108_524_891


def booted(folder: Path, lines: tuple[str, ...], at_ns: int) -> Boot:
    """An invented boot whose kernel is entered at :data:`ENTERED`, and whose console has lines, a nanosecond apart."""
    bundle = make_bundle(folder)
    boot = firstlight.open(bundle)
    log, marks = boot.log(), boot.marks()
    write_table(bundle, "marks", marks.with_columns(pl.col("mark").replace({"kernel_entry_start": "kernel_entry"})))
    first = log.head(1).to_dicts()[0]
    more = [
        {**first, "line": number, "time_ns": at_ns + number, "text": text, "level": None}
        for number, text in enumerate(lines)
    ]
    kept = log.with_columns(pl.col("line") + len(more))
    write_table(bundle, "log", pl.concat([pl.DataFrame(more, schema=log.schema), kept]))
    return firstlight.open(settle(bundle))


def test_the_last_stage_is_compared_with_its_line_and_with_the_entry_of_the_kernel(tmp_path: Path) -> None:
    began = ENTERED - 1_000
    boot = booted(tmp_path, REPORT, began)
    assert reported_by_loader(boot) == (
        ReportedStage("reset", 0),
        ReportedStage("board_init_f", 1_250_000),
        ReportedStage("start_kernel", 2_000_000, began, "first line of the report"),
        ReportedStage("start_kernel", 2_000_000, ENTERED, "mark kernel_entry"),
    )
    assert any(getattr(block, "title", "").startswith("The boot loader's own record") for block in boot_report(boot))
    record = boot_data(boot, 3)["loader_record"]
    assert record[-1]["difference"] == pytest.approx((2_000_000 - ENTERED) / ENTERED)
    assert record[0]["difference"] is None


@pytest.mark.parametrize(
    "lines", [(), REPORT[:1], REPORT[:2], ("Timer summary in microseconds (x records):", *REPORT[1:])]
)
def test_without_a_report_there_is_nothing_to_compare(tmp_path: Path, lines: tuple[str, ...]) -> None:
    boot = booted(tmp_path, lines, ENTERED - 1_000)
    assert reported_by_loader(boot) == ()
    assert not any(getattr(block, "title", "").startswith("The boot loader") for block in boot_report(boot))


def test_a_report_that_a_program_prints_is_not_the_loaders(tmp_path: Path) -> None:
    assert reported_by_loader(booted(tmp_path, REPORT, ENTERED + 1_000)) == ()

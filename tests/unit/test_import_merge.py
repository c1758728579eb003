"""Several records of one boot become one bundle on one clock."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import firstlight
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Source
from imported_records import imported
from invented_records import InventedBoot


def source(boot: Boot, file: str, part: str = "") -> Source:
    return next(source for source in boot.manifest.sources if source.file == file and source.part == part)


def test_four_records_of_one_boot_on_one_clock(tmp_path: Path) -> None:
    made = InventedBoot()
    records = {
        "plot.json": made.plot(),
        "journal.json": made.journal(),
        "dmesg.txt": made.dmesg(),
        "serial.log": made.grabserial(lambda at: 7_000_000 + at + at * 60 // 1_000_000),
    }
    boot = imported(tmp_path, records)
    # Time 0 is the capture's first line, a boot loader's; the kernel's own clock starts 1.5 s later.
    assert boot.manifest.clock.origin in ("capture_start", "firmware_start")
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    assert abs(marks["kernel_start"] - 1_500_000_000) < 200_000
    assert marks["user_start"] - marks["kernel_start"] == made.user_start_us * 1000
    host = source(boot, "serial.log", "capture clock").fit
    assert host is not None
    assert host.rate == pytest.approx(1 / 1.00006, abs=2e-6)
    assert host.residual_max_ns is not None
    assert host.residual_max_ns < 5_000_000
    # Every line once, though three records hold it, with what each of them knows.
    log = boot.log()
    assert log.filter(pl.col("text") == "Run /sbin/init as init process").height == 1
    line = log.row(by_predicate=pl.col("text") == "Run /sbin/init as init process", named=True)
    assert line["host_ns"] is not None
    assert line["level"] == 6
    # One row for each initcall and unit.
    spans = boot.spans()
    assert spans.filter(pl.col("kind") == "initcall").height == len(made.initcalls)
    units = spans.filter(pl.col("kind") == "unit").sort("name")
    assert units.height == len(made.units)
    for (name, start, end), row in zip(sorted(made.units), units.iter_rows(named=True), strict=True):
        assert row["name"] == name
        assert row["duration_ns"] == (end - start) * 1000
        assert abs(row["start_ns"] - marks["kernel_start"] - start * 1000) < 1_000_000
        assert row["source"] in ("journal.json and plot.json", "plot.json and journal.json")
    assert boot.manifest.contradictions == []


def test_a_line_between_two_clocks_is_placed_by_the_capture(tmp_path: Path) -> None:
    made = InventedBoot()
    boot = imported(tmp_path, {"serial.log": made.grabserial(lambda at: 7_000_000 + at)})
    loader = boot.log().row(by_predicate=pl.col("text").str.starts_with("U-Boot"), named=True)
    kernel = dict(boot.marks().select("mark", "time_ns").iter_rows())["kernel_start"]
    assert abs(kernel - loader["time_ns"] - 1_500_000_000) < 200_000


def test_a_log_of_another_boot_is_left_out_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from firstlight.cli.main import run

    made, other = InventedBoot(), InventedBoot(seed=7, version=InventedBoot().version.replace("Mon Jan 1", "Tue Jan 2"))
    (tmp_path / "dmesg.txt").write_text(made.dmesg())
    (tmp_path / "odd.txt").write_text(other.dmesg())
    output = tmp_path / "a.boot"
    assert run(["import", str(tmp_path / "dmesg.txt"), str(tmp_path / "odd.txt"), "-o", str(output)]) == 0
    assert "odd.txt: left out of the tables" in capsys.readouterr().err
    boot = firstlight.open(output)
    assert [told.subject for told in boot.manifest.contradictions] == ["which boot this is, by `kernel.version`"]
    assert boot.log()["source"].unique().to_list() == ["dmesg.txt"]
    assert (output / "raw" / "odd.txt").read_text() == other.dmesg()


def test_the_same_kernel_booted_again_is_reported_by_its_lines(tmp_path: Path) -> None:
    made, again = InventedBoot(), InventedBoot()
    again.lines = [(at + (at * 7919) % 90_000 if at else 0, text) for at, text in again.lines]
    boot = imported(tmp_path, {"dmesg.txt": made.dmesg(), "again.txt": again.dmesg()})
    assert [told.subject for told in boot.manifest.contradictions] == ["which boot this is, by shared events"]
    assert boot.log()["source"].unique().to_list() == ["dmesg.txt"]


def test_a_lost_head_is_said_and_another_record_fills_it(tmp_path: Path) -> None:
    made = InventedBoot()
    alone = imported(tmp_path, {"dmesg.txt": made.dmesg(lost_head=40)})
    assert not alone.manifest.completeness.complete
    assert "kernel_start" not in alone.marks()["mark"].to_list()
    both = imported(tmp_path, {"dmesg.txt": made.dmesg(lost_head=40), "serial.log": made.grabserial(lambda at: at)})
    assert both.spans().filter(pl.col("kind") == "initcall").height == len(made.initcalls)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    cut=st.floats(0.01, 1),
    offset=st.integers(0, 10**9),
    drift_ppm=st.integers(-100, 100),
    names=st.permutations(["dmesg.txt", "serial.log", "journal.json", "plot.json"]),
    number=st.integers(1, 4),
)
def test_whatever_is_left_of_the_records_the_parts_add_up(
    tmp_path: Path, seed: int, cut: float, offset: int, drift_ppm: int, names: list[str], number: int
) -> None:
    made = InventedBoot(seed=seed, length_us=3_000_000)
    texts = {
        "dmesg.txt": made.dmesg(),
        "serial.log": made.grabserial(lambda at: 2_000_000 + offset + at + at * drift_ppm // 10**6),
        "journal.json": made.journal(),
        "plot.json": made.plot(),
    }
    records = {name: texts[name] for name in names[:number]}
    first = names[0]
    records[first] = records[first][: max(300, int(len(records[first]) * cut))]
    boot = imported(tmp_path, records)
    check_partition(boot)


def check_partition(boot: Boot) -> None:
    """Phases partition the boot from its first mark to its last; what has a parent lies in it."""
    marks, phases = boot.marks()["time_ns"].to_list(), boot.phases()
    assert marks[0] == 0
    assert marks == sorted(marks)
    assert boot.manifest.totals.virtual_ns == marks[-1]
    assert phases["duration_ns"].sum() == marks[-1]
    starts, ends = phases["start_ns"].to_list(), phases["end_ns"].to_list()
    assert starts[1:] == ends[:-1]
    spans = {row["span"]: row for row in boot.spans().iter_rows(named=True)}
    for row in spans.values():
        if row["parent"] is not None:
            parent = spans[row["parent"]]
            for inner, outer in ((parent["start_ns"], row["start_ns"]), (row["end_ns"], parent["end_ns"])):
                assert inner is None or outer is None or inner <= outer, (row, parent)
        if row["kind"] != "phase":
            assert row["grade"] in ("exact", "good", "coarse", "bounded", "doubtful", "unknown")
            assert (row["grade"] == "good") <= (row["duration_ns"] is not None)

"""Bootchart's archive: Firstlight's own reader of bootchart reads what was exported."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import firstlight
from bundles import make_bundle
from firstlight.errors import BundleError
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export
from invented_processes import make_processes


def test_processes_come_back_with_parents_and_time(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    boot = firstlight.open(bundle)
    out = tmp_path / "a.bootchart.tgz"
    exported = write_export(bundle, To.bootchart, out)
    assert exported.counts["samples"] > 0

    read = firstlight.import_(out, output=tmp_path / "b.boot")
    before = {row["pid"]: row for row in boot.processes().iter_rows(named=True) if row["pid"]}
    after = {row["pid"]: row for row in read.processes().iter_rows(named=True)}
    assert after.keys() <= before.keys()
    assert len(after) == exported.counts["processes"]
    for pid, row in after.items():
        known = before[pid]
        if row["cpu_ns"] is not None and known["cpu_ns"] is not None:
            # Two counters, user and system, each cut to a hundredth of a second.
            assert known["cpu_ns"] - 30_000_000 <= row["cpu_ns"] <= known["cpu_ns"] + 10_000_000


def test_the_same_boot_gives_the_same_bytes(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    first, second = tmp_path / "a.tgz", tmp_path / "b.tgz"
    write_export(bundle, To.bootchart, first)
    write_export(bundle, To.bootchart, second)
    assert first.read_bytes() == second.read_bytes()


def test_the_archive_has_what_bootchartd_writes(tmp_path: Path) -> None:
    out = tmp_path / "a.tgz"
    write_export(make_processes(tmp_path), To.bootchart, out)
    with tarfile.open(out) as archive:
        assert archive.getnames() == ["header", "proc_stat.log", "proc_ps.log", "proc_diskstats.log"]
        stat = archive.extractfile("proc_stat.log")
        assert stat is not None
        blocks = stat.read().decode().strip().split("\n\n")
    ticks = [int(block.split("\n")[0]) for block in blocks]
    assert ticks == list(range(ticks[0], ticks[0] + len(ticks)))
    totals = [sum(map(int, block.split("\n")[1].split()[1:])) for block in blocks]
    assert totals == sorted(totals)


def test_a_boot_without_processes_has_no_bootchart(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="the times of processes"):
        write_export(make_bundle(tmp_path), To.bootchart, tmp_path / "a.tgz")

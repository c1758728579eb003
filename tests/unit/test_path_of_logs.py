"""The critical path of boots that are known from their log or from samples alone."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.analysis.path.critical import find_path
from firstlight.analysis.path.fold import folded
from firstlight.api import Boot
from firstlight.cli.main import run
from firstlight.schema.spans import Grade
from imported_bundle import MS, Spans, write_bundle
from imported_records import imported

LOG = """[    0.000000] Linux version 6.1.0 (a@b) #1 SMP
[    0.100000] Command line: quiet
[    0.500000] ata1: SATA max UDMA/133 abar m4096@0xfebf0000
[    2.500000] ata1.00: ATA-7: QEMU HARDDISK, 2.5+, max UDMA/100
[    2.501000] sd 0:0:0:0: [sda] Attached SCSI disk
[    2.502000] sd 0:0:0:0: [sda] Write cache: enabled
[    4.000000] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps
[    4.001000] Freeing unused kernel image memory: 2048K
[    4.002000] Run /init as init process
"""


def test_a_plain_log_is_divided_by_its_silences(tmp_path: Path) -> None:
    rows = find_path(imported(tmp_path, {"dmesg.txt": LOG})).rows
    longest = rows.sort("duration_ns", descending=True).head(2)
    assert longest["name"].to_list() == [
        "silence between ata1 and ata1.00",
        "silence between sd 0:0:0:0 and e1000e 0000:00:19.0 eth0",
    ]
    assert longest["duration_ns"].to_list() == [2000 * MS, 1498 * MS]
    assert longest["grade"].to_list() == [Grade.BOUNDED] * 2
    assert longest["before"][0].startswith("ata1: SATA max")
    assert longest["after"][0].startswith("ata1.00: ATA-7")
    assert rows["duration_ns"].sum() == 4002 * MS


def test_no_form_shows_steps_of_no_time_or_many_short_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    boot = imported(tmp_path, {"dmesg.txt": LOG})
    assert run(["path", str(boot.directory), "--json"]) == 0
    takes = [row["duration_ns"] for row in json.loads(capsys.readouterr().out)["data"]["path"]]
    assert sum(takes) == 4002 * MS
    assert min(takes) > 0
    short = [took * 200 < 4002 * MS for took in takes]
    assert not any(one and two for one, two in pairwise(short))
    assert run(["path", str(boot.directory)]) == 0
    assert "silence between ata1 and ata1.00" in capsys.readouterr().out


@settings(deadline=None)
@given(st.lists(st.integers(min_value=0, max_value=5000), min_size=2, max_size=60), st.integers(1, 10))
def test_folding_keeps_the_sum_and_the_order(
    tmp_path_factory: pytest.TempPathFactory, ends: list[int], most: int
) -> None:
    directory = tmp_path_factory.mktemp("fold")
    lines = [(float(end), f"driver{number}: line", 6) for number, end in enumerate(sorted(ends))]
    boot = _boot(directory, Spans(), lines)
    path = find_path(boot)
    rows = folded(path, most)
    assert rows["duration_ns"].sum() == path.rows["duration_ns"].sum() == 4800 * MS
    assert rows["parts"].sum() == path.rows.filter(pl.col("duration_ns") > 0).height
    assert rows["duration_ns"].min() > 0  # type: ignore[operator]
    assert rows["start_ns"].is_sorted()
    assert rows.filter(pl.col("parts") == 1).height <= 2 * most + 1


def _boot(directory: Path, spans: Spans, log: list[tuple[float, str, int]]) -> Boot:
    import firstlight

    marks = {"kernel_start": 0, "startup_finished": 4800}
    return firstlight.open(write_bundle(directory, "a.boot", spans=spans, log=log, marks=marks))


def sampled(directory: Path) -> Boot:
    """Init starts a shell, which reads a disk through `fsck`, then computes in `depmod`; a daemon goes on."""
    lines = {
        1: [(1, 0, "init", 0), (10, 1, "rc", 50)],
        101: [(1, 0, "init", 0), (10, 1, "rc", 50), (11, 10, "fsck", 60), (20, 1, "daemon", 70)],
        201: [(1, 0, "init", 0), (10, 1, "rc", 50), (12, 10, "depmod", 120), (20, 1, "daemon", 70)],
        301: [(1, 0, "init", 0), (10, 1, "rc", 50), (12, 10, "depmod", 120), (20, 1, "daemon", 70)],
        401: [(1, 0, "init", 0), (20, 1, "daemon", 70)],
    }
    stat = "{} ({}) S {} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0 0"
    processes = "".join(
        f"{at}\n" + "".join(stat.format(pid, name, parent, start) + "\n" for pid, parent, name, start in rows) + "\n"
        for at, rows in lines.items()
    )
    # user, nice, system, idle, iowait in hundredths of a second: reads for a second, computes for two, idles.
    ticks = {1: (0, 0, 0, 0, 0), 101: (5, 0, 5, 0, 90), 201: (95, 0, 10, 5, 90), 301: (190, 0, 15, 5, 90),
             401: (192, 0, 16, 102, 90)}  # fmt: skip
    processors = "".join(f"{at}\ncpu  {' '.join(map(str, row))} 0 0\nprocesses 9\n\n" for at, row in ticks.items())
    return imported(directory, {"proc_ps.log": processes, "proc_stat.log": processors})


def test_the_path_of_samples_is_the_chain_of_processes(tmp_path: Path) -> None:
    boot = sampled(tmp_path)
    rows = folded(boot.path())
    steps = rows.filter(pl.col("kind") == "process").select("name", "start_ns", "end_ns", "edge").rows()
    # `fsck` was last seen at 1.01 s, and `depmod` began at 1.20 s: the shell ran in between.
    assert [(name, edge) for name, _, _, edge in steps] == [
        ("init", None), ("rc", "parent"), ("fsck", "parent"), ("rc", "inferred"), ("depmod", "parent"),
    ]  # fmt: skip
    assert steps[-1][1:3] == (1200 * MS, 3010 * MS)
    assert rows["duration_ns"].sum() == boot.path().goal_ns - boot.path().first_ns


def test_samples_state_what_limited_the_boot(tmp_path: Path) -> None:
    boot = sampled(tmp_path)
    intervals = boot.path().load.intervals
    bounds = intervals.filter(pl.col("bound") != "not sampled").select("bound", "duration_ns").rows()
    assert bounds == [("disk", 1000 * MS), ("CPU", 2000 * MS), ("idle", 1000 * MS)]
    assert intervals["duration_ns"].sum() == boot.path().goal_ns - boot.path().first_ns
    sums = intervals.select(pl.sum_horizontal("cpu_ns", "disk_ns", "idle_ns")).to_series().sum()
    assert sums == intervals.filter(pl.col("bound") != "not sampled")["duration_ns"].sum()
    fsck = boot.path().rows.filter(pl.col("name") == "fsck")["ran"].to_list()
    assert fsck == ["disk 90 %, CPU 10 %"]


def test_a_log_with_one_instant_is_not_said_to_have_no_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = imported(tmp_path, {"dmesg.txt": LOG.splitlines()[0] + "\n"})
    assert run(["path", str(boot.directory)]) == 0
    said = capsys.readouterr().err
    assert "no record of a later instant" in said
    assert "no record of times" not in said

"""What udev's workers did for each device, by their system calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from bundles import HOSTILE, write_table
from firstlight.api import Boot
from firstlight.cli.main import run
from invented_processes import make_processes

UDEVD = "/usr/lib/systemd/systemd-udevd"
DISK, TTY = "/devices/virtual/block/loop0", "/devices/virtual/tty/ptya0"


def make_udev(directory: Path, *, disk: str = DISK, dies_early: bool = False) -> Path:
    """An invented boot in which udevd (process 2) has one worker (process 3), which runs a program (process 4).

    The worker handles a disk, for which it runs a program and waits for it, and then a terminal.
    """
    bundle = make_processes(directory)
    images = pl.read_parquet(bundle / "images.parquet")
    udevadm, service = (images["start_ns"][place] for place in (2, 3))
    other = images["start_ns"][4]
    group = "/system.slice/systemd-udevd.service"
    rows = [
        (2, 2, udevadm, UDEVD, f"{UDEVD}\0", group),
        (3, 3, service, UDEVD, f"{UDEVD}\0", group),
        (4, 4, other, UDEVD, f"{UDEVD}\0", group),
        (4, 4, other + 50_000, "/usr/lib/udev/ata_id", "ata_id\0", group),
    ]
    write_table(bundle, "images", pl.DataFrame(rows, schema=images.schema, orient="row"))
    processes = pl.read_parquet(bundle / "processes.parquet")
    program, worker = pl.col("process") == 4, pl.col("process") == 3
    moved = pl.when(program).then(100_000).when(worker).then(-100_000).otherwise(0)
    processes = processes.with_columns(
        parent=pl.when(program).then(3).otherwise("parent"),
        threads=pl.when(program | worker).then(1).otherwise("threads"),
        kernel_instructions=pl.col("kernel_instructions") + moved,
    )
    write_table(bundle, "processes", processes.cast({"parent": pl.Int64, "threads": pl.Int64}))
    threads = pl.read_parquet(bundle / "threads.parquet")
    own = pl.when(pl.col("thread") == 4).then(4).otherwise("process")
    write_table(bundle, "threads", threads.with_columns(process=own.cast(pl.Int64)))
    calls: list[tuple[int, str, int, int, int | None, str | None]] = [
        (3, "set_robust_list", service + 10, service + 20, 0, None),
        (3, "openat", service + 100, service + 200, 5, f"/sys{disk}/uevent"),
        (3, "openat", service + 300, service + 400, -2, "/run/udev/data/b7:0"),
        (3, "newfstatat", service + 500, service + 600, 0, "/dev/loop0"),
        (3, "mknod", service + 700, service + 800, 0, "/dev/.tmp"),
        (3, "clone", service + 900, service + 5_000, 40, None),
        (4, "execve", other + 40_000, other + 50_000, 0, "/usr/lib/udev/ata_id"),
        (4, "execve", other + 20_000, other + 30_000, -2, "/lib/udev/ata_id"),
        (3, "epoll_wait", service + 10_000, service + 20_000, 1, None),
        (3, "symlink", service + 21_000, service + 22_000, 0, "/dev/disk/by-id/x"),
    ]
    if not dies_early:
        calls += [
            (3, "epoll_wait", service + 30_000, service + 40_000, 1, None),
            (3, "recvmsg", service + 40_100, service + 40_200, 90, None),
            (3, "openat", service + 41_000, service + 41_100, 5, f"/sys{TTY}/uevent"),
            (3, "readlinkat", service + 41_200, service + 41_300, 9, f"/sys{TTY}/subsystem"),
            (3, "epoll_wait", service + 50_000, service + 60_000, 1, None),
            (3, "read", service + 60_100, service + 60_200, 128, None),
        ]
    schema = pl.read_parquet(bundle / "system_calls.parquet").schema
    calls.sort(key=lambda call: call[2])
    table: list[tuple[Any, ...]] = [
        (number, thread, name, start, end, end - start, 0, result, path, 0, 0, 0)
        for number, (thread, name, start, end, result, path) in enumerate(calls)
    ]
    # User code was not followed: no call names the function that made it.
    rows = [(*row, None) for row in table]
    write_table(bundle, "system_calls", pl.DataFrame(rows, schema=schema, orient="row"))
    return bundle


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_udev(tmp_path_factory.mktemp("udev")))


def test_an_event_ends_with_the_sleep_before_the_next_device(boot: Boot) -> None:
    rows = boot.device_costs()
    assert rows["device"].to_list() == [DISK, TTY]
    service = boot.table("images")["start_ns"][1]
    assert (rows["end_ns"] - service).to_list() == [30_000, 50_000]
    assert (rows["start_ns"] - service).to_list() == [10, 40_000]


def test_the_calls_of_an_event_are_counted_with_those_of_its_programs(boot: Boot) -> None:
    disk, tty = boot.device_costs().to_dicts()
    counts = {"opens": 2, "not_found": 1, "stats": 1, "mknods": 1, "symlinks": 1, "forks": 1, "renames": 0}
    assert {name: disk[name] for name in counts} == counts
    assert (disk["subsystem"], tty["subsystem"]) == ("block", None)
    assert (tty["calls"], tty["readlinks"]) == (3, 1)


def test_the_parts_of_udev_are_all_instructions_of_its_processes(boot: Boot) -> None:
    rows = boot.device_costs()
    assert rows.select(pl.sum_horizontal("cpu_ns", "wait_ns")).to_series().to_list() == rows["duration_ns"].to_list()
    sums = boot.udev_sums()
    udev = boot.processes().filter(pl.col("process").is_in([2, 3, 4]))
    assert sums["instructions"].sum() == udev["instructions"].sum()
    assert sums["instructions"].min() >= 0  # type: ignore[operator]


def test_a_worker_that_is_at_work_at_the_end_has_an_event_until_then(tmp_path: Path) -> None:
    boot = firstlight.open(make_udev(tmp_path, dies_early=True))
    rows = boot.device_costs()
    assert rows["device"].to_list() == [DISK]
    assert rows["end_ns"].to_list() == [boot.table("runs")["end_ns"].max()]


def test_a_boot_without_udev_has_columns_and_no_rows(tmp_path: Path, boot: Boot) -> None:
    other = firstlight.open(make_processes(tmp_path))
    assert other.device_costs().is_empty()
    assert other.device_costs().schema == boot.device_costs().schema
    assert other.udev_sums().is_empty()


def test_costs_and_uevents_are_two_tables(boot: Boot, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["devices", str(boot.directory), "--costs", "--uevents"]) == 2
    assert "`--costs` and `--uevents` cannot be combined" in capsys.readouterr().err


@pytest.mark.parametrize("form", [[], ["--json"], ["-n", "1"], ["--sort", "start"]])
def test_hostile_names_of_devices_are_escaped(
    tmp_path: Path, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bad = next(text for text in HOSTILE if "\x1b" in text)
    assert run(["devices", str(make_udev(tmp_path, disk=f"{DISK}{bad}")), "--costs", *form]) == 0
    assert "\x1b" not in capsys.readouterr().out

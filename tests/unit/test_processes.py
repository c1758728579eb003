"""Processes, system calls and files of an invented boot, through the interface."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import HOSTILE, make_bundle, write_table
from firstlight.api import Boot, GroupCalls
from firstlight.cli.main import run
from firstlight.errors import FirstlightError
from invented_processes import make_processes

CONTROL = {character for bad in HOSTILE for character in bad if not character.isprintable()} - {"\n"}


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_processes(tmp_path_factory.mktemp("boot")))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_processes(tmp_path_factory.mktemp("hostile"), hostile=True))


def test_instructions_of_processes_sum_to_those_of_the_boot_from_the_kernel_on(boot: Boot) -> None:
    kernel = boot.marks().filter(pl.col("mark") == "kernel_entry_start")["instructions"].item()
    rows = boot.processes()
    assert rows["instructions"].sum() + kernel == boot.manifest.totals.instructions
    parts = ("user_instructions", "kernel_instructions", "interrupt_instructions")
    assert rows["instructions"].to_list() == rows.select(pl.sum_horizontal(parts)).to_series().to_list()
    assert rows["calls"].sum() == boot.system_calls().height


def test_a_process_that_never_ran_has_a_row_and_waited_all_the_time(boot: Boot) -> None:
    never = boot.processes().filter(pl.col("threads") == 0).row(0, named=True)
    assert (never["name"], never["pid"], never["image"], never["instructions"], never["calls"]) == (
        *("never", 22, None), 0, 0
    )  # fmt: skip
    assert never["wait_ns"] == boot.manifest.totals.virtual_ns - never["start_ns"]


def test_time_is_instructions_times_the_clocks_step(tmp_path: Path) -> None:
    plain = firstlight.open(make_processes(tmp_path)).processes()
    assert plain["cpu_ns"].to_list() == plain["instructions"].to_list()
    lasts = plain.filter(pl.col("pid") == 10).row(0, named=True)
    assert lasts["end_ns"] - lasts["start_ns"] == lasts["cpu_ns"] + lasts["wait_ns"]


def test_each_process_comes_behind_its_parent(boot: Boot) -> None:
    rows = boot.processes(tree=True)
    assert rows.select("pid", "depth").rows() == [(0, 0), (1, 1), (10, 2), (20, 3), (22, 3)]


def test_calls_before_and_after_an_exec_have_different_executables(boot: Boot) -> None:
    rows = boot.system_calls().filter(pl.col("pid") == 10)
    assert rows["image"].to_list() == ["/bin/sh"] * 2 + ["/usr/bin/udevadm"] * 5
    assert rows["service"].to_list() == [None] * 2 + ["udev-settle.service"] * 5


def test_calls_of_every_thread_have_the_pid_of_the_process(boot: Boot) -> None:
    rows = boot.system_calls(process="svc")
    assert rows["thread"].to_list() == [3, 3, 4, 4]
    assert set(rows["pid"]) == {20}


@pytest.mark.parametrize(
    ("process", "calls"),
    [
        ("10", range(7)),
        ("20", range(7, 11)),
        ("udevadm", range(7)),
        ("/usr/bin/udevadm", range(2, 7)),
        ("/bin/sh", range(2)),
        ("sh", range(2)),
        ("udev-settle.service", range(2, 7)),
        ("svc.service", range(7, 11)),
        ("worker", range(9, 11)),
        ("init", ()),
        ("22", ()),
    ],
)
def test_one_process_by_pid_name_executable_and_service(boot: Boot, process: str, calls: range) -> None:
    assert boot.system_calls(process=process)["call"].to_list() == list(calls)
    paths = boot.system_calls(process=process)["path"].drop_nulls().to_list()
    assert sorted(set(paths)) == sorted(boot.files(process=process)["path"].unique().to_list())


@pytest.mark.parametrize("process", ["21", "99999999999999999999", "-1", "", "bin/sh", "udev"])
def test_a_process_that_is_not_there_is_an_error(boot: Boot, process: str) -> None:
    with pytest.raises(FirstlightError, match="no process"):
        boot.system_calls(process=process)


@pytest.mark.parametrize("by", GroupCalls)
def test_sums_of_calls_have_every_call_once(boot: Boot, by: GroupCalls) -> None:
    every = boot.system_calls()
    if by is GroupCalls.PATH:
        every = every.filter(pl.col("path").is_not_null())
    sums = boot.system_calls(by=by)
    assert sums["calls"].sum() == every.height
    assert sums["errors"].sum() == every.filter(pl.col("result") < 0).height
    for column in ("instructions", "wait_ns", "bytes"):
        assert sums[column].sum() == every[column].sum()


def test_waiting_is_the_time_of_a_call_without_the_processor(boot: Boot) -> None:
    row = boot.system_calls().filter(pl.col("name") == "futex").row(0, named=True)
    assert (row["duration_ns"], row["instructions"], row["wait_ns"]) == (7_000, 300, 6_700)
    read = boot.system_calls().row(3, named=True)
    assert (read["duration_ns"], read["instructions"], read["wait_ns"], read["bytes"]) == (10_000, 6_000, 3_000, 100)


def test_a_call_that_did_not_return_has_no_duration(boot: Boot) -> None:
    row = boot.system_calls().filter(pl.col("end_ns").is_null()).row(0, named=True)
    assert (row["name"], row["duration_ns"], row["instructions"], row["wait_ns"]) == ("exit_group", None, None, None)


def test_a_failed_read_moved_no_bytes(boot: Boot) -> None:
    rows = boot.files().filter(pl.col("path") == "/etc/hosts").sort("pid")
    assert rows.select("pid", "opens", "reads", "bytes").rows() == [(10, 1, 2, 100), (20, 1, 1, 0)]


def test_a_boot_without_processes_has_frames_without_rows_and_with_columns(tmp_path: Path, boot: Boot) -> None:
    empty = firstlight.open(make_bundle(tmp_path))
    for frame, other in (
        (empty.processes(), boot.processes()),
        (empty.processes(tree=True), boot.processes(tree=True)),
        (empty.system_calls(), boot.system_calls()),
        (empty.system_calls(process="anything"), boot.system_calls()),
        (empty.files(), boot.files()),
        *((empty.system_calls(by=by), boot.system_calls(by=by)) for by in GroupCalls),
    ):
        assert frame.is_empty()
        assert frame.schema == other.schema


def test_processes_without_a_call_have_rows(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    path = bundle / "system_calls.parquet"
    write_table(bundle, "system_calls", pl.read_parquet(path).clear())
    without = firstlight.open(bundle)
    assert without.processes()["calls"].to_list() == [0] * 5
    assert without.files().is_empty()


@pytest.mark.parametrize(
    "words",
    [
        ["processes"], ["processes", "--tree"], ["syscalls"], ["syscalls", "--by", "path"],
        ["syscalls", "--by", "process"], ["files"], ["files", "--not-found"],
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("columns", ["40", "80", "300"])
def test_attacks_in_names_and_paths_are_escaped(
    hostile: Boot, words: list[str], columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run([words[0], str(hostile.directory), *words[1:]]) == 0
    printed = capsys.readouterr()
    assert not CONTROL & set(printed.out + printed.err)


def test_names_with_new_lines_are_found_and_stay_one_row(hostile: Boot) -> None:
    names = hostile.system_calls()["path"].drop_nulls().to_list()
    assert any("\n" in name for name in names)
    images = [image for image in hostile.table("images")["image"].to_list() if "\n" in image]
    assert images
    assert hostile.system_calls(process=images[0]).height == 5

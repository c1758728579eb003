"""A riscv64 boot with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import firstlight
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.assets import asset_path
from firstlight.bundle.processes_missing import processes_missing
from firstlight.errors import LabError
from firstlight.recipe.options import RecordOptions


def _helper_is_there() -> bool:
    try:
        return asset_path("firstlight-guest-riscv64").is_file()
    except LabError:
        return False


pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(shutil.which("qemu-system-riscv64") is None, reason="QEMU for riscv64 is not installed"),
    pytest.mark.skipif(not _helper_is_there(), reason="the helper of guests on riscv64 is not built"),
]


def test_the_profile_is_sound_complete_and_equal_each_time_and_changes_nothing(tmp_path: Path) -> None:
    boot, _ = (firstlight.record_with(RecordOptions(tmp_path / f"{name}.boot", arch="riscv64")) for name in ("a", "b"))
    plain = firstlight.record_with(RecordOptions(tmp_path / "plain.boot", arch="riscv64", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    assert plain.manifest.totals.virtual_ns is not None
    assert boot.manifest.totals.virtual_ns is not None
    # The counter that user mode may read has a period of 100 ns.
    assert abs(plain.manifest.totals.virtual_ns - boot.manifest.totals.virtual_ns) <= 100
    invariants = boot.manifest.invariants
    assert {name for name, invariant in invariants.items() if not invariant.holds} == set()
    matched = invariants["returns_matched"].model_dump()
    assert matched["value"] * 100_000 < matched["returns"]
    marks = boot.marks()["mark"].to_list()
    levels = "early pure core postcore arch subsys fs rootfs device late".split()
    assert [mark.removeprefix("initcall_") for mark in marks if mark.startswith("initcall_")] == levels
    # OpenSBI runs before the kernel.
    assert marks[:3] == ["power_on", "kernel_entry", "kernel_start"]
    assert marks[-3:] == ["user_start", "guest_start", "ready"]
    functions = dict(boot.functions().select("function", "count").iter_rows())
    assert functions["start_kernel"] == 1
    assert functions["handle_exception"] > functions["do_irq"] > 0


SCRIPT = "echo hello > /tmp/words; cat /tmp/words; stat /tmp/no/such; (exit 3); sh -c 'exit 7'; true"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    output = tmp_path_factory.mktemp("riscv64") / "script.boot"
    return firstlight.record_with(
        RecordOptions(output, arch="riscv64", guest_commands=(SCRIPT,), user_functions=True, devices=True)
    )


def test_processes_and_their_system_calls_are_those_of_the_script(script: Boot) -> None:
    assert processes_missing(script.manifest) is None
    assert {name for name, invariant in script.manifest.invariants.items() if not invariant.holds} == set()
    processes = script.processes()
    (parent,) = processes.filter(pl.col("arguments") == "cat /tmp/words")["parent"]
    children = processes.filter(pl.col("parent") == parent)
    assert children["name"].to_list() == ["cat", "stat", "sh", "sh"]
    assert [status >> 8 for status in children["status"].to_list()] == [0, 1, 3, 7]
    calls = script.system_calls().filter(pl.col("pid") == children["pid"][0])
    (opened,) = calls.filter(pl.col("path") == "/tmp/words", pl.col("name") == "openat")["result"]
    assert opened >= 3
    failed = script.system_calls().filter(pl.col("path") == "/tmp/no/such")
    assert set(failed["result"]) == {-2}


def test_all_of_user_mode_is_placed_in_files(script: Boot) -> None:
    functions = script.user_functions()
    assert functions["self_instructions"].sum() == script.processes()["user_instructions"].sum()
    placed = functions.filter(pl.col("kind").is_in(["file", "vdso"]))
    assert placed["self_instructions"].sum() == functions["self_instructions"].sum()


def test_devices_are_probed_and_wait_for_their_suppliers(script: Boot) -> None:
    devices = script.devices()
    (serial,) = devices.filter(pl.col("device") == "10000000.serial").iter_rows(named=True)
    assert serial["driver"] == "of_serial"
    assert serial["supplier"] == "c000000.plic"


def test_following_user_code_and_devices_changes_nothing(script: Boot, tmp_path: Path) -> None:
    plain = RecordOptions(tmp_path / "b.boot", arch="riscv64", guest_commands=(SCRIPT,), profile=False)
    firstlight.record_with(plain)
    assert_undisturbed(script.directory, tmp_path / "b.boot")

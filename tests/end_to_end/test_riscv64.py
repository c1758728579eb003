"""A riscv64 boot with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.recipe.options import RecordOptions
from other_guests import (
    SCRIPT,
    assert_as_long,
    assert_minimal_guest_came_up,
    assert_profile_is_sound,
    assert_ran_script,
    boots_of,
)

pytestmark = boots_of("riscv64")


def test_the_profile_is_sound_complete_and_equal_each_time_and_changes_nothing(tmp_path: Path) -> None:
    boot, _ = (firstlight.record_with(RecordOptions(tmp_path / f"{name}.boot", arch="riscv64")) for name in ("a", "b"))
    plain = firstlight.record_with(RecordOptions(tmp_path / "plain.boot", arch="riscv64", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    assert_minimal_guest_came_up(plain, "riscv64", b"OpenSBI")
    assert plain.marks()["mark"].to_list() == ["power_on", "ready"]
    # The counter that user mode may read has a period of 100 ns.
    assert_as_long(boot, plain, 100)
    marks = assert_profile_is_sound(boot)
    # OpenSBI runs before the kernel.
    assert marks[:3] == ["power_on", "kernel_entry", "kernel_start"]
    functions = dict(boot.functions().select("function", "count").iter_rows())
    assert functions["start_kernel"] == 1
    assert functions["handle_exception"] > functions["do_irq"] > 0


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    output = tmp_path_factory.mktemp("riscv64") / "script.boot"
    return firstlight.record_with(
        RecordOptions(output, arch="riscv64", guest_commands=(SCRIPT,), user_functions=True, devices=True)
    )


def test_processes_and_their_system_calls_are_those_of_the_script(script: Boot) -> None:
    assert_ran_script(script)


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

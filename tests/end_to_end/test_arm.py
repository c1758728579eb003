"""A boot of 32-bit arm with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import firstlight
from busy_host import host_under_load
from equal_boots import assert_equal, assert_undisturbed
from firstlight.assets import asset_path
from firstlight.bundle.processes_missing import processes_missing
from firstlight.errors import LabError
from firstlight.recipe.options import RecordOptions


def _helper_is_there() -> bool:
    try:
        return asset_path("firstlight-guest-arm").is_file()
    except LabError:
        return False


pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="QEMU for 32-bit arm is not installed"),
    pytest.mark.skipif(not _helper_is_there(), reason="the helper of guests on 32-bit arm is not built"),
]


def test_the_profile_is_sound_complete_and_equal_each_time_and_changes_nothing(tmp_path: Path) -> None:
    boot = firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="armhf"))
    with host_under_load():
        firstlight.record_with(RecordOptions(tmp_path / "b.boot", arch="armhf"))
    plain = firstlight.record_with(RecordOptions(tmp_path / "plain.boot", arch="armhf", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    assert plain.manifest.totals.virtual_ns is not None
    assert boot.manifest.totals.virtual_ns is not None
    # The counter that user mode may read has a period of 16 ns.
    assert abs(plain.manifest.totals.virtual_ns - boot.manifest.totals.virtual_ns) <= 16
    invariants = boot.manifest.invariants
    assert {name for name, invariant in invariants.items() if not invariant.holds} == set()
    matched = invariants["returns_matched"].model_dump()
    assert matched["value"] * 100_000 < matched["returns"]
    assert invariants["registers_confirmed"].model_dump()["confirmed"] > 0
    marks = boot.marks()["mark"].to_list()
    levels = "early pure core postcore arch subsys fs rootfs device late".split()
    assert [mark.removeprefix("initcall_") for mark in marks if mark.startswith("initcall_")] == levels
    # The kernel unpacks itself.
    assert marks[:4] == ["power_on", "decompression_start", "kernel_entry", "kernel_start"]
    assert marks[-3:] == ["user_start", "guest_start", "ready"]
    table = boot.functions()
    functions = dict(table.select("function", "count").iter_rows())
    assert functions["start_kernel"] == 1
    assert functions["__irq_svc"] > 0
    assert functions["do_vfp"] == functions["vfp_support_entry"] > 0
    assert {"syscall", "interrupt", "exception", "decompressor", "user"} <= set(table["kind"])
    assert table["self_instructions"].sum() == boot.manifest.totals.instructions
    assert processes_missing(boot.manifest) is not None

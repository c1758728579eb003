"""A riscv64 boot with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import firstlight
from equal_boots import assert_equal, assert_undisturbed
from firstlight.assets import asset_path
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

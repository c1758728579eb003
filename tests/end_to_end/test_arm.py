"""A boot of 32-bit arm with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

from pathlib import Path

import firstlight
from busy_host import host_under_load
from equal_boots import assert_equal, assert_undisturbed
from firstlight.bundle.processes_missing import processes_missing
from firstlight.recipe.options import RecordOptions
from other_guests import assert_as_long, assert_minimal_guest_came_up, assert_profile_is_sound, boots_of

pytestmark = boots_of("armhf")


def test_the_profile_is_sound_complete_and_equal_each_time_and_changes_nothing(tmp_path: Path) -> None:
    boot = firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="armhf"))
    with host_under_load():
        firstlight.record_with(RecordOptions(tmp_path / "b.boot", arch="armhf"))
    plain = firstlight.record_with(RecordOptions(tmp_path / "plain.boot", arch="armhf", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    assert_minimal_guest_came_up(plain, "armv7l", b"ttyAMA0")
    assert plain.marks()["mark"].to_list() == ["power_on", "ready"]
    # The counter that user mode may read has a period of 16 ns.
    assert_as_long(boot, plain, 16)
    marks = assert_profile_is_sound(boot)
    assert boot.manifest.invariants["registers_confirmed"].model_dump()["confirmed"] > 0
    # The kernel unpacks itself.
    assert marks[:4] == ["power_on", "decompression_start", "kernel_entry", "kernel_start"]
    table = boot.functions()
    functions = dict(table.select("function", "count").iter_rows())
    assert functions["start_kernel"] == 1
    assert functions["__irq_svc"] > 0
    assert functions["do_vfp"] == functions["vfp_support_entry"] > 0
    assert {"syscall", "interrupt", "exception", "decompressor", "user"} <= set(table["kind"])
    assert table["self_instructions"].sum() == boot.manifest.totals.instructions
    assert processes_missing(boot.manifest) is not None

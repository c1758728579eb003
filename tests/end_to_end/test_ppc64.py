"""A boot of ppc64le with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

from pathlib import Path

import firstlight
from busy_host import host_under_load
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.bundle.processes_missing import processes_missing
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from other_guests import (
    assert_as_long,
    assert_functions_of_a_module_have_names,
    assert_minimal_guest_came_up,
    assert_profile_is_sound,
    boots_of,
)

pytestmark = boots_of("ppc64el")


def test_the_profile_is_sound_complete_and_equal_each_time_and_changes_nothing(tmp_path: Path) -> None:
    boot = firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="ppc64el"))
    with host_under_load():
        firstlight.record_with(RecordOptions(tmp_path / "b.boot", arch="ppc64el"))
    plain = firstlight.record_with(RecordOptions(tmp_path / "plain.boot", arch="ppc64el", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    assert_minimal_guest_came_up(plain, "ppc64le", b"SLOF")
    assert plain.marks()["mark"].to_list() == ["power_on", "ready"]
    # The time base that user mode may read counts 512 million times a second.
    assert_as_long(boot, plain, 2)
    marks = assert_profile_is_sound(boot)
    assert boot.manifest.invariants["registers_confirmed"].model_dump()["confirmed"] > 0
    # SLOF runs before the kernel.
    assert marks[:3] == ["power_on", "kernel_entry", "kernel_start"]
    table = boot.functions()
    functions = dict(table.select("function", "count").iter_rows())
    # The kernel asks the firmware, copies itself, and goes on in the copy.
    assert functions["prom_init"] == functions["early_setup"] == functions["start_kernel"] == 1
    assert functions["copy_and_flush"] >= 2
    assert functions["decrementer_common_virt"] > 0
    assert functions["_switch"] == functions["__switch_to"] > 0
    # A timer's interrupt serves the timer, or is masked; then it may be the watchdog's.
    nodes = dict(boot.table("calls").select("node", "function").iter_rows())
    entered = boot.table("calls").select("parent", "function").iter_rows()
    served = {function for parent, function in entered if nodes.get(parent) == "decrementer_common_virt"}
    assert "timer_interrupt" in served
    assert served <= {
        "timer_interrupt",
        "soft_nmi_interrupt",
        "interrupt_exit_kernel_prepare",
        "interrupt_exit_user_prepare",
    }
    assert {"syscall", "interrupt", "exception", "firmware", "user"} <= set(table["kind"])
    assert table["self_instructions"].sum() == boot.manifest.totals.instructions
    assert processes_missing(boot.manifest) is not None
    assert_lines_have_their_times(boot)


def assert_lines_have_their_times(boot: Boot) -> None:
    """Lines of the firmware and of the kernel have the times at which the hypervisor was called for them."""
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    lines = boot.log().select("time_ns", "text").rows()
    times = [time for time, _ in lines]
    assert times == sorted(times)
    assert len(set(times)) > len(times) // 2
    (firmware,) = [time for time, text in lines if 'Press "s" to enter Open Firmware' in text]
    (kernel,) = [time for time, text in lines if text.startswith("Preparing to boot Linux version")]
    (ready,) = [time for time, text in lines if "firstlight: ready" in text]
    assert 0 < firmware < marks["kernel_entry"] < kernel < marks["kernel_start"] < marks["guest_start"] < ready


def test_functions_of_modules_are_followed_by_their_names_from_both_entries(tmp_path: Path) -> None:
    modules = default_kernel(architecture_of("ppc64le")).modules
    assert modules is not None
    # The kernel calls the global entry, the module its own function's local one.
    assert_functions_of_a_module_have_names(RecordOptions(tmp_path / "a.boot", arch="ppc64el"), modules)

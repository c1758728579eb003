"""A boot of mips64el with a profile: sound, complete, equal each time, and nothing that the guest sees is changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import firstlight
from busy_host import host_under_load
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.audit.boot import audit
from firstlight.bundle.processes_missing import processes_missing
from firstlight.errors import UsageError
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

pytestmark = boots_of("mips64el")

# This kernel asks its real-time clock again and again for one second, which takes an eighth of the turns then.
OPTIONS = RecordOptions(Path("a.boot"), arch="mips64el", shift=3)


def test_the_profile_is_sound_complete_and_equal_each_time_and_changes_nothing(tmp_path: Path) -> None:
    boot = firstlight.record_with(replace(OPTIONS, output=tmp_path / "a.boot"))
    with host_under_load():
        firstlight.record_with(replace(OPTIONS, output=tmp_path / "b.boot"))
    plain = firstlight.record_with(replace(OPTIONS, output=tmp_path / "plain.boot", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    assert_minimal_guest_came_up(plain, "mips64", b"MIPS: machine is mti,malta")
    assert plain.marks()["mark"].to_list() == ["power_on", "ready"]
    # The counter that user mode may read has a period of 6.25 ns.
    assert_as_long(boot, plain, 7)
    marks = assert_profile_is_sound(boot)
    assert boot.manifest.invariants["registers_confirmed"].model_dump()["confirmed"] > 0
    # The kernel unpacks itself.
    assert marks[:4] == ["power_on", "decompression_start", "kernel_entry", "kernel_start"]
    table = boot.functions()
    functions = dict(table.select("function", "count").iter_rows())
    assert functions["kernel_entry"] == functions["start_kernel"] == 1
    # The code of a refill is in no list of symbols, and is generated while the kernel starts.
    assert min(functions[name] for name in ("handle_int", "handle_sys", "handle_tlbl", "tlb_refill")) > 0
    assert functions["resume"] == boot.manifest.invariants["tasks_confirmed"].model_dump()["switches"]
    assert {"syscall", "interrupt", "exception", "decompressor", "firmware", "user"} <= set(table["kind"])
    assert table["self_instructions"].sum() == boot.manifest.totals.instructions
    assert processes_missing(boot.manifest) is not None
    assert_entries_serve(boot)
    assert_lines_have_their_times(boot)
    with pytest.raises(UsageError, match="does not know the processor of this guest, mips64el"):
        audit(one)


def assert_entries_serve(boot: Boot) -> None:
    """Each entry calls what serves it, and a refill calls nothing."""
    rows = boot.table("calls").select("node", "parent", "function").rows()
    names = {node: function for node, _, function in rows}
    called: dict[str, set[str]] = {}
    for _, parent, function in rows:
        called.setdefault(names.get(parent, ""), set()).add(function)
    assert "plat_irq_dispatch" in called["handle_int"]
    assert "do_page_fault" in called["handle_tlbl"]
    assert "sys_execve" in called["handle_sys"]
    assert "tlb_refill" not in called


def assert_lines_have_their_times(boot: Boot) -> None:
    """Lines of the early console and of the console have the times at which their first byte was written."""
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    lines = boot.log().select("time_ns", "text").rows()
    times = [time for time, _ in lines]
    assert times == sorted(times)
    assert len(set(times)) == len(times)
    (first,) = [time for time, text in lines if "Linux version" in text]
    (ready,) = [time for time, text in lines if "firstlight: ready" in text]
    assert marks["kernel_start"] < first < marks["guest_start"] < ready


def test_functions_of_modules_are_followed_by_their_names(tmp_path: Path) -> None:
    # The kernel's release is compressed in its file, so its modules are looked for beside it.
    (modules,) = default_kernel(architecture_of("mips64el")).path.parents[1].glob("lib/modules/*")
    assert_functions_of_a_module_have_names(replace(OPTIONS, output=tmp_path / "a.boot"), modules)

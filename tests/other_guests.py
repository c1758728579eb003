"""Guests of other architectures than the host's: what their tests need, and what holds for each of them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.api import Boot
from firstlight.assets import asset_path
from firstlight.bundle.processes_missing import processes_missing
from firstlight.errors import LabError
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.newc import Archive
from firstlight.recipe.isa import chosen_architecture
from firstlight.recipe.options import RecordOptions

#: A command of the guest: four processes that end with 0, 1, 3 and 7.
SCRIPT = "echo hello > /tmp/words; cat /tmp/words; stat /tmp/no/such; (exit 3); sh -c 'exit 7'; true"


def lacking(name: str) -> str | None:
    """What this machine lacks to boot guests of an architecture, by either of its names; none where it can."""
    architecture = chosen_architecture(name)
    if shutil.which(architecture.qemu_binary) is None:
        return f"QEMU for {name} is not installed"
    try:
        asset_path(architecture.helper_asset)
    except LabError:
        return f"the helper of guests on {name} is not built"
    return None


def boots_of(name: str) -> list[pytest.MarkDecorator]:
    """The marks of tests that boot guests of an architecture."""
    why = lacking(name)
    return [pytest.mark.boot, pytest.mark.skipif(why is not None, reason=why or "")]


def assert_all_hold(boot: Boot) -> None:
    """Every invariant of the recording holds."""
    assert {name for name, invariant in boot.manifest.invariants.items() if not invariant.holds} == set()


def assert_as_long(boot: Boot, other: Boot, period_ns: int) -> None:
    """Two boots took as long, up to the period of the clock that the guest reads."""
    one, two = boot.manifest.totals.virtual_ns, other.manifest.totals.virtual_ns
    assert one is not None
    assert two is not None
    assert abs(one - two) <= period_ns


def assert_minimal_guest_came_up(boot: Boot, machine: str, shown: bytes) -> None:
    """Check the machine that the guest reports, a line of its console, and that nothing is missing."""
    assert boot.manifest.mode == "exact"
    assert boot.manifest.completeness.complete
    assert dict(boot.facts().select("fact", "value").iter_rows())["kernel.machine"] == machine
    console = (boot.directory / "raw/console.log").read_bytes()
    assert shown in console
    # The seeds in the device tree are fixed, and there from the start.
    assert b"[    0.000000] random: crng init done" in console
    assert b"firstlight: ready" in console


def assert_profile_is_sound(boot: Boot) -> list[str]:
    """Every invariant holds, nearly each return has its call, and all levels of initcalls are there.

    :returns: the marks, in the order of time.
    """
    assert_all_hold(boot)
    matched = boot.manifest.invariants["returns_matched"].model_dump()
    assert matched["value"] * 100_000 < matched["returns"]
    marks = boot.marks()["mark"].to_list()
    levels = "early pure core postcore arch subsys fs rootfs device late".split()
    assert [mark.removeprefix("initcall_") for mark in marks if mark.startswith("initcall_")] == levels
    assert marks[-3:] == ["user_start", "guest_start", "ready"]
    # Threads of the kernel, and the one that idles, never reach user mode.
    reached = boot.table("threads").filter(pl.col("user_start_ns").is_not_null())
    assert set(reached["kind"]) == {"user"}
    assert reached["user_instructions"].min() > 0  # type: ignore[operator]
    (run_init,) = boot.marks().filter(mark="run_init")["time_ns"]
    assert reached["user_start_ns"].min() > run_init
    return marks


def assert_functions_of_a_module_have_names(options: RecordOptions, modules: Path) -> None:
    """A guest loads the module `loop`, whose functions are in the tree below their callers.

    :param options: of the guest, without its initramfs; that is written beside the boot.
    :param modules: the directory of the kernel's modules.
    """
    found = list(modules.glob("kernel/drivers/block/loop.ko"))
    if not found:
        pytest.skip("the distribution's kernel has no module `loop`, or its modules are compressed")
    script = b"#!/busybox sh\n/busybox insmod /loop.ko\n/busybox echo the module is up\n/busybox sleep 100\n"
    archive = Archive()
    archive.character_device("dev/console", 5, 1)
    archive.file("busybox", static_busybox(chosen_architecture(options.arch)).read_bytes(), 0o755)
    archive.file("loop.ko", found[0].read_bytes())
    archive.file("init", script, 0o755)
    initramfs = options.output.with_suffix(".cpio")
    initramfs.write_bytes(archive.bytes())
    boot = firstlight.record_with(replace(options, initrd=initramfs, ready="the module is up"))
    assert_all_hold(boot)
    calls = boot.table("calls").select("node", "parent", "function", "module").rows()
    functions = {node: function for node, _, function, _ in calls}
    callers = {function: functions[parent] for _, parent, function, module in calls if module == "loop"}
    assert callers["loop_init"] == "do_one_initcall"
    assert callers["loop_add"] == "loop_init"


def assert_ran_script(boot: Boot) -> pl.DataFrame:
    """The processes of a boot and their system calls are those of :data:`SCRIPT`.

    :returns: the system calls of `cat`.
    """
    assert processes_missing(boot.manifest) is None
    assert_all_hold(boot)
    processes = boot.processes()
    (parent,) = processes.filter(pl.col("arguments") == "cat /tmp/words")["parent"]
    children = processes.filter(pl.col("parent") == parent)
    assert children["name"].to_list() == ["cat", "stat", "sh", "sh"]
    assert [status >> 8 for status in children["status"].to_list()] == [0, 1, 3, 7]
    calls = boot.system_calls().filter(pl.col("pid") == children["pid"][0])
    (opened,) = calls.filter(pl.col("path") == "/tmp/words", pl.col("name") == "openat")["result"]
    assert opened >= 3
    failed = boot.system_calls().filter(pl.col("path") == "/tmp/no/such")
    assert set(failed["result"]) == {-2}
    return calls

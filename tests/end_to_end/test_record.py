"""What a recording of the default recipe holds."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.analysis.devices import devices
from firstlight.analysis.initcalls import initcalls
from firstlight.bundle.manifest import BootState
from firstlight.cache import file_digest
from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.rootfs.image import root_image
from firstlight.lab.run.record import planned_command, record
from firstlight.recipe.options import RecordOptions
from short_boots import short

pytestmark = pytest.mark.boot


def test_the_manifest_says_what_was_booted_and_that_all_is_there(default_boot: Path) -> None:
    manifest = firstlight.open(default_boot).manifest
    assert (manifest.mode, manifest.status, manifest.failure) == ("exact", "complete", None)
    assert manifest.completeness.complete, manifest.completeness.missing
    assert manifest.clock.model_dump() == {"kind": "virtual", "unit": "ns", "origin": "power_on", "icount_shift": 0}
    for name in ("kernel", "initrd", "qemu", "firmware", "plugin", "guest", "symbols"):
        digest = manifest.digests[name]
        assert digest is not None
        assert len(digest) == 64
    assert manifest.reproduce.startswith("firstlight record ")
    for name, table in manifest.tables.items():
        path = default_boot / f"{name}.parquet"
        assert table.sha256 == file_digest(path)
        assert table.rows == pl.read_parquet(path).height


def test_every_invariant_of_the_profile_holds(default_boot: Path) -> None:
    invariants = firstlight.open(default_boot).manifest.invariants
    assert {
        "self_sums_to_executed",
        "phases_sum_to_tree",
        "stacks_accounted",
        "returns_matched",
        "entries_counted",
        "initcalls_entered",
    } <= set(invariants)
    broken = {name: invariant for name, invariant in invariants.items() if not invariant.holds}
    assert broken == {}


def test_slices_of_time_are_cut_on_the_grid_and_sum_to_the_tree_and_its_phases(default_boot: Path) -> None:
    boot = firstlight.open(default_boot)
    slices, calls = boot.slices(), boot.calls(raw_names=True)
    grid = set(range(10_000_000, boot.manifest.totals.virtual_ns or 0, 10_000_000))
    assert grid <= set(slices["end_ns"])
    assert set(slices["end_ns"]) - grid <= {*boot.phases()["end_ns"], boot.manifest.totals.virtual_ns}
    sums = boot.slice_calls(raw_names=True).group_by("node").agg(pl.col("calls", "self_instructions").sum())
    did = calls.filter((pl.col("calls") > 0) | (pl.col("self_instructions") > 0))
    assert sums.sort("node").equals(did.select("node", "calls", "self_instructions"))
    for phase, start, end in boot.phases().select("phase", "start_ns", "end_ns").iter_rows():
        if end > start:
            between = boot.functions(between=(start, end)).drop("doubtful_calls")
            assert between.equals(boot.functions(phase=phase).drop("doubtful_calls")), phase


def test_the_threads_of_each_slice_sum_to_the_slice_from_the_kernel_on(default_boot: Path) -> None:
    boot = firstlight.open(default_boot)
    boot.check_sums()
    modes = ("user_instructions", "kernel_instructions", "interrupt_instructions")
    sums = boot.table("slice_threads").group_by("slice").agg(
        made=pl.sum_horizontal(modes).sum(), idled=pl.col("idle_ns").sum()
    )  # fmt: skip
    slices = boot.slices().join(sums, on="slice", how="left").with_columns(pl.col("made", "idled").fill_null(0))
    kernel = slices.filter(pl.col("start_ns") >= boot.runs()["start_ns"][0])
    assert kernel.height > 100
    assert kernel["instructions"].to_list() == kernel["made"].to_list()
    assert kernel["idle_ns"].to_list() == kernel["idled"].to_list()


def test_first_instructions_were_counted_by_address_and_agree_with_the_tree(default_boot: Path) -> None:
    boot = firstlight.open(default_boot)
    counted = boot.manifest.invariants["entries_counted"].model_extra or {}
    entered = boot.calls().filter(pl.col("kind").is_in(["function", "task", "interrupt", "exception", "syscall"]))
    # Entry code has labels that are called, and modules have functions: neither is counted by address.
    assert 0.99 < counted["executed"] / entered["calls"].sum() <= 1.001


def test_self_sums_to_what_was_executed_and_time_to_what_passed(default_boot: Path) -> None:
    boot = firstlight.open(default_boot)
    totals = boot.manifest.totals
    calls = boot.calls()
    assert calls["self_instructions"].sum() == totals.instructions
    assert calls["self_ns"].sum() == totals.virtual_ns
    assert totals.instructions is not None
    assert totals.idle_ns is not None
    assert totals.instructions + totals.idle_ns == totals.virtual_ns  # one instruction takes 1 ns at shift 0


def test_phases_partition_the_boot_from_power_on_to_ready(default_boot: Path) -> None:
    boot = firstlight.open(default_boot)
    phases = pl.read_parquet(default_boot / "spans.parquet").filter(pl.col("kind") == "phase")
    assert phases["start_ns"][0] == 0
    assert phases["start_ns"].to_list()[1:] == phases["end_ns"].to_list()[:-1]
    assert phases["end_ns"][-1] == boot.manifest.totals.virtual_ns
    assert phases["instructions"].sum() == boot.manifest.totals.instructions


def test_the_marks_come_in_the_order_of_a_boot(default_boot: Path) -> None:
    marks = firstlight.open(default_boot).marks()["mark"].to_list()
    expected = [
        "power_on",
        "decompression_start",
        "kernel_entry",
        "kernel_start",
        "rest_init",
        "kernel_init",
        "initcall_early",
        "smp_init",
        "initcalls",
        "initcall_core",
        "initcall_device",
        "initcall_late",
        "run_init",
        "user_start",
        "ready",
    ]
    assert [mark for mark in marks if mark in expected] == expected
    assert marks[-1] == "ready"


def test_the_guest_reports_its_facts(default_boot: Path) -> None:
    facts = dict(firstlight.open(default_boot).facts().iter_rows())
    assert facts["kernel.machine"] == "x86_64"
    assert facts["kernel.command_line"].startswith("console=ttyS0 nokaslr")
    assert int(facts["kernel.lpj"]) > 0
    assert int(facts["memory.total_bytes"]) > 1 << 28
    assert facts["clocksource.current"]


def test_console_lines_have_the_time_of_their_first_byte(default_boot: Path) -> None:
    boot = firstlight.open(default_boot)
    log = boot.log()
    assert "Linux version" in log["text"][0]
    times = log["time_ns"].drop_nulls()
    assert times.is_sorted()
    assert times.len() == log.height
    assert times[-1] <= (boot.manifest.totals.virtual_ns or 0)


def test_what_the_kernel_says_of_itself_is_in_the_tables(boots: Path) -> None:
    # The lines of initcall_debug are below the console's level: they stand in the ring that the guest reports.
    record(short(output=boots / "told.boot", append="initcall_debug"))
    boot = firstlight.open(boots / "told.boot")
    calls = initcalls(boot)
    assert calls["source"].unique().to_list() == ["profile"]
    assert calls["returned"].null_count() < calls.height / 10
    found = devices(boot)
    assert found.height > 3
    assert found["result"].null_count() == 0
    end = boot.manifest.totals.virtual_ns
    assert end is not None
    assert found.filter((pl.col("start_ns") < 0) | (pl.col("end_ns") > end)).is_empty()


def test_without_profile_the_bundle_is_whole_and_takes_as_long(default_boot: Path, plain_boot: Path) -> None:
    boot = firstlight.open(plain_boot)
    assert boot.manifest.clock.origin == "power_on"
    # To the nanosecond: the profile is taken from outside, and the guest's own reading says so.
    assert boot.manifest.totals.virtual_ns == firstlight.open(default_boot).manifest.totals.virtual_ns
    assert boot.manifest.invariants == {}
    assert boot.marks()["mark"].to_list() == ["power_on", "ready"]
    assert boot.calls().height == 0
    assert "Linux version" in boot.log()["text"][0]


def test_a_console_line_may_end_the_boot(boots: Path) -> None:
    bundle = record(short(output=boots / "line.boot", ready=r"Freeing unused kernel image .* memory"))
    boot = firstlight.open(bundle)
    assert boot.marks()["source"][-1] == "console"
    assert "user_start" not in boot.marks()["mark"].to_list()
    assert "Freeing unused kernel image" in boot.log()["text"][-1]


def test_a_dry_run_prints_what_would_run_and_writes_nothing(tmp_path: Path) -> None:
    options = RecordOptions(output=tmp_path / "a.boot", append="quiet 'x y'")
    words = shlex.split(planned_command(options))
    assert words[0].endswith("qemu-system-x86_64")
    assert words[words.index("-append") + 1] == "console=ttyS0 nokaslr norandmaps quiet 'x y'"
    assert list(tmp_path.iterdir()) == []


def test_of_a_kernel_that_was_never_asked_a_dry_run_boots_nothing_and_a_relative_path_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(default_kernel().path, tmp_path / "vmlinuz")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    command = planned_command(RecordOptions(output=Path("a.boot"), kernel=Path("vmlinuz")))
    assert f"-kernel {tmp_path / 'vmlinuz'} " in command
    assert not (tmp_path / "cache/firstlight/symbols").exists()
    with pytest.raises(LabError, match=r"did not print its symbols: not ready after 0\.5 s") as caught:
        record(RecordOptions(output=Path("a.boot"), kernel=Path("vmlinuz"), timeout_wall_s=0.5))
    assert "--timeout" in str(caught.value.hint)
    boot = firstlight.open(record(short(output=Path("a.boot"), kernel=Path("vmlinuz"))))
    assert boot.manifest.status == BootState.COMPLETE


def test_a_live_boot_is_stamped_by_the_host_and_says_that_it_is_live(boots: Path) -> None:
    bundle = record(short(output=boots / "live.boot", live=True))
    boot = firstlight.open(bundle)
    assert (boot.manifest.mode, boot.manifest.clock.kind) == ("live", "host")
    marks = boot.marks()
    assert marks["time_ns"].is_sorted()
    assert {"power_on", "first_console_byte", "kernel_start", "user_start", "ready"} == set(marks["mark"])
    assert boot.log()["time_ns"].null_count() == 0


def test_a_root_file_system_named_from_here_is_found_from_where_qemu_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init = tmp_path / "tree/sbin/init"
    init.parent.mkdir(parents=True)
    init.write_text("#!/bin/sh\n")
    init.chmod(0o755)
    shutil.copy(root_image(tmp_path / "tree").path, tmp_path / "root.img")
    monkeypatch.chdir(tmp_path)
    command = planned_command(RecordOptions(output=Path("a.boot"), rootfs="root.img", ready="up"))
    assert f"mem-path={tmp_path / 'root.img'}" in command

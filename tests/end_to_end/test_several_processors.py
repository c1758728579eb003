"""Guests with several processors: equal each time and sound where that is offered, and rejected where it is not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import firstlight
from busy_host import host_under_load
from equal_boots import OF_GUEST, assert_equal, assert_undisturbed
from firstlight.assets import asset_path
from firstlight.errors import LabError, UsageError
from firstlight.lab.qemu.emulator import find_qemu
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from other_boots import other_qemu

pytestmark = pytest.mark.boot

CPUS = {"aarch64": 4, "riscv64": 2, "x86_64": 2}


def qemu_for(name: str) -> Path:
    """A QEMU in which several processors of this architecture repeat: the second one, or the installed one."""
    architecture = architecture_of(name)
    try:
        asset_path(architecture.helper_asset)
    except LabError as error:
        pytest.skip(str(error))
    since = architecture.several_processors_since
    for path in (other_qemu(architecture.qemu_binary), shutil.which(architecture.qemu_binary)):
        if path is not None and since is not None and find_qemu(architecture, Path(path)).version[:2] >= since:
            return Path(path)
    pytest.skip(f"there is no QEMU in which several processors of {name} repeat: see make/other-qemu.sh")


@pytest.mark.parametrize("name", sorted(CPUS))
def test_the_profile_is_sound_and_equal_each_time_and_changes_nothing(name: str, tmp_path: Path) -> None:
    qemu, cpus = qemu_for(name), CPUS[name]
    one, other, plain = (tmp_path / f"{each}.boot" for each in ("a", "b", "plain"))
    options = RecordOptions(one, arch=name, cpus=cpus, qemu=qemu)
    boot = firstlight.record_with(options)
    with host_under_load():
        firstlight.record_with(replace(options, output=other))
    firstlight.record_with(replace(options, output=plain, profile=False))
    assert_equal(one, other)
    assert_undisturbed(one, plain)
    assert boot.manifest.mode == "exact"
    assert boot.manifest.completeness.complete
    assert {key for key, invariant in boot.manifest.invariants.items() if not invariant.holds} == set()
    assert f"Brought up 1 node, {cpus} CPUs" in (one / OF_GUEST[0]).read_text()
    assert f"--cpus {cpus}" in boot.manifest.reproduce
    runs = boot.table("runs")
    by_cpu = runs.group_by("cpu").agg(pl.col("instructions").sum()).sort("cpu")
    assert by_cpu["cpu"].to_list() == list(range(cpus))
    assert all(instructions > 0 for instructions in by_cpu["instructions"])
    assert by_cpu["instructions"].sum() == boot.manifest.invariants["runs_partition_the_kernel"].value
    # Each processor idles in a thread of its own, and on no other.
    idle = boot.table("threads").filter(kind="idle")
    assert idle["name"].to_list() == [f"swapper/{cpu}" for cpu in range(cpus)]
    where = runs.join(idle.select("thread", "name"), on="thread").select("cpu", "name").unique().sort("cpu")
    assert where["name"].to_list() == idle["name"].to_list()
    functions = dict(boot.functions().select("function", "count").iter_rows())
    assert functions["start_kernel"] == 1
    assert functions["cpu_startup_entry"] == cpus


def test_tasks_move_between_processors(tmp_path: Path) -> None:
    qemu = qemu_for("aarch64")
    options = RecordOptions(tmp_path / "a.boot", arch="aarch64", cpus=2, qemu=qemu, user_functions=True)
    boot = firstlight.record_with(options)
    assert {key for key, invariant in boot.manifest.invariants.items() if not invariant.holds} == set()
    threads = boot.table("runs").group_by("thread").agg(pl.col("cpu").n_unique())
    assert threads["cpu"].max() == 2
    (first,) = boot.table("processes").filter(pid=1)["user_instructions"]
    assert first > 0
    functions = boot.table("user_functions")
    assert functions.filter(pl.col("kind") == "file")["self_instructions"].sum() > 0


@pytest.mark.parametrize("name", ["riscv64", "x86_64"])
def test_a_qemu_in_which_it_hangs_is_rejected(name: str, tmp_path: Path) -> None:
    architecture = architecture_of(name)
    path = shutil.which(architecture.qemu_binary)
    if path is None or find_qemu(architecture, Path(path)).version[:2] >= (10, 0):
        pytest.skip("the installed QEMU is none of these")
    with pytest.raises(UsageError, match=r"breaks exactness: a guest of .* hangs") as caught:
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch=name, cpus=2, profile=False))
    assert "10.0" in (caught.value.hint or "")


def test_a_boot_loader_has_one_processor(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`--loader` cannot be combined with `--cpus`"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", cpus=2, loader="ovmf"))


@pytest.mark.parametrize("cpus", [0, -1, 65])
def test_a_number_out_of_range_is_rejected(cpus: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="out of range"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", cpus=cpus, profile=False))

"""A riscv64 boot is equal each time, on a loaded host too, with the minimal guest and the distribution's kernel."""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path

import pytest

import firstlight
from conftest import host_under_load
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


def test_the_minimal_guest_is_equal_each_time(tmp_path: Path) -> None:
    options = RecordOptions(tmp_path / "a.boot", arch="riscv64", profile=False)
    first = firstlight.record_with(options)
    with host_under_load():
        second = firstlight.record_with(RecordOptions(tmp_path / "b.boot", arch="riscv64", profile=False))
    assert first.manifest.mode == "exact"
    assert first.manifest.completeness.complete
    facts = dict(first.facts().select("fact", "value").iter_rows())
    assert facts["kernel.machine"] == "riscv64"
    assert first.marks()["mark"].to_list() == ["power_on", "ready"]
    (ready,) = first.marks().filter(mark="ready")["time_ns"]
    assert ready == second.marks().filter(mark="ready")["time_ns"].item()
    # The counter that user mode may read has a period of 100 ns.
    assert ready % 100 == 0
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    files = [file.name for file in one.glob("*.parquet")]
    files += ["manifest.json", "raw/console.log", "raw/report.bin"]
    assert filecmp.cmpfiles(one, other, files, shallow=False) == (files, [], [])
    console = (one / "raw/console.log").read_bytes()
    assert b"OpenSBI" in console
    assert b"[    0.000000] random: crng init done" in console
    assert b"firstlight: ready" in console
    assert first.manifest.inputs["firmware"] is not None


def test_a_kernel_of_another_architecture_is_named(tmp_path: Path) -> None:
    kernel = tmp_path / "Image"
    kernel.write_bytes(bytes(0x38) + b"RSC\x05" + bytes(100))
    with pytest.raises(LabError, match="this is a kernel for riscv64, not for aarch64"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", kernel=kernel, arch="arm64"))
    kernel.write_bytes(bytes(0x38) + b"ARM\x64" + bytes(100))
    with pytest.raises(LabError, match="this is a kernel for aarch64, not for riscv64"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", kernel=kernel, arch="riscv64"))

"""Boots with a device tree of the user are exact, and the kernel runs by it."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import firstlight
from device_trees import flatten
from equal_boots import assert_equal
from firstlight.assets import asset_path
from firstlight.errors import LabError, UsageError
from firstlight.lab.kernel.device_tree import Node, read_tree
from firstlight.lab.qemu.device_tree import own_tree
from firstlight.lab.qemu.emulator import find_qemu
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions

pytestmark = pytest.mark.boot


def is_missing(architecture: str) -> bool:
    """Whether this machine cannot boot guests of an architecture."""
    known = architecture_of(architecture)
    try:
        return shutil.which(known.qemu_binary) is None or not asset_path(known.helper_asset).is_file()
    except LabError:
        return True


def machine_tree(architecture: str) -> Node:
    """The tree of the default machine."""
    known = architecture_of(architecture)
    return read_tree(own_tree(find_qemu(known), known.machine, known.cpu, 512 << 20))


@pytest.mark.parametrize("architecture", ["aarch64", "riscv64", "arm"])
def test_the_kernel_runs_by_the_given_tree_and_equally_each_time(tmp_path: Path, architecture: str) -> None:
    if is_missing(architecture):
        pytest.skip(f"QEMU or the helper for {architecture} is missing")
    known = architecture_of(architecture)
    root = machine_tree(architecture)
    root.properties["model"] = b"Acme Gadget\0"
    root.properties["compatible"] = b"acme,gadget\0" + root.properties["compatible"]
    dtb = tmp_path / "board.dtb"
    dtb.write_bytes(flatten(root))
    boots = [
        firstlight.record_with(
            RecordOptions(tmp_path / f"{name}.boot", arch=known.distribution_name, dtb=dtb, profile=known.has_profile)
        )
        for name in ("a", "b")
    ]
    assert_equal(tmp_path / "a.boot", tmp_path / "b.boot")
    first = boots[0]
    assert first.manifest.completeness.complete
    assert first.manifest.digests["device tree"]
    assert "ready" in first.marks()["mark"].to_list()
    model = first.log().filter(pl.col("text").str.contains("Machine model: Acme Gadget"))
    assert model.height == 1
    assert f"--dtb {dtb}" in first.manifest.reproduce


@pytest.mark.skipif(is_missing("aarch64"), reason="QEMU for arm64 is missing")
def test_a_tree_without_the_console_is_not_booted(tmp_path: Path) -> None:
    root = machine_tree("aarch64")
    del root.children["pl011@9000000"]
    dtb = tmp_path / "board.dtb"
    dtb.write_bytes(flatten(root))
    with pytest.raises(UsageError, match=r"has no serial port \(`arm,pl011` at 0x9000000\) of QEMU's machine"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="arm64", dtb=dtb))
    assert not (tmp_path / "a.boot").exists()

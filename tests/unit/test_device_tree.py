"""A device tree with a region for an image: all else in it stays as it was."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.qemu.command_line import RunFiles, image_region, qemu_arguments
from firstlight.lab.qemu.device_tree import Region, tree_with_region, with_region
from firstlight.lab.qemu.emulator import find_qemu
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.recipe import Files, Recipe

TEXTS = b"#address-cells\0model\0"


def cell(value: int) -> bytes:
    return struct.pack(">I", value)


def tree(nodes: bytes) -> bytes:
    """A tree with a reserved area."""
    reserved = struct.pack(">QQQQ", 0x4000_0000, 0x1000, 0, 0)
    at = 40 + len(reserved)
    header = (0xD00DFEED, at + len(nodes) + len(TEXTS), at, at + len(nodes), 40, 17, 16, 0, len(TEXTS), len(nodes))
    return struct.pack(">10I", *header) + reserved + nodes + TEXTS


SMALL = tree(
    cell(1) + bytes(4)
    + cell(3) + cell(4) + cell(0) + cell(2)
    + cell(3) + cell(5) + cell(15) + b"toy\0\0\0\0\0"
    + cell(4)
    + cell(1) + b"cpus\0\0\0\0" + cell(2)
    + cell(2) + cell(9)
)  # fmt: skip


def test_the_node_is_the_last_of_the_root_and_all_else_is_as_before() -> None:
    made = with_region(SMALL, Region(0x6000_0000, 3 << 20))
    _, total, at, texts_at, reserved_at, *_, texts_size, size = struct.unpack(">10I", made[:40])
    assert total == len(made)
    assert made[reserved_at : reserved_at + 32] == SMALL[40:72]
    before = SMALL[72 : len(SMALL) - len(TEXTS)]
    nodes, texts = made[at : at + size], made[texts_at : texts_at + texts_size]
    # All but the end of the root and of the tree.
    assert nodes.startswith(before[:-8])
    assert nodes.endswith(cell(2) + cell(2) + cell(9))
    assert b"pmem@60000000\0" in nodes
    assert struct.pack(">QQ", 0x6000_0000, 3 << 20) in nodes
    assert texts == TEXTS + b"compatible\0reg\0volatile\0"


@pytest.mark.parametrize("damaged", [b"", SMALL[:30], b"\0" * 100, tree(cell(7) + bytes(8))])
def test_what_is_no_tree_is_refused(damaged: bytes) -> None:
    with pytest.raises(LabError, match="not a device tree"):
        with_region(damaged, Region(0x6000_0000, 4096))


def test_the_image_lies_behind_the_guests_memory(tmp_path: Path) -> None:
    arm = architecture_of("aarch64")
    recipe = Recipe(
        architecture=arm.name,
        machine=arm.machine,
        cpu=arm.cpu,
        memory=1 << 30,
        command_line="mem=1024M",
        image_size=(5 << 20) + 4096,
        chosen=Choices(),
        files=Files(
            kernel=tmp_path / "Image",
            image=tmp_path / "root.ext4",
            device_tree=tmp_path / "region.dtb",
            qemu=Path("/usr/bin/qemu-system-aarch64"),
        ),
    )
    assert image_region(recipe) == Region(0x8000_0000, (5 << 20) + 4096)
    words = qemu_arguments(recipe, RunFiles(tmp_path))
    assert words[words.index("-m") + 1] == "1030M"
    assert words[words.index("-dtb") + 1] == str(tmp_path / "region.dtb")
    assert f"loader,file={tmp_path / 'root.ext4'},addr=0x80000000,force-raw=on" in words
    assert "nvdimm" not in " ".join(words)


@pytest.mark.skipif(shutil.which("qemu-system-aarch64") is None, reason="QEMU for arm64 is not installed")
@pytest.mark.skipif(shutil.which("dtc") is None, reason="the compiler of device trees is not installed")
def test_the_tree_of_qemus_machine_is_one_for_other_tools_too() -> None:
    arm = architecture_of("aarch64")
    path = tree_with_region(find_qemu(arm), arm.machine, arm.cpu, 512 << 20, Region(0x6000_0000, 8 << 20))
    source = subprocess.run(["dtc", "-I", "dtb", "-O", "dts", path], capture_output=True, text=True, check=True).stdout
    assert 'compatible = "pmem-region";' in source
    assert "reg = <0x00 0x60000000 0x00 0x800000>;" in source
    assert "pl011@9000000" in source
    assert "rng-seed" in source

"""Kernels of other architectures than the one that was chosen, by the heads of their files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import firstlight
from firstlight.errors import LabError
from firstlight.recipe.options import RecordOptions


def elf_head(machine: int, address: int) -> bytes:
    """An ELF file with one part to load at an address."""
    header = struct.pack(
        "<7s9xHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, address, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, 120, 120, 0)


#: The head of a kernel's file, by the name of the architecture.
HEADS = {
    "aarch64": (0x1400_0010).to_bytes(4, "little") + bytes(0x34) + b"ARM\x64" + bytes(100),
    "arm": bytes(0x24) + bytes.fromhex("18286f01 00000000 34000000 01020304") + bytes(100),
    "mips64el": elf_head(8, 0xFFFF_FFFF_8010_0000),
    "ppc64le": elf_head(21, 0xC000_0000_0000_0000),
    "riscv64": (0x0400_006F).to_bytes(4, "little") + bytes(0x34) + b"RSC\x05" + bytes(100),
}


@pytest.mark.parametrize("chosen", HEADS)
def test_a_kernel_of_another_architecture_is_named(chosen: str, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel"
    for name, head in HEADS.items():
        if name == chosen:
            continue
        kernel.write_bytes(head)
        with pytest.raises(LabError, match=f"this is a kernel for {name}, not for {chosen}") as caught:
            firstlight.record_with(RecordOptions(tmp_path / "a.boot", kernel=kernel, arch=chosen))
        assert caught.value.hint is not None

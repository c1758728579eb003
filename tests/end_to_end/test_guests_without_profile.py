"""Boots without a profile are equal each time, on a loaded host too: the minimal guest on the distribution's kernel."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import firstlight
from busy_host import host_under_load
from equal_boots import assert_equal
from firstlight.errors import LabError
from firstlight.recipe.options import RecordOptions
from other_guests import lacking

#: By the distribution's name of the architecture: the machine's name in the guest, and what its console shows.
GUESTS = {
    "armhf": ("armv7l", b"ttyAMA0"),
    "mips64el": ("mips64", b"MIPS: machine is mti,malta"),
    "ppc64el": ("ppc64le", b"SLOF"),
    "riscv64": ("riscv64", b"OpenSBI"),
}


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


@pytest.mark.boot
@pytest.mark.parametrize("name", GUESTS)
def test_the_minimal_guest_is_equal_each_time(name: str, tmp_path: Path) -> None:
    if (why := lacking(name)) is not None:
        pytest.skip(why)
    # This kernel asks its real-time clock again and again for one second, which takes an eighth of the turns then.
    shift = 3 if name == "mips64el" else 0
    first = firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch=name, profile=False, shift=shift))
    with host_under_load():
        second = firstlight.record_with(RecordOptions(tmp_path / "b.boot", arch=name, profile=False, shift=shift))
    machine, shown = GUESTS[name]
    assert first.manifest.mode == "exact"
    assert first.manifest.completeness.complete
    facts = dict(first.facts().select("fact", "value").iter_rows())
    assert facts["kernel.machine"] == machine
    assert first.marks()["mark"].to_list() == ["power_on", "ready"]
    (ready,) = first.marks().filter(mark="ready")["time_ns"]
    assert ready == second.marks().filter(mark="ready")["time_ns"].item()
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    console = (one / "raw/console.log").read_bytes()
    assert shown in console
    # The seeds in the device tree are fixed, and there from the start.
    assert b"[    0.000000] random: crng init done" in console
    assert b"firstlight: ready" in console


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

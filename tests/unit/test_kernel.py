"""A kernel that somebody gives: recognised, or refused with what it is instead."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import open_kernel
from firstlight.lab.qemu.command_line import kernel_memory
from invented_kernel import RELEASE, bzimage


def write(folder: Path, content: bytes, name: str = "kernel") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_kernel_is_known_by_its_release_and_digest(tmp_path: Path) -> None:
    kernel = open_kernel(write(tmp_path, bzimage()))
    assert kernel.release == RELEASE
    assert len(kernel.digest) == 64
    assert (kernel.modules, kernel.config) == (None, None)


def test_what_follows_the_kernel_does_no_harm(tmp_path: Path) -> None:
    assert open_kernel(write(tmp_path, bzimage() + b"signature")).release == RELEASE


def test_a_kernel_that_does_not_say_its_version_is_one(tmp_path: Path) -> None:
    image = bytearray(bzimage())
    struct.pack_into("<H", image, 0x20E, 0)
    assert open_kernel(write(tmp_path, bytes(image))).release is None


def test_modules_and_configuration_beside_an_unpacked_package(tmp_path: Path) -> None:
    path = write(tmp_path, bzimage(), f"boot/vmlinuz-{RELEASE}")
    config = write(tmp_path, b"CONFIG_PCI=y\n", f"boot/config-{RELEASE}")
    (tmp_path / "lib/modules" / RELEASE).mkdir(parents=True)
    kernel = open_kernel(path)
    assert kernel.modules == tmp_path / "lib/modules" / RELEASE
    assert kernel.config == config


def test_a_kernel_among_its_modules(tmp_path: Path) -> None:
    path = write(tmp_path, bzimage(), f"usr/lib/modules/{RELEASE}/vmlinuz")
    config = write(tmp_path, b"", f"usr/lib/modules/{RELEASE}/config")
    kernel = open_kernel(path)
    assert kernel.modules == path.parent
    assert kernel.config == config


def test_the_configuration_of_a_build_tree(tmp_path: Path) -> None:
    path = write(tmp_path, bzimage(), "linux/arch/x86/boot/bzImage")
    config = write(tmp_path, b"", "linux/.config")
    assert open_kernel(path).config == config


ELF = b"\x7fELF\x02\x01\x01" + bytes(11)


def linked_at(address: int) -> bytes:
    """An ELF file for x86_64 with one segment."""
    header = ELF + struct.pack("<HIQQQIHHH", 0x3E, 1, address, 64, 0, 0, 64, 56, 1)
    return header.ljust(64, b"\0") + struct.pack("<IIQQQQQQ", 1, 5, 0, address, 0, 0, 0, 0)


def vmlinux(note: int = 18) -> bytes:
    """An uncompressed kernel with a note of that type: 18 is the entry of the PVH protocol."""
    address, text = 0xFFFF_FFFF_8100_0000, f"Linux version {RELEASE} (somebody) #1".encode().ljust(64, b"\0")
    said = struct.pack("<III", 4, 8, 6) + b"Xen\0" + bytes(8) + struct.pack("<III", 4, 8, note) + b"Xen\0" + bytes(8)
    header = ELF + struct.pack("<HIQQQIHHH", 0x3E, 1, 0x100_0000, 64, 0, 0, 64, 56, 2)
    body = 64 + 2 * 56
    load = struct.pack("<IIQQQQQQ", 1, 5, body, address, 0x100_0000, len(text), 0x200_0000, 0)
    notes = struct.pack("<IIQQQQQQ", 4, 4, body + len(text), address, 0, len(said), len(said), 4)
    return header.ljust(64, b"\0") + load + notes + text + said


def test_an_uncompressed_kernel_with_an_entry_for_virtual_machines_is_one(tmp_path: Path) -> None:
    config = write(tmp_path, b"CONFIG_PVH=y\n", ".config")
    kernel = open_kernel(write(tmp_path, vmlinux(), "vmlinux"))
    assert kernel.release == RELEASE
    assert kernel.is_elf
    assert kernel.config == config
    assert kernel_memory(kernel.path) == 0x300_0000
    assert not open_kernel(write(tmp_path, bzimage())).is_elf


def efi(machine: int, sign: bytes = bytes(4)) -> bytes:
    """An EFI program for a processor: the header of a PE file at 0x40."""
    return b"MZ\0\0" + sign + bytes(0x34) + struct.pack("<I4sH", 0x40, b"PE\0\0", machine) + bytes(1000)


def uimage(processor: int, kind: int) -> bytes:
    """The header of a file for U-Boot."""
    return struct.pack(">I24xBBBB32s", 0x2705_1956, 5, processor, kind, 0, b"Linux") + bytes(100)


def arm64_image(*, flags: int = 0xA) -> bytes:
    """An Image for arm64 of 8 KiB that takes 16 MiB of memory, with one section of an EFI program. Its second
    instruction jumps to its code."""
    header = struct.pack("<2sxxIQQQ24x4sI", b"MZ", 0x1400_0100, 0, 16 << 20, flags, b"ARM\x64", 0x40)
    program = struct.pack("<4sHH12xHH", b"PE\0\0", 0xAA64, 1, 0, 0)
    section = struct.pack("<16xII16x", 0x1000, 0x1000)
    return (header + program + section).ljust(0x2000, b"\0")


def test_an_image_for_arm64_selects_that_architecture_and_says_what_memory_it_takes(tmp_path: Path) -> None:
    path = write(tmp_path, arm64_image())
    assert open_kernel(path).architecture.name == "aarch64"
    assert kernel_memory(path) == 16 << 20


def riscv64_image(*, flags: int = 0) -> bytes:
    """An Image for riscv64 of 8 KiB that takes 18 MiB of memory, with one section of an EFI program."""
    # The second instruction, behind the two bytes of the sign, jumps 4096 bytes ahead.
    start = b"MZ" + (0x0000_106F).to_bytes(4, "little")
    header = struct.pack("<6s2xQQQI12x8s4sI", start, 2 << 20, 16 << 20, flags, 2, b"RISCV\0\0\0", b"RSC\x05", 0x40)
    return header + arm64_image()[0x40:]


def test_an_image_for_riscv64_selects_that_architecture_and_says_what_memory_it_takes(tmp_path: Path) -> None:
    path = write(tmp_path, riscv64_image())
    assert open_kernel(path).architecture.name == "riscv64"
    assert kernel_memory(path) == 18 << 20
    assert kernel_memory(write(tmp_path, b"no kernel")) == 0


def arm_zimage(*, order: int = 0x0403_0201) -> bytes:
    """A zImage for 32-bit arm of 8 KiB."""
    return (bytes(0x24) + struct.pack("<4I", 0x016F_2818, 0, 0x2000, order)).ljust(0x2000, b"\0")


def test_a_zimage_selects_32_bit_arm(tmp_path: Path) -> None:
    assert open_kernel(write(tmp_path, arm_zimage())).architecture.distribution_name == "armhf"


def elf_kernel(machine: int, address: int) -> bytes:
    """An ELF file of 8 KiB for a processor, with one segment that takes 16 MiB of memory."""
    header = ELF[:16] + struct.pack("<HHIQQQIHHH", 2, machine, 1, address, 64, 0, 0, 64, 56, 1)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, address, address, 0x1000, 16 << 20, 0)
    text = f"Linux version {RELEASE} (somebody) #1".encode()
    return (header.ljust(64, b"\0") + load).ljust(0x1000, b"\0") + text.ljust(0x1000, b"\0")


def test_a_vmlinux_for_ppc64le_selects_that_architecture_and_says_what_memory_it_takes(tmp_path: Path) -> None:
    kernel = open_kernel(write(tmp_path, elf_kernel(0x15, 0xC000_0000_0000_0000), "vmlinux"))
    assert (kernel.architecture.distribution_name, kernel.release, kernel.is_elf) == ("ppc64el", RELEASE, False)
    # QEMU puts it at 4 MiB.
    assert kernel_memory(kernel.path) == 20 << 20


def test_an_elf_file_of_a_kernel_for_mips64el_selects_that_architecture(tmp_path: Path) -> None:
    kernel = open_kernel(write(tmp_path, elf_kernel(8, 0xFFFF_FFFF_8010_0000), "vmlinuz"))
    assert (kernel.architecture.distribution_name, kernel.release) == ("mips64el", RELEASE)
    # Its addresses are physical ones from 0 on, with upper bits.
    assert kernel_memory(kernel.path) == 17 << 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"text\n" * 1000, "not a kernel"),
        (linked_at(0xFFFF_FFFF_8100_0000), "an uncompressed `vmlinux` without an entry for virtual machines"),
        (vmlinux()[:-10], "a truncated kernel: "),
        (vmlinux(note=17), "an uncompressed `vmlinux` without an entry for virtual machines"),
        (linked_at(0x40_0000), "a program, not a kernel"),
        (ELF + b"\x3e\x00", "a program, not a kernel"),
        (ELF + b"\xb7\x00" + bytes(100), "an ELF file for arm64"),
        (ELF + b"\x15\x00" + bytes(100), "an ELF file for ppc64le, not a kernel"),
        (ELF + b"\x15\x00", "a truncated kernel: its program headers are cut off"),
        (elf_kernel(0x15, 0x1000_0000), "an ELF file for ppc64le, not a kernel"),
        (elf_kernel(0x15, 0xC000_0000_0000_0000)[:-1], "a truncated kernel: 8191 bytes of 8192"),
        (elf_kernel(8, 0x1_2000_0000), "an ELF file for mips64el, not a kernel"),
        (b"\x7fELF\x02\x02\x01" + bytes(11) + b"\x00\x15" + bytes(100), "an ELF file for PowerPC, 64-bit, big-endian"),
        (ELF + b"\xf3\x00" + bytes(100), "an ELF file for riscv64"),
        (b"\x7fELF\x01\x01\x01" + bytes(11) + b"\xf3\x00", "an ELF file for RISC-V, 32-bit, little-endian"),
        (ELF + b"\xfe\xff" + bytes(100), "an ELF file for another processor"),
        (b"\x7fELF\x01\x02\x01" + bytes(11) + b"\x00\x08", "an ELF file for MIPS, 32-bit, big-endian"),
        (b"\x7fELF\x09\x09\x01" + bytes(11) + b"\x00\x08", "an ELF file for another processor"),
        (b"\x7fELF\x02", "an ELF file for another processor"),
        (arm64_image(flags=1), "a big-endian kernel for arm64"),
        (arm64_image()[:-1], "a truncated kernel: 8191 bytes of 8192"),
        (arm64_image()[:0x3C], "a truncated kernel: 60 bytes of a header of 64"),
        (riscv64_image(flags=1), "a big-endian kernel for riscv64"),
        (riscv64_image()[:-1], "a truncated kernel: 8191 bytes of 8192"),
        (riscv64_image()[:0x3C], "a truncated kernel: 60 bytes of a header of 64"),
        (arm_zimage(order=0x0102_0304), "a big-endian kernel for 32-bit arm"),
        (arm_zimage()[:-1], "a truncated kernel: 8191 bytes of 8192"),
        (arm_zimage()[:0x30], "a truncated kernel: 48 bytes of a header of 52"),
        (b"\x7fELF\x01\x01\x01" + bytes(11) + b"\x28\x00" + bytes(100), "an ELF file for 32-bit arm"),
        (
            bytes(0x38) + b"ARM\x64" + bytes(4),
            "not a kernel for arm64: its header has the magic number, but no jump to the code",
        ),
        (
            (0x1400_0010).to_bytes(4, "little") + bytes(0x34) + b"ARM\x64" + bytes(4),
            "a truncated kernel: 64 bytes of 68",
        ),
        # Backwards.
        (b"MZ" + (0x6F).to_bytes(4, "little") + bytes(0x32) + b"RSC\x05" + bytes(400), "not a kernel for riscv64"),
        ((0x17FF_FFF0).to_bytes(4, "little") + bytes(0x34) + b"ARM\x64" + bytes(400), "not a kernel for arm64"),
        (gzip.compress(bytes(0x38) + b"ARM\x64" + bytes(100), mtime=0), "a compressed kernel for arm64"),
        (gzip.compress(bytes(0x38) + b"RSC\x05" + bytes(1 << 24), mtime=0), "a compressed kernel for riscv64"),
        (gzip.compress(b"text", mtime=0), "a gzip file"),
        (b"\x1f\x8b\x08" + bytes(100), "a gzip file"),
        (b"MZ" + bytes(1000), "an EFI program"),
        (efi(0xAA64, b"zimg"), "a compressed EFI kernel, for arm64"),
        (efi(0x8664), "an EFI program that is not a bzImage, for x86_64"),
        (efi(0x1234), "an EFI program that is not a bzImage"),
        (b"MZ" + bytes(0x3A) + b"\xff" * 4, "an EFI program that is not a bzImage"),
        (uimage(22, 2), "a kernel for U-Boot (uImage) on arm64"),
        (uimage(5, 3), "a file for U-Boot (uImage) on MIPS"),
        (uimage(250, 2), "a kernel for U-Boot (uImage)"),
        (b"\x27\x05\x19\x56", "not a kernel"),
        (b"\xd0\x0d\xfe\xed" + bytes(100), "a device tree or a FIT image"),
        (b"070701" + bytes(200), "a cpio archive"),
        (bzimage(flags=0), "32-bit x86"),
        (bzimage()[:-100], "a truncated kernel: 6556 bytes of 6656"),
        (bzimage()[:0x210], "a truncated kernel"),
    ],
)
def test_what_is_no_kernel_for_this_machine_is_called_by_its_name(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(LabError) as caught:
        open_kernel(path)
    assert message in caught.value.message
    assert caught.value.where == str(path)


def test_the_hint_for_a_file_that_no_reader_knows_names_the_form_of_every_architecture(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        open_kernel(write(tmp_path, b"text\n" * 1000))
    assert all(form in str(caught.value.hint) for form in ("bzImage", "Image for arm64", "zImage", "vmlinux"))


def test_a_missing_kernel_is_reported_with_an_alternative(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="there is no such kernel") as caught:
        open_kernel(tmp_path / "none")
    assert caught.value.hint is not None


def test_a_directory_is_no_kernel(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="directory"):
        open_kernel(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_kernel_is_reported_with_a_remedy(tmp_path: Path) -> None:
    path = write(tmp_path, bzimage())
    path.chmod(0)
    with pytest.raises(LabError, match="cannot be read by you") as caught:
        open_kernel(path)
    assert "sudo install" in str(caught.value.hint)

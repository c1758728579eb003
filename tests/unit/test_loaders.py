"""Boot loaders: what is found by name, what a machine cannot run, and which code a loader enters."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from firstlight.errors import LabError, UsageError
from firstlight.lab.kernel.boot_parts import compressed_parts, efi_entry, parts_before_kernel
from firstlight.lab.kernel.command_line.image import image_start
from firstlight.lab.kernel.lz4 import MAGIC, lz4_start
from firstlight.lab.qemu.loaders import find_loader, open_loader
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa import DEFAULT, NamedLoader, architecture_of
from firstlight.recipe.options import RecordOptions

SETUP = 2 * 512
STUB, ENTRY_64 = bytes(range(32)), bytes(range(64, 96))
IMAGE_ENTRY = bytes(range(128, 160))


def packed_elf() -> bytes:
    """A kernel's image whose entry at 0x1000040 stands at 0x1040 of its file."""
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 0x3E, 1, 0x1000040, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0xFFFF_FFFF_8100_0000, 0x100_0000, 0x1000, 0x1000, 0x1000)
    start = (header + segment).ljust(0x1040, b"\0")
    compressor = zlib.compressobj(wbits=31)
    return compressor.compress((start + IMAGE_ENTRY).ljust(0x2000, b"\0")) + compressor.flush()


def kernel_file() -> bytes:
    """A kernel that unpacks itself, with the heads of an EFI program and of a bzImage, and its stub at 0x800."""
    kernel = bytearray(0x1000)
    kernel[:2] = b"MZ"
    struct.pack_into("<I", kernel, 0x3C, 0x40)
    kernel[0x40:0x44] = b"PE\0\0"
    # One section, mapped 0x100 above where it stands.
    struct.pack_into("<H", kernel, 0x46, 1)
    struct.pack_into("<H", kernel, 0x40 + 20, 0x20)
    struct.pack_into("<I", kernel, 0x40 + 40, 0x900)
    struct.pack_into("<IIII", kernel, 0x40 + 24 + 0x20 + 8, 0x400, 0x800, 0x400, 0x700)
    kernel[0x1F1] = 1
    kernel[0x1FE:0x200] = b"\x55\xaa"
    kernel[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", kernel, 0x206, 0x20C)
    packed = packed_elf()
    struct.pack_into("<II", kernel, 0x248, len(kernel) - SETUP, len(packed))
    kernel[0x800:0x820] = STUB
    kernel[SETUP + 0x200 : SETUP + 0x220] = ENTRY_64
    return bytes(kernel) + packed


def test_a_kernel_shows_the_code_of_its_parts(tmp_path: Path) -> None:
    parts = compressed_parts(kernel_file())
    found = [(part.begins, bytes.fromhex(part.code)) for part in parts]
    assert found == [("loader", STUB), ("decompressor", ENTRY_64), ("kernel", IMAGE_ENTRY)]
    path = tmp_path / "vmlinuz"
    path.write_bytes(kernel_file())
    assert [part["begins"] for part in parts_before_kernel(path, None)] == ["loader", "decompressor", "kernel"]
    first = parts_before_kernel(path, "U-Boot 2023.01")
    assert [part["begins"] for part in first] == ["loader", "decompressor", "kernel"]
    assert first[0] == {"begins": "loader", "code": "", "detail": "U-Boot 2023.01"}


@pytest.mark.parametrize("size", [0, 1, 0x40, 0x1F1, 0x210, 0x900, 0x1010])
def test_a_cut_kernel_shows_no_code_that_it_lacks(size: int) -> None:
    whole = {part.begins: part.code for part in compressed_parts(kernel_file())}
    for part in compressed_parts(kernel_file()[:size]):
        assert whole[part.begins].startswith(part.code)


def test_what_is_no_efi_program_has_no_entry() -> None:
    assert efi_entry(bytes(4096)) is None
    kernel = bytearray(kernel_file())
    # Behind its only section.
    struct.pack_into("<I", kernel, 0x40 + 40, 0xC00)
    assert efi_entry(bytes(kernel)) is None


def test_the_start_of_a_packed_image_needs_not_all_of_it() -> None:
    assert image_start(kernel_file(), 64) == image_start(kernel_file(), 0x2000)[:64]  # type: ignore[index]
    assert image_start(kernel_file(), 0x2001) is None
    assert image_start(b"\x7fELF", 4) is None


def test_lz4_copies_overlap_and_blocks_follow_one_another() -> None:
    block = bytes.fromhex("1f6101000230626364")
    frame = MAGIC + 2 * (len(block).to_bytes(4, "little") + block)
    text = b"a" * 22 + b"bcd"
    assert lz4_start(frame, 1000) == text[: len(lz4_start(frame, 25))] * 2
    assert len(lz4_start(frame, 3)) < len(lz4_start(frame, 1000))
    # The unpacked size stands behind the frame.
    assert lz4_start(frame + (50).to_bytes(4, "little"), 1000) == lz4_start(frame, 1000)


def lz4_frame(block: str) -> bytes:
    packed = bytes.fromhex(block)
    return MAGIC + len(packed).to_bytes(4, "little") + packed


@pytest.mark.parametrize("block", ["f0", "1f610900", "4f61", "1f6101"])
def test_a_damaged_lz4_stream_is_an_error(block: str) -> None:
    with pytest.raises(ValueError, match="LZ4"):
        lz4_start(lz4_frame(block), 100)
    assert lz4_start(MAGIC + b"\xff" * 4, 100) == b""


def test_a_loader_is_found_by_its_name_and_a_missing_package_is_named(tmp_path: Path) -> None:
    file = tmp_path / "u-boot.bin"
    file.write_bytes(b"\0code\0U-Boot 2023.01+dfsg-2 (Jun 22 2026)\0")
    arm64 = architecture_of("aarch64")
    there = replace(arm64, loaders=MappingProxyType({"u-boot": NamedLoader("U-Boot", "u-boot-qemu", str(file))}))
    found = find_loader(there, "u-boot")
    assert (found.path, found.title, found.runs_first) == (file, "U-Boot 2023.01+dfsg-2", "U-Boot 2023.01+dfsg-2")
    file.unlink()
    with pytest.raises(LabError, match="U-Boot is not installed") as caught:
        find_loader(there, "u-boot")
    assert "u-boot-qemu`; or give its file: `--loader FILE`" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="no loader of this name"):
        find_loader(there, "ovmf")


def test_uefi_firmware_leaves_loading_to_the_kernels_stub(tmp_path: Path) -> None:
    file = tmp_path / "OVMF.fd"
    file.write_bytes((bytes(0x28) + b"_FVH").ljust(64 << 10, b"\0"))
    found = find_loader(DEFAULT, str(file))
    assert (found.title, found.is_firmware, found.runs_first) == ("UEFI firmware", True, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "for it"),
        (b"\x7fELF" + bytes(60), "an ELF file"),
        (bytes(1000), "not a multiple of"),
        (bytes((16 << 20) + 65536), "for it"),
    ],
    ids=["empty", "elf", "size", "large"],
)
def test_a_file_that_the_machine_cannot_run_is_rejected(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "firmware"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        open_loader(DEFAULT, file, "--loader firmware")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"machine": "microvm"}, "has no memory for"),
        ({"root_as": "ext4"}, "cannot be combined"),
        ({"qemu_options": ("-bios", "a")}, "cannot be combined"),
        ({"loader": " "}, "the option is empty"),
    ],
    ids=["microvm", "root-as", "bios", "empty"],
)
def test_what_does_not_go_with_a_loader_is_rejected(choices: dict[str, object], message: str) -> None:
    options = RecordOptions(Path("a.boot"), **{"loader": "ovmf", **choices})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        check_choices(options, DEFAULT)

"""What a file is that is given as a kernel and is none for x86_64, with the processor that it is for.

Sources: the kernel's `Documentation/arch/arm64/booting.rst`, `Documentation/arch/riscv/boot-image-header.rst` and
`drivers/firmware/efi/libstub/zboot-header.S`; the System V ABI, "ELF Header"; U-Boot's `include/image.h`; the
Devicetree Specification, "Header"; the PE format, "Machine Types".
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

#: `e_machine` of an ELF file.
_ELF_MACHINES: Mapping[int, str] = {
    3: "32-bit x86",
    8: "MIPS",
    20: "32-bit PowerPC",
    21: "PowerPC",
    22: "s390",
    40: "32-bit arm",
    183: "arm64",
    243: "RISC-V",
    258: "LoongArch",
}
#: `Machine` of a PE file.
_PE_MACHINES: Mapping[int, str] = {
    0x14C: "32-bit x86",
    0x1C2: "32-bit arm",
    0x5064: "riscv64",
    0x6264: "loongarch64",
    0x8664: "x86_64",
    0xAA64: "arm64",
}
#: `ih_arch` of a uImage.
_UIMAGE_ARCHITECTURES: Mapping[int, str] = {
    2: "32-bit arm",
    3: "32-bit x86",
    5: "MIPS",
    6: "64-bit MIPS",
    7: "PowerPC",
    22: "arm64",
    24: "x86_64",
    26: "RISC-V",
}
#: `ih_type` of a uImage that holds a kernel.
_UIMAGE_KERNEL = 2
#: Where Images have their signs, and what comes out of a gzip file to look for one.
_UNPACKED = 0x40


def image_processor(head: bytes) -> str | None:
    """The processor of an uncompressed Image or of a zImage; `None` for any other file.

    >>> image_processor(bytes(0x38) + b"ARMd")
    'arm64'
    """
    if head[0x38:0x3C] == b"ARM\x64":
        return "arm64"
    if head[0x38:0x3C] == b"RSC\x05":
        return "riscv64"
    return "32-bit arm (zImage)" if head[0x24:0x28] == b"\x18\x28\x6f\x01" else None


def elf_processor(head: bytes) -> str | None:
    """The processor of an ELF file, with its width and the order of its bytes where a name does not say.

    :param head: the first bytes of a file that starts as an ELF file does.
    :returns: `None` when the file ends before it says, or names a processor that is not known here.

    >>> elf_processor(b"\\x7fELF\\x02\\x01" + bytes(12) + (21).to_bytes(2, "little"))
    'PowerPC, 64-bit, little-endian'
    """
    if len(head) < 20 or head[4] not in (1, 2) or head[5] not in (1, 2):
        return None
    machine = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
    name = _ELF_MACHINES.get(machine)
    if name is None or name == "arm64" or name.startswith("32-bit"):
        return name
    return f"{name}, {32 * head[4]}-bit, {'little' if head[5] == 1 else 'big'}-endian"


def boot_loader_image(head: bytes) -> str | None:
    """What a file for U-Boot is: a uImage, or a device tree, which is what a FIT image is too.

    >>> boot_loader_image(bytes.fromhex("d00dfeed"))
    'a device tree or a FIT image'
    """
    if head[:4] == b"\xd0\x0d\xfe\xed":
        return "a device tree or a FIT image"
    if head[:4] != b"\x27\x05\x19\x56" or len(head) < 32:
        return None
    kind = "a kernel for U-Boot (uImage)" if head[30] == _UIMAGE_KERNEL else "a file for U-Boot (uImage)"
    processor = _UIMAGE_ARCHITECTURES.get(head[29])
    return kind if processor is None else f"{kind} on {processor}"


def efi_program(head: bytes) -> str:
    """What an EFI program is that is not a bzImage: a kernel that unpacks itself (`vmlinuz.efi`), or another one.

    :param head: the first bytes of a file that starts with `MZ`.
    """
    kind = "a compressed EFI kernel" if head[4:8] == b"zimg" else "an EFI program that is not a bzImage"
    at = int.from_bytes(head[0x3C:0x40], "little")
    machine = int.from_bytes(head[at + 4 : at + 6], "little") if head[at : at + 4] == b"PE\0\0" else 0
    processor = _PE_MACHINES.get(machine)
    return kind if processor is None else f"{kind}, for {processor}"


def gzip_content(head: bytes) -> str | None:
    """The processor of the Image in a gzip file; `None` when it holds something else, or is damaged.

    :param head: the first bytes of a file that starts as a gzip file does. No more than an Image's header is unpacked.
    """
    try:
        return image_processor(zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, _UNPACKED))
    except zlib.error:
        return None

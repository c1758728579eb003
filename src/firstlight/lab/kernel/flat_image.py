"""The head of an uncompressed kernel (`Image`), which arm64 and riscv64 share: whether it boots, and its memory.

Sources: the kernel's `Documentation/arch/arm64/booting.rst` and `Documentation/arch/riscv/boot-image-header.rst`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from firstlight.lab.kernel.image_header import Head, NotBootableError
from firstlight.lab.kernel.pe import SECTION, section_table

_HEADER = 0x40
_SIGN_AT = 0x38
_BIG_ENDIAN = 1


@dataclass(frozen=True)
class FlatImage:
    """The form of one architecture."""

    name: str
    """The architecture's."""
    sign: bytes
    build: str
    """Where the kernel's build leaves the file."""
    little_endian: str
    """How a kernel for little-endian processors is built."""
    entry: Callable[[bytes], int | None]
    """Where in the file the code begins, by the jump at its start; `None` where there is no such jump."""

    def is_image(self, head: bytes) -> bool:
        """Whether a file of these first bytes has the sign of this form."""
        return head[_SIGN_AT : _SIGN_AT + len(self.sign)] == self.sign

    def read(self, head: bytes, size: int) -> Head:
        """Read the head of an Image.

        :param head: the first bytes of the file: 64 KiB, or all of it.
        :param size: the file's size in bytes.
        :raises NotBootableError: when it is something else, is truncated, or has its bytes in the other order.

        >>> jump = (0x1400_0010).to_bytes(4, "little")  # to 0x40, behind the header
        >>> ARM64.read(jump + bytes(0x34) + b"ARM\\x64" + bytes(8), 68).version is None
        True
        >>> jump = (0x0400_006F).to_bytes(4, "little")
        >>> RISCV64.read(jump + bytes(0x34) + b"RSC\\x05" + bytes(8), 68).version is None
        True
        """
        if not self.is_image(head):
            hint = f"give the Image made from it: `{self.build}` of the kernel's build"
            raise NotBootableError(f"an ELF file for {self.name}", hint)
        if len(head) < _HEADER:
            message = f"a truncated kernel: {size} bytes of a header of {_HEADER}"
            raise NotBootableError(message, "copy or build it again")
        (flags,) = struct.unpack_from("<Q", head, 24)
        if flags & _BIG_ENDIAN:
            raise NotBootableError(f"a big-endian kernel for {self.name}", self.little_endian)
        entry = self.entry(head)
        if entry is None:
            raise NotBootableError(
                f"not a kernel for {self.name}: its header has the magic number, but no jump to the code",
                "copy or build it again",
            )
        expected = max(_end_of_sections(head), entry + 4)
        if size < expected:
            raise NotBootableError(
                f"a truncated kernel: {size} bytes of {expected} that its header states", "copy or download it again"
            )
        # The text of the version is somewhere in the image, without a pointer to it: `kernel.py` looks for it.
        return Head(None)

    def memory(self, head: bytes) -> int:
        """The memory in bytes that an Image takes, from the start of the guest's memory on; 0 when it does not say.

        Kernels for arm64 before 3.17 have no size in their header.

        >>> ARM64.memory(bytes(8) + (4096).to_bytes(8, "little") * 2 + bytes(0x20) + b"ARM\\x64")
        8192
        """
        if not self.is_image(head):
            return 0
        offset, size = struct.unpack_from("<QQ", head, 8)
        return int(offset) + int(size) if size else 0


def _end_of_sections(head: bytes) -> int:
    """Where the last section ends in a file that is an EFI program too; else 0."""
    if (sections := section_table(head)) is None:
        return 0
    ends = [0]
    for at in range(sections.table, min(sections.table + SECTION * sections.count, len(head) - SECTION + 1), SECTION):
        length, offset = struct.unpack_from("<II", head, at + 16)
        ends.append(length + offset)
    return max(ends)


def _arm64_entry(head: bytes) -> int | None:
    """Where the code begins: what the first instruction jumps to, or the second where the first is the sign of an EFI
    program (`arch/arm64/kernel/head.S`).
    """
    for at in (0, 4):
        (word,) = struct.unpack_from("<I", head, at)
        # `b`: 26 bits, in instructions, with a sign. Backwards lies nothing.
        if word >> 26 == 0b000101 and not word >> 25 & 1:
            return at + 4 * int(word & 0x1FF_FFFF)
    return None


def _riscv64_entry(head: bytes) -> int | None:
    """Where the code begins: what the first instruction jumps to, or the second where the first is the sign of an EFI
    program, of two bytes (`arch/riscv/kernel/head.S`).
    """
    for at in (0, 2):
        (word,) = struct.unpack_from("<I", head, at)
        # `jal zero`: 20 bits in another order, with a sign. Backwards lies nothing, and a jump to itself ends nowhere.
        offset = (word >> 20 & 0x7FE) | (word >> 9 & 0x800) | (word & 0xFF000)
        if word & 0xFFF == 0x6F and not word >> 31 and offset:
            return at + int(offset)
    return None


ARM64 = FlatImage("arm64", b"ARM\x64", "arch/arm64/boot/Image", "build it without CONFIG_CPU_BIG_ENDIAN", _arm64_entry)

#: Debian calls its file `vmlinux`.
RISCV64 = FlatImage(
    "riscv64", b"RSC\x05", "arch/riscv/boot/Image", "build it for little-endian processors", _riscv64_entry
)

#: Such kernels by the name of the form of their files.
FORMATS = {"Image": ARM64, "riscv64 Image": RISCV64}

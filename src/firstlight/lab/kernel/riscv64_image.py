"""The header of an uncompressed riscv64 kernel (`Image`, which Debian calls `vmlinux`): whether it boots."""

from __future__ import annotations

import struct

from firstlight.lab.kernel.flat_image import FlatImage
from firstlight.lab.kernel.image_header import Head

#: The name of the form of these files.
FORMAT = "riscv64 Image"


def _entry(head: bytes) -> int | None:
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


_IMAGE = FlatImage("riscv64", b"RSC\x05", "arch/riscv/boot/Image", "build it for little-endian processors", _entry)


def read_image(head: bytes, size: int) -> Head:
    """Read the head of an Image, by the kernel's ``Documentation/arch/riscv/boot-image-header.rst``.

    :param head: the first bytes of the file: 64 KiB, or all of it.
    :param size: the file's size in bytes.
    :raises NotBootableError: when it is something else, is truncated, or has its bytes in the other order.

    >>> jump = (0x0400_006F).to_bytes(4, "little")  # to 0x40, behind the header
    >>> read_image(jump + bytes(0x34) + b"RSC\\x05" + bytes(8), 68).version is None
    True
    """
    return _IMAGE.read(head, size)


def memory_of_image(head: bytes) -> int:
    """The memory in bytes that an Image takes, from the start of the guest's memory on; 0 when it does not say.

    >>> memory_of_image(bytes(8) + (4096).to_bytes(8, "little") * 2 + bytes(0x20) + b"RSC\\x05")
    8192
    """
    if not _IMAGE.is_image(head):
        return 0
    offset, size = struct.unpack_from("<QQ", head, 8)
    return int(offset) + int(size)

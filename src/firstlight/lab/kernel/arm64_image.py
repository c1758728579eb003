"""The header of an uncompressed arm64 kernel (`Image`): whether it boots, and the memory that it needs."""

from __future__ import annotations

import struct

from firstlight.lab.kernel.flat_image import FlatImage
from firstlight.lab.kernel.image_header import Head

#: The name of the form of these files.
FORMAT = "Image"


def _entry(head: bytes) -> int | None:
    """Where the code begins: what the first instruction jumps to, or the second where the first is the sign of an EFI
    program (`arch/arm64/kernel/head.S`).
    """
    for at in (0, 4):
        (word,) = struct.unpack_from("<I", head, at)
        # `b`: 26 bits, in instructions, with a sign. Backwards lies nothing.
        if word >> 26 == 0b000101 and not word >> 25 & 1:
            return at + 4 * int(word & 0x1FF_FFFF)
    return None


_IMAGE = FlatImage("arm64", b"ARM\x64", "arch/arm64/boot/Image", "build it without CONFIG_CPU_BIG_ENDIAN", _entry)


def read_image(head: bytes, size: int) -> Head:
    """Read the head of an Image, by the kernel's ``Documentation/arch/arm64/booting.rst``.

    :param head: the first bytes of the file: 64 KiB, or all of it.
    :param size: the file's size in bytes.
    :raises NotBootableError: when it is something else, is truncated, or has its bytes in the other order.

    >>> jump = (0x1400_0010).to_bytes(4, "little")  # to 0x40, behind the header
    >>> read_image(jump + bytes(0x34) + b"ARM\\x64" + bytes(8), 68).version is None
    True
    """
    return _IMAGE.read(head, size)


def memory_of_image(head: bytes) -> int:
    """The memory in bytes that an Image takes, from the start of the guest's memory on; 0 when it does not say.

    Kernels before 3.17 have no size in their header.

    >>> memory_of_image(bytes(8) + (4096).to_bytes(8, "little") * 2 + bytes(0x20) + b"ARM\\x64")
    8192
    """
    if not _IMAGE.is_image(head):
        return 0
    offset, size = struct.unpack_from("<QQ", head, 8)
    return int(offset) + int(size) if size else 0

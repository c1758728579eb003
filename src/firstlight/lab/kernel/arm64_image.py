"""The header of an uncompressed arm64 kernel (`Image`): whether it boots, and the memory that it needs."""

from __future__ import annotations

import struct

from firstlight.lab.kernel.image_header import Head, NotBootableError

#: The name of the form of these files.
FORMAT = "Image"

_HEADER = 0x40
_MAGIC = b"ARM\x64"
_BIG_ENDIAN = 1


def read_image(head: bytes, size: int) -> Head:
    """Read the head of an Image, by the kernel's ``Documentation/arch/arm64/booting.rst``.

    :param head: the first bytes of the file: 64 KiB, or all of it.
    :param size: the file's size in bytes.
    :raises NotBootableError: when it is something else, is truncated, or has its bytes in the other order.

    >>> jump = (0x1400_0010).to_bytes(4, "little")  # to 0x40, behind the header
    >>> read_image(jump + bytes(0x34) + b"ARM\\x64" + bytes(8), 68).version is None
    True
    """
    if head[0x38:0x3C] != _MAGIC:
        raise NotBootableError(
            "an ELF file for arm64", "give the Image made from it: `arch/arm64/boot/Image` of the kernel's build"
        )
    if len(head) < _HEADER:
        raise NotBootableError(f"a truncated kernel: {size} bytes of a header of {_HEADER}", "copy or build it again")
    (flags,) = struct.unpack_from("<Q", head, 24)
    if flags & _BIG_ENDIAN:
        raise NotBootableError("a big-endian kernel for arm64", "build it without CONFIG_CPU_BIG_ENDIAN")
    entry = _entry(head)
    if entry is None:
        raise NotBootableError(
            "no kernel for arm64: its header has the sign of one, and no jump to its code", "copy or build it again"
        )
    expected = max(end_of_sections(head), entry + 4)
    if size < expected:
        raise NotBootableError(
            f"a truncated kernel: {size} bytes of {expected} that its header announces", "copy or download it again"
        )
    # The text of the version lies somewhere in the image, without a pointer to it: `kernel.py` looks for it.
    return Head(None)


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


def memory_of_image(head: bytes) -> int:
    """The memory in bytes that an Image takes, from the start of the guest's memory on; 0 when it does not say.

    Kernels before 3.17 have no size in their header.

    >>> memory_of_image(bytes(8) + (4096).to_bytes(8, "little") * 2 + bytes(0x20) + b"ARM\\x64")
    8192
    """
    if head[0x38:0x3C] != _MAGIC:
        return 0
    offset, size = struct.unpack_from("<QQ", head, 8)
    return int(offset) + int(size) if size else 0


def end_of_sections(head: bytes) -> int:
    """Where the last section ends in a file that is an EFI program too (PE format, "Section Table"); else 0."""
    (start,) = struct.unpack_from("<I", head, 0x3C)
    if head[:2] != b"MZ" or head[start : start + 4] != b"PE\0\0" or len(head) < start + 24:
        return 0
    (count,) = struct.unpack_from("<H", head, start + 6)
    (optional,) = struct.unpack_from("<H", head, start + 20)
    table = start + 24 + optional
    ends = [0]
    for at in range(table, min(table + 40 * count, len(head) - 39), 40):
        length, offset = struct.unpack_from("<II", head, at + 16)
        ends.append(length + offset)
    return max(ends)

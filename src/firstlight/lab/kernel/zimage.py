"""The header of a compressed kernel for 32-bit Arm (`zImage`): whether it boots."""

from __future__ import annotations

import struct

from firstlight.lab.kernel.image_header import Head, NotBootableError

#: The name of the form of these files.
FORMAT = "zImage"

_HEADER = 0x34
_SIGN_AT = 0x24
_SIGN = b"\x18\x28\x6f\x01"
_LITTLE_ENDIAN = 0x0403_0201


def read_zimage(head: bytes, size: int) -> Head:
    """Read the head of a zImage, by `arch/arm/boot/compressed/head.S` of the kernel.

    :param head: the first bytes of the file: 64 KiB, or all of it.
    :param size: the file's size in bytes.
    :raises NotBootableError: when it is something else, is truncated, or has its bytes in the other order.

    >>> read_zimage(bytes(0x24) + struct.pack("<4I", 0x016F2818, 0, 52, 0x04030201), 52).version is None
    True
    """
    if head[_SIGN_AT : _SIGN_AT + 4] != _SIGN:
        raise NotBootableError(
            "an ELF file for 32-bit arm", "give the zImage made from it: `arch/arm/boot/zImage` of the kernel's build"
        )
    if len(head) < _HEADER:
        raise NotBootableError(f"a truncated kernel: {size} bytes of a header of {_HEADER}", "copy or build it again")
    start, end, order = struct.unpack_from("<3I", head, _SIGN_AT + 4)
    if order != _LITTLE_ENDIAN:
        raise NotBootableError("a big-endian kernel for 32-bit arm", "build it without CONFIG_CPU_BIG_ENDIAN")
    if size < end - start:
        raise NotBootableError(
            f"a truncated kernel: {size} bytes of {end - start} that its header states", "copy or download it again"
        )
    # The text of the version is compressed.
    return Head(None)

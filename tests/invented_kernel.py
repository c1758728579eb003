"""A kernel of which only the header is real."""

from __future__ import annotations

import struct

RELEASE = "6.1.0-test"


def bzimage(*, flags: int = 1, setup_sectors: int = 4, body: int = 4096, version: str = f"{RELEASE} (a@b) #1") -> bytes:
    """The smallest file with the header of the x86 boot protocol."""
    image = bytearray((setup_sectors + 1) * 512 + body)
    image[0x1F1] = setup_sectors
    struct.pack_into("<I", image, 0x1F4, body // 16)
    image[0x1FE:0x200] = b"\x55\xaa"
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image, 0x206, 0x20F)
    struct.pack_into("<H", image, 0x20E, 0x400 - 0x200)
    struct.pack_into("<H", image, 0x236, flags)
    image[0x400 : 0x400 + len(version)] = version.encode()
    return bytes(image)

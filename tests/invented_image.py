"""An invented image of a kernel."""

from __future__ import annotations

import struct


def elf(texts: dict[int, bytes]) -> bytes:
    """An ELF file of 64 bits with these texts at these virtual addresses."""
    base, start = 0xFFFFFFFF81000000, 0x1000
    size = max(texts) - base + 64
    content = bytearray(size)
    for address, text in texts.items():
        content[address - base : address - base + len(text)] = text
    head = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    table = struct.pack("<IIQQQQQQ", 1, 7, start, base, base, size, size, 0x1000)
    return (head + table).ljust(start, b"\0") + bytes(content)

"""The beginning of an LZ4 stream as kernels are packed with it: the standard library has no LZ4.

Source: the LZ4 block format and the legacy frame format, `lz4_Block_format.md` and `lz4_Frame_format.md` of LZ4.
"""

from __future__ import annotations

import struct

MAGIC = b"\x02\x21\x4c\x18"
"""Of a legacy frame."""


def lz4_start(packed: bytes, most: int) -> bytes:
    """Unpack the first bytes of a legacy frame.

    :param most: how many bytes are wanted; what comes out may be longer, and is shorter only when the frame is.
    :raises ValueError: when the stream is damaged.

    >>> block = bytes.fromhex("1f 61 0100 02") + bytes.fromhex("30 626364")
    >>> lz4_start(MAGIC + len(block).to_bytes(4, "little") + block, 100)
    b'aaaaaaaaaaaaaaaaaaaaaabcd'
    """
    if packed[:4] != MAGIC:
        raise ValueError("no legacy frame of LZ4")
    unpacked = bytearray()
    at = 4
    while len(unpacked) < most and at + 4 <= len(packed):
        (size,) = struct.unpack_from("<I", packed, at)
        if size == 0 or at + 4 + size > len(packed):
            # Behind the frame the kernel's build puts the unpacked size.
            break
        unpacked += _block(memoryview(packed)[at + 4 : at + 4 + size], most - len(unpacked))
        at += 4 + size
    return bytes(unpacked)


def _block(packed: memoryview, most: int) -> bytearray:
    out = bytearray()
    at = 0
    try:
        while at < len(packed) and len(out) < most:
            token = packed[at]
            literals, at = _length(packed, at + 1, token >> 4)
            if at + literals > len(packed):
                raise ValueError("a block of LZ4 is cut short")
            out += packed[at : at + literals]
            at += literals
            if at >= len(packed):
                break
            offset = packed[at] | packed[at + 1] << 8
            length, at = _length(packed, at + 2, token & 15)
            _copy(out, offset, length + 4)
    except IndexError as error:
        raise ValueError("a block of LZ4 is cut short") from error
    return out


def _length(packed: memoryview, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while (more := packed[at]) == 255:
            length, at = length + 255, at + 1
        length, at = length + more, at + 1
    return length, at


def _copy(out: bytearray, offset: int, length: int) -> None:
    if not 0 < offset <= len(out):
        raise ValueError("a block of LZ4 refers to what is not there")
    piece = out[-offset:]
    # What overlaps repeats itself.
    out += (piece * (length // offset + 1))[:length]

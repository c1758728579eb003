"""A GUID partition table of equal partitions, written without any tool of the host.

Source: UEFI Specification 2.10, section 5 "GUID Partition Table (GPT) Disk Layout".
"""

from __future__ import annotations

import struct
import uuid
import zlib
from pathlib import Path

_SECTOR = 512
_MIB = 1 << 20
_ENTRY = struct.Struct("<16s16sQQQ72s")
_HEADER = struct.Struct("<8sIIIIQQQQ16sQIII")
_HEADER_SIZE = 92
_LVM = uuid.UUID("e6d6d379-f507-44c2-a23c-238f2a3df928")
_OURS = "4c460000-0000-4000-8{:03x}-{:012x}"
_EDGE = 1
"""MiB at either end, for the two copies of the table."""

#: The kernel gives a disk no more than 256 minor numbers, the whole disk's among them.
PARTITIONS_AT_MOST = 255


def disk_size(partitions: int, mib_each: int) -> int:
    """Bytes of a disk with so many partitions, in whole steps of 2 MiB.

    >>> disk_size(10, 3) // 1048576
    32
    """
    mib = partitions * mib_each + 2 * _EDGE
    return -(-mib // 2) * 2 * _MIB


def write_table(path: Path, partitions: int, mib_each: int, disk: int = 1) -> None:
    """Write both copies of the table, and the protective record before them, into an image that has its size.

    :param disk: a number that is in every identifier: those of two disks must differ.
    :raises ValueError: for more partitions than a disk can have, or a file that is too small.
    """
    if not 1 <= partitions <= PARTITIONS_AT_MOST:
        raise ValueError(f"{partitions} partitions: a disk has 1 to {PARTITIONS_AT_MOST}")
    size = path.stat().st_size
    if size < disk_size(partitions, mib_each):
        raise ValueError(f"{size} bytes hold no {partitions} partitions of {mib_each} MiB")
    last = size // _SECTOR - 1
    count = max(128, -(-partitions // 4) * 4)
    entries = b"".join(_entry(number, mib_each, disk) for number in range(1, partitions + 1))
    entries = entries.ljust(count * _ENTRY.size, b"\0")
    sectors = len(entries) // _SECTOR
    with path.open("r+b") as file:
        file.write(_protective(last))
        file.write(_header(1, last, 2, sectors, entries, disk).ljust(_SECTOR, b"\0"))
        file.write(entries)
        file.seek((last - sectors) * _SECTOR)
        file.write(entries)
        file.write(_header(last, 1, last - sectors, sectors, entries, disk).ljust(_SECTOR, b"\0"))


def _entry(number: int, mib_each: int, disk: int) -> bytes:
    first = (_EDGE + (number - 1) * mib_each) * _MIB // _SECTOR
    last = first + mib_each * _MIB // _SECTOR - 1
    name = f"pv{number}".encode("utf-16-le")
    return _ENTRY.pack(_LVM.bytes_le, _identifier(disk, number), first, last, 0, name)


def _identifier(disk: int, number: int) -> bytes:
    return uuid.UUID(_OURS.format(disk, number)).bytes_le


def _header(own: int, other: int, table: int, sectors: int, entries: bytes, disk: int) -> bytes:
    def pack(checksum: int) -> bytes:
        usable = max(own, other) - sectors - 1
        return _HEADER.pack(
            b"EFI PART", 0x10000, _HEADER_SIZE, checksum, 0, own, other, 2 + sectors, usable,
            _identifier(disk, 0), table, len(entries) // _ENTRY.size, _ENTRY.size, zlib.crc32(entries),
        )  # fmt: skip

    return pack(zlib.crc32(pack(0)))


def _protective(last: int) -> bytes:
    one = struct.pack("<BBBBBBBBII", 0, 0, 2, 0, 0xEE, 0xFF, 0xFF, 0xFF, 1, min(last, 0xFFFFFFFF))
    return b"\0" * 446 + one + b"\0" * 48 + b"\x55\xaa"

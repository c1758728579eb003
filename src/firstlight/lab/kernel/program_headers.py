"""The program headers of an ELF file of 64 bits with little-endian bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

#: The kinds of program headers that matter here: a part to load, and notes.
LOAD, NOTE = 1, 4


@dataclass(frozen=True)
class ProgramHeader:
    """A part of the file, and where it goes."""

    kind: int
    offset: int
    """In the file."""
    length: int
    """Bytes in the file."""
    address: int
    """The virtual one."""
    physical: int
    memory: int
    """Bytes in memory."""

    @property
    def file_end(self) -> int:
        """The first byte of the file behind it."""
        return self.offset + self.length


def program_headers(content: bytes) -> list[ProgramHeader]:
    """The program headers of a file.

    :param content: the file, or its first bytes.
    :raises struct.error: when they are cut off.
    """
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    found = []
    for index in range(count):
        kind, _, offset, address, physical, length, memory = struct.unpack_from(
            "<IIQQQQQ", content, table + index * size
        )
        found.append(ProgramHeader(kind, offset, length, address, physical, memory))
    return found

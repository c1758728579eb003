"""The headers of an EFI program: the PE format, "PE Header" and "Section Table"."""

from __future__ import annotations

import struct
from dataclasses import dataclass

#: Bytes of a section's header.
SECTION = 40


@dataclass(frozen=True)
class SectionTable:
    """Where the headers of an EFI program are, in bytes from its start."""

    header: int
    table: int
    count: int
    """The number of sections."""


def section_table(program: bytes) -> SectionTable | None:
    """The headers of an EFI program; `None` for another file.

    >>> section_table(b"MZ" + bytes(100)) is None
    True
    """
    if program[:2] != b"MZ":
        return None
    (header,) = struct.unpack_from("<I", program, 0x3C)
    if program[header : header + 4] != b"PE\0\0" or len(program) < header + 24:
        return None
    (count,) = struct.unpack_from("<H", program, header + 6)
    (optional,) = struct.unpack_from("<H", program, header + 20)
    return SectionTable(header, header + 24 + optional, count)

"""What an ELF file of 64 bits asks for: its loader, and the shared libraries that it names.

Source: the System V ABI, "Program Header" and "Dynamic Linking": names in `DT_NEEDED` are places in the table that
`DT_STRTAB` gives the address of, and program headers say where an address lies in the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from firstlight.errors import LabError

_LOAD, _DYNAMIC, INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS = 1, 5


@dataclass(frozen=True)
class Segment:
    """What a program header says."""

    kind: int
    offset: int
    """In the file."""
    address: int
    size: int
    """Bytes of it in the file."""


def segments(elf: bytes) -> list[Segment]:
    """The program headers of a file whose first bytes are those of such a file.

    :raises ValueError: when it is cut short.
    """
    try:
        (table,) = struct.unpack_from("<Q", elf, 32)
        size, count = struct.unpack_from("<HH", elf, 54)
        headers = [struct.unpack_from("<IIQQQQ", elf, table + index * size) for index in range(count)]
    except (struct.error, OverflowError) as error:
        raise ValueError(str(error)) from error
    return [Segment(kind, offset, address, length) for kind, _, offset, address, _, length in headers]


def needed_libraries(elf: bytes, path: str) -> list[str]:
    """The path of a program's or library's loader, where it has one, and the names of the libraries that it asks for.

    :param path: for the message of an error.
    :raises LabError: when the content is no such file.

    >>> needed_libraries(b"#!/bin/sh", "/bin/script")
    Traceback (most recent call last):
    firstlight.errors.LabError: /bin/script: not a program of 64 bits
    """
    if not _is_elf(elf):
        raise LabError("not a program of 64 bits", where=path)
    try:
        interpreter, libraries = _needs(elf)
    except ValueError as error:
        raise LabError(f"this program is damaged: {error}", where=path) from error
    return [*([interpreter] if interpreter is not None else []), *libraries]


def needs_of(content: bytes) -> tuple[str | None, tuple[str, ...]]:
    """Loader and libraries of whatever a program may be: a script, or a file that is damaged, asks for nothing.

    >>> needs_of(b"#!/bin/sh")
    (None, ())
    """
    try:
        return _needs(content) if _is_elf(content) else (None, ())
    except ValueError:
        return None, ()


def _is_elf(content: bytes) -> bool:
    return content[:6] == b"\x7fELF\x02\x01"


def _needs(elf: bytes) -> tuple[str | None, tuple[str, ...]]:
    found = segments(elf)
    interpreter = next((_text(elf, each.offset) for each in found if each.kind == INTERPRETER), None)
    libraries = [name for each in found if each.kind == _DYNAMIC for name in _named(elf, each, found)]
    return interpreter, tuple(libraries)


def _named(elf: bytes, dynamic: Segment, found: list[Segment]) -> list[str]:
    try:
        places = range(dynamic.offset, dynamic.offset + dynamic.size, 16)
        entries = [struct.unpack_from("<QQ", elf, place) for place in places]
    except (struct.error, OverflowError) as error:
        raise ValueError(str(error)) from error
    address = next((value for tag, value in entries if tag == _STRINGS), None)
    if address is None:
        return []
    for each in found:
        if each.kind == _LOAD and each.address <= address < each.address + each.size:
            strings = each.offset + address - each.address
            return [_text(elf, strings + value) for tag, value in entries if tag == _NEEDED]
    raise ValueError("its table of names is nowhere")


def _text(elf: bytes, at: int) -> str:
    return elf[at : elf.index(b"\0", at)].decode()

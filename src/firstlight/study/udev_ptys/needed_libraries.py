"""Which shared libraries an ELF program needs, by its dynamic section."""

from __future__ import annotations

import struct

from firstlight.errors import LabError

_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS = 1, 5


def needed_libraries(elf: bytes, path: str) -> list[str]:
    """The names of the libraries that a program or library of 64 bits asks for, and the path of its loader.

    :param path: for the message of an error.
    :raises LabError: when the content is no such file.

    Source: the System V ABI, "Dynamic Linking"; names in `DT_NEEDED` are places in the table that `DT_STRTAB` gives
    the address of, and program headers say where an address lies in the file.

    >>> needed_libraries(b"#!/bin/sh", "/bin/script")
    Traceback (most recent call last):
    firstlight.errors.LabError: /bin/script: not a program of 64 bits
    """
    if elf[:6] != b"\x7fELF\x02\x01":
        raise LabError("not a program of 64 bits", where=path)
    try:
        (table,) = struct.unpack_from("<Q", elf, 32)
        size, count = struct.unpack_from("<HH", elf, 54)
        headers = [struct.unpack_from("<IIQQQQ", elf, table + index * size) for index in range(count)]
        names = [_text(elf, header[2]) for header in headers if header[0] == _INTERPRETER]
        loads = [header for header in headers if header[0] == _LOAD]
        for header in headers:
            if header[0] == _DYNAMIC:
                names += _needed(elf, header[2], header[5], loads)
    except (struct.error, ValueError) as error:
        raise LabError(f"this program is damaged: {error}", where=path) from error
    return names


def _needed(elf: bytes, offset: int, size: int, loads: list[tuple[int, ...]]) -> list[str]:
    entries = [struct.unpack_from("<QQ", elf, place) for place in range(offset, offset + size, 16)]
    address = next((value for tag, value in entries if tag == _STRINGS), None)
    if address is None:
        return []
    for _, _, at, virtual, _, length in loads:
        if virtual <= address < virtual + length:
            strings = at + address - virtual
            return [_text(elf, strings + value) for tag, value in entries if tag == _NEEDED]
    raise ValueError("its table of names is nowhere")


def _text(elf: bytes, at: int) -> str:
    return elf[at : elf.index(b"\0", at)].decode(errors="replace")

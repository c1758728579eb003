"""The loader and the shared libraries that a 64-bit ELF file names.

Source: the System V ABI, "Program Header" and "Dynamic Linking": names in `DT_NEEDED` are offsets in the table at
the address `DT_STRTAB`, and program headers map an address to an offset in the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from firstlight.errors import LabError
from firstlight.recipe.isa import DEFAULT, Architecture, architecture_of_file

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
    """The program headers of a file whose first bytes are those of such a file, of 64 or 32 bits.

    :raises ValueError: when it is cut short.
    """
    try:
        if elf[4:5] == b"\x01":
            (table,) = struct.unpack_from("<I", elf, 28)
            size, count = struct.unpack_from("<HH", elf, 42)
            narrow = [struct.unpack_from("<IIIII", elf, table + index * size) for index in range(count)]
            return [Segment(kind, offset, address, length) for kind, offset, address, _, length in narrow]
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


def architecture_of_program(content: bytes) -> Architecture:
    """What a program runs on; the default architecture where the file does not say."""
    return architecture_of_file(content) or DEFAULT


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


_SYMBOL_TABLE = 2
_NO_TYPE, _FUNCTION = 0, 2


@dataclass(frozen=True)
class _Symbol:
    name: bytes
    kind: int
    section: int
    value: int
    size: int


def labels(elf: bytes) -> set[str]:
    """The labels inside functions of assembler, by the symbol table of an object file.

    `/proc/kallsyms` lists them as it lists functions; the file distinguishes them by their type.

    :returns: the names of symbols without a type that lie inside a function; none of a file without such a table.
    :raises ValueError: when it is cut short.

    Source: the System V ABI, "Symbol Table".
    """
    try:
        found = list(_symbols(elf))
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(str(error)) from error
    functions: dict[int, list[tuple[int, int]]] = {}
    for symbol in found:
        if symbol.kind == _FUNCTION:
            functions.setdefault(symbol.section, []).append((symbol.value, symbol.value + symbol.size))
    names = {symbol.name for symbol in found if symbol.kind == _FUNCTION}
    inside = {
        symbol.name
        for symbol in found
        if symbol.kind == _NO_TYPE
        and any(start < symbol.value < end for start, end in functions.get(symbol.section, []))
    }
    return {name.decode(errors="replace") for name in inside - names if name}


def _symbols(elf: bytes) -> Iterator[_Symbol]:
    if not _is_elf(elf):
        return
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + index * size) for index in range(count)]
    for _name, kind, _flags, _address, offset, length, link, _info, _align, entry in headers:
        if kind != _SYMBOL_TABLE or entry < 24:
            continue
        names = headers[link][4]
        for at in range(offset, offset + length - entry + 1, entry):
            name, info, _other, section, value, bytes_ = struct.unpack_from("<IBBHQQ", elf, at)
            yield _Symbol(elf[names + name : names + name + 256].split(b"\0", 1)[0], info & 0xF, section, value, bytes_)

"""ELF files: labels of assembler told from functions by their types, headers, sections, and files that are damaged."""

from __future__ import annotations

import contextlib
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight._core import elf_has_symbols, elf_headers, elf_labels, elf_needs, elf_section

FUNCTION, NO_TYPE, OBJECT = 2, 0, 1
TEXT, DATA = 1, 2


def object_file(*symbols: tuple[str, int, int, int, int]) -> bytes:
    """An ELF file of 64 bits with a symbol table: name, type, section, value, size of each."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in symbols)
    table = bytes(24)
    at = 1
    for name, kind, section, value, size in symbols:
        table += struct.pack("<IBBHQQ", at, 0x10 | kind, 0, section, value, size)
        at += len(name) + 1
    start = 64
    headers = start + len(table) + len(names)
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, headers, 0, 64, 0, 0, 64, 3, 2)
    )
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, start, len(table), 2, 0, 8, 24)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, start + len(table), len(names), 0, 0, 1, 0)
    return head + table + names + sections


def test_a_symbol_without_a_type_inside_a_function_is_a_label() -> None:
    elf = object_file(
        ("sha256_transform", FUNCTION, TEXT, 0x100, 0x200),
        ("loop1", NO_TYPE, TEXT, 0x140, 0),
        ("helper", FUNCTION, TEXT, 0x180, 0x20),
        ("alone", NO_TYPE, TEXT, 0x400, 0),
        ("elsewhere", NO_TYPE, DATA, 0x140, 0),
        ("table", OBJECT, TEXT, 0x150, 8),
    )
    assert elf_labels(elf) == {"loop1"}


def test_the_start_of_a_function_is_no_label_of_it() -> None:
    assert elf_labels(object_file(("f", FUNCTION, TEXT, 0x100, 0x20), ("alias", NO_TYPE, TEXT, 0x100, 0))) == set()


def test_a_name_that_a_function_has_too_is_kept() -> None:
    elf = object_file(
        ("f", FUNCTION, TEXT, 0x100, 0x20), ("loop", NO_TYPE, TEXT, 0x110, 0), ("loop", FUNCTION, TEXT, 0x200, 0x20)
    )
    assert elf_labels(elf) == set()


READERS: list[Callable[[bytes], object]] = [
    elf_headers,
    elf_needs,
    elf_labels,
    elf_has_symbols,
    lambda content: elf_section(content, ".modinfo"),
]
PROGRAM = Path(sys.executable).resolve().read_bytes()


def test_a_program_has_segments_a_loader_libraries_and_sections() -> None:
    headers = elf_headers(PROGRAM)
    assert headers.bits == 64
    loaded = [segment for segment in headers.segments if segment.is_loaded]
    assert any(each.address <= headers.entry < each.address + each.memory_bytes for each in loaded)
    interpreter, libraries = elf_needs(PROGRAM)
    assert interpreter is not None
    assert Path(interpreter).exists()
    assert any(name.startswith("libc.so") for name in libraries)
    assert elf_section(PROGRAM, ".interp") == interpreter.encode() + b"\0"
    assert elf_section(PROGRAM, ".no_such_section") is None


def test_the_first_bytes_are_enough_for_the_headers() -> None:
    whole, head = elf_headers(PROGRAM), elf_headers(PROGRAM[:4096])
    assert [each.offset for each in head.segments] == [each.offset for each in whole.segments]


def test_a_program_of_32_bits_has_headers() -> None:
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    head += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0x8000, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    head += struct.pack("<IIIIIIII", 1, 0, 0x8000, 0x9000, 0x100, 0x200, 5, 0x1000)
    headers = elf_headers(head)
    (segment,) = headers.segments
    assert (headers.bits, headers.machine, headers.entry, headers.is_executable) == (32, 40, 0x8000, True)
    assert (segment.address, segment.physical, segment.file_bytes, segment.memory_bytes) == (
        0x8000,
        0x9000,
        0x100,
        0x200,
    )


def test_an_object_file_has_symbols_and_needs_nothing() -> None:
    elf = object_file(("f", FUNCTION, TEXT, 0x100, 0x20))
    assert elf_has_symbols(elf)
    assert elf_needs(elf) == (None, [])


@pytest.mark.parametrize("reader", range(len(READERS)))
def test_what_is_no_elf_file_is_an_error(reader: int) -> None:
    for content in (b"", b"#!/bin/sh", b"\x7fELF", b"\x7fELF\x07\x01" + bytes(60)):
        with pytest.raises(ValueError, match="not an ELF file"):
            READERS[reader](content)


@pytest.mark.parametrize("length", [70, 100, 200])
def test_a_file_that_was_cut_is_an_error(length: int) -> None:
    elf = object_file(("f", FUNCTION, TEXT, 0x100, 0x20), ("loop", NO_TYPE, TEXT, 0x110, 0))
    with pytest.raises(ValueError, match=r"."):
        elf_labels(elf[:length])
    with pytest.raises(ValueError, match=r"."):
        elf_has_symbols(elf[:length])


@given(st.lists(st.tuples(st.integers(0, 1023), st.integers(0, 255)), max_size=20), st.integers(5, 1024))
def test_a_damaged_file_is_read_or_refused_but_never_worse(changes: list[tuple[int, int]], length: int) -> None:
    damaged = bytearray(PROGRAM[:1024])
    for at, value in changes:
        damaged[at] = value
    for reader in READERS:
        with contextlib.suppress(ValueError):
            reader(bytes(damaged[:length]))

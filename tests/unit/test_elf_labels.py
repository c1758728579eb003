"""Labels of assembler in object files, told from functions by their types."""

from __future__ import annotations

import struct

import pytest

from firstlight.lab.rootfs.elf import labels

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
    assert labels(elf) == {"loop1"}


def test_the_start_of_a_function_is_no_label_of_it() -> None:
    assert labels(object_file(("f", FUNCTION, TEXT, 0x100, 0x20), ("alias", NO_TYPE, TEXT, 0x100, 0))) == set()


def test_a_name_that_a_function_has_too_is_kept() -> None:
    elf = object_file(
        ("f", FUNCTION, TEXT, 0x100, 0x20), ("loop", NO_TYPE, TEXT, 0x110, 0), ("loop", FUNCTION, TEXT, 0x200, 0x20)
    )
    assert labels(elf) == set()


def test_what_is_no_object_file_has_none() -> None:
    assert labels(b"no ELF at all") == set()


@pytest.mark.parametrize("length", [70, 100, 200])
def test_a_file_that_was_cut_is_an_error(length: int) -> None:
    elf = object_file(("f", FUNCTION, TEXT, 0x100, 0x20), ("loop", NO_TYPE, TEXT, 0x110, 0))
    with pytest.raises(ValueError, match=r"."):
        labels(elf[:length])

"""The loader and the shared libraries that a program names."""

from __future__ import annotations

from firstlight._core import elf_needs
from firstlight.errors import LabError


def needed_libraries(elf: bytes, path: str) -> list[str]:
    """The path of a program's or library's loader, where it has one, and the names of the libraries that it asks for.

    :param path: for the message of an error.
    :raises LabError: when the content is not an ELF file, or a damaged one.

    Source: the System V ABI, "Program Header" and "Dynamic Linking".

    >>> needed_libraries(b"#!/bin/sh", "/bin/script")
    Traceback (most recent call last):
    firstlight.errors.LabError: /bin/script: its libraries cannot be read: it is not an ELF file
    """
    try:
        interpreter, libraries = elf_needs(elf)
    except ValueError as error:
        raise LabError(f"its libraries cannot be read: {error}", where=path) from error
    return [*([] if interpreter is None else [interpreter]), *libraries]

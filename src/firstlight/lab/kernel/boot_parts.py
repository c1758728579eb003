"""The entry points of a kernel's file, and the code that the plugin looks for in memory to recognise each.

A boot loader may load the kernel at any address, so the plugin cannot use addresses. It compares the first bytes of
code.

Sources: the kernel's `Documentation/arch/x86/boot.rst` ("64-bit Boot Protocol") and
`Documentation/admin-guide/efi-stub.rst`; the PE format, "Optional Header" and "Section Table"; the System V ABI,
"ELF Header".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from firstlight._core import elf_headers
from firstlight.lab.kernel.command_line.image import image_start
from firstlight.lab.kernel.image_header import FORMAT, HEAD_SIZE, has_setup
from firstlight.lab.kernel.pe import SECTION, section_table
from firstlight.recipe.isa import architecture_of_file

#: Bytes that are compared.
_CODE = 32
#: Where the decompressor is entered in 64-bit mode, behind the setup's sectors.
_ENTRY_64 = 0x200
#: Bytes of the kernel's image that hold its headers.
_HEADERS = 4096


@dataclass(frozen=True)
class ImagePart:
    """A part of what runs before the kernel's image is entered, or that image."""

    begins: Literal["loader", "decompressor", "kernel"]
    code: str
    """Its first bytes in hexadecimal digits; nothing for the first instruction of the machine."""
    detail: str
    """What it is."""


def parts_before_kernel(kernel: Path, loader: str | None) -> list[dict[str, Any]]:
    """The parts as the plugin's configuration has them.

    :param kernel: the kernel's file.
    :param loader: what the boot loader is called that runs from the machine's first instruction on; nothing where
        firmware runs then, and the kernel's own stub is the loader.
    """
    with kernel.open("rb") as file:
        head = file.read(HEAD_SIZE)
        architecture = architecture_of_file(head)
        read = None if architecture is None else _READERS.get(architecture.kernel_format)
        found = [] if read is None else read(head + file.read())
    if loader is not None:
        found = [ImagePart("loader", "", loader), *(part for part in found if part.begins != "loader")]
    return [asdict(part) for part in found]


def compressed_parts(kernel: bytes) -> list[ImagePart]:
    """The parts of a kernel's file that unpacks itself: its stub for EFI, its decompressor and its image.

    >>> compressed_parts(bytes(4096))
    []
    """
    try:
        decompressor = ((kernel[0x1F1] or 4) + 1) * 512 + _ENTRY_64
        found = [
            ("loader", efi_entry(kernel), "the kernel's EFI stub"),
            ("decompressor", decompressor if has_setup(kernel) else None, "the kernel's decompressor"),
        ]
        parts = [_part(begins, kernel[at : at + _CODE], detail) for begins, at, detail in found if at is not None]
        image = _image_entry(kernel)
    except (struct.error, IndexError):
        return []
    return [*parts, *([] if image is None else [_part("kernel", image, "the kernel's image")])]


def _part(begins: Any, code: bytes, detail: str) -> ImagePart:
    return ImagePart(begins, code.hex(), detail)


def efi_entry(program: bytes) -> int | None:
    """Where in its file an EFI program is entered; `None` for another file.

    >>> efi_entry(b"MZ" + bytes(100)) is None
    True
    """
    if (sections := section_table(program)) is None:
        return None
    (entry,) = struct.unpack_from("<I", program, sections.header + 40)
    for index in range(sections.count):
        at = sections.table + SECTION * index
        size, address, length, offset = struct.unpack_from("<IIII", program, at + 8)
        if address <= entry < address + max(size, length):
            return int(offset + entry - address)
    return None


def _image_entry(kernel: bytes) -> bytes | None:
    """The first bytes of the image's entry, by the headers of the ELF file that is packed in the kernel's."""
    elf = image_start(kernel, _HEADERS)
    try:
        headers = elf_headers(elf or b"")
    except ValueError:
        return None
    for segment in headers.segments:
        if segment.is_loaded and segment.physical <= headers.entry < segment.physical + segment.file_bytes:
            at = segment.offset + headers.entry - segment.physical
            start = image_start(kernel, at + _CODE)
            return None if start is None else start[at:]
    return None


_READERS: Mapping[str, Callable[[bytes], list[ImagePart]]] = {FORMAT: compressed_parts}

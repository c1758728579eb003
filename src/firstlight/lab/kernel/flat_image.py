"""The head of an uncompressed kernel (`Image`), which arm64 and riscv64 share: whether it boots.

Sources: the kernel's `Documentation/arch/arm64/booting.rst` and `Documentation/arch/riscv/boot-image-header.rst`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from firstlight.lab.kernel.image_header import Head, NotBootableError
from firstlight.lab.kernel.pe import SECTION, section_table

_HEADER = 0x40
_SIGN_AT = 0x38
_BIG_ENDIAN = 1


@dataclass(frozen=True)
class FlatImage:
    """The form of one architecture."""

    name: str
    """The architecture's."""
    sign: bytes
    build: str
    """Where the kernel's build leaves the file."""
    little_endian: str
    """How a kernel for little-endian processors is built."""
    entry: Callable[[bytes], int | None]
    """Where in the file the code begins, by the jump at its start; `None` where there is no such jump."""

    def is_image(self, head: bytes) -> bool:
        """Whether a file of these first bytes has the sign of this form."""
        return head[_SIGN_AT : _SIGN_AT + len(self.sign)] == self.sign

    def read(self, head: bytes, size: int) -> Head:
        """Read the head of an Image.

        :param head: the first bytes of the file: 64 KiB, or all of it.
        :param size: the file's size in bytes.
        :raises NotBootableError: when it is something else, is truncated, or has its bytes in the other order.
        """
        if not self.is_image(head):
            hint = f"give the Image made from it: `{self.build}` of the kernel's build"
            raise NotBootableError(f"an ELF file for {self.name}", hint)
        if len(head) < _HEADER:
            message = f"a truncated kernel: {size} bytes of a header of {_HEADER}"
            raise NotBootableError(message, "copy or build it again")
        (flags,) = struct.unpack_from("<Q", head, 24)
        if flags & _BIG_ENDIAN:
            raise NotBootableError(f"a big-endian kernel for {self.name}", self.little_endian)
        entry = self.entry(head)
        if entry is None:
            raise NotBootableError(
                f"no kernel for {self.name}: its header has the sign of one, and no jump to its code",
                "copy or build it again",
            )
        expected = max(_end_of_sections(head), entry + 4)
        if size < expected:
            raise NotBootableError(
                f"a truncated kernel: {size} bytes of {expected} that its header announces", "copy or download it again"
            )
        # The text of the version is somewhere in the image, without a pointer to it: `kernel.py` looks for it.
        return Head(None)


def _end_of_sections(head: bytes) -> int:
    """Where the last section ends in a file that is an EFI program too; else 0."""
    if (sections := section_table(head)) is None:
        return 0
    ends = [0]
    for at in range(sections.table, min(sections.table + SECTION * sections.count, len(head) - SECTION + 1), SECTION):
        length, offset = struct.unpack_from("<II", head, at + 16)
        ends.append(length + offset)
    return max(ends)

"""Kernels that boot as ELF files, of ppc64le and mips64el: whether one boots, and the memory that it takes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from firstlight.lab.kernel.image_header import Head, NotBootableError
from firstlight.lab.kernel.program_headers import LOAD, ProgramHeader, program_headers

_EXECUTABLE = 2
_AGAIN = "copy or download it again"


@dataclass(frozen=True)
class ElfImage:
    """The form of the kernels of one architecture."""

    processor: str
    elf_machine: int
    path: str
    """Where the kernel's build leaves it."""
    place: Callable[[ProgramHeader], int]
    """The physical address at which QEMU puts a part."""

    def read(self, head: bytes, size: int) -> Head:
        """Read the head of a kernel.

        :param head: the first bytes of the file: 64 KiB, or all of it.
        :param size: the file's size in bytes.
        :raises NotBootableError: when it is a program or an object file, or is truncated.
        """
        try:
            (kind,) = struct.unpack_from("<H", head, 16)
            headers = program_headers(head)
        except struct.error as error:
            raise NotBootableError("a truncated kernel: its program headers are cut off", _AGAIN) from error
        if kind != _EXECUTABLE or not any(map(_is_of_kernel, headers)):
            raise NotBootableError(
                f"an ELF file for {self.processor}, no kernel", f"give the kernel's `{self.path}`, as it is in /boot"
            )
        end = max(each.file_end for each in headers)
        if size < end:
            raise NotBootableError(f"a truncated kernel: {size} bytes of {end} that its headers announce", _AGAIN)
        return Head(None)

    def memory(self, head: bytes) -> int:
        """The end of the memory in bytes that such a kernel takes to start; 0 for any other file."""
        if head[:6] != b"\x7fELF\x02\x01" or head[18:20] != self.elf_machine.to_bytes(2, "little"):
            return 0
        try:
            loaded = [each for each in program_headers(head) if each.kind == LOAD]
        except struct.error:
            return 0
        return max((self.place(each) + each.memory for each in loaded), default=0)


def _is_of_kernel(part: ProgramHeader) -> bool:
    """Whether a part is linked into the upper half of the addresses, where no program is."""
    return part.kind == LOAD and part.address >> 63 == 1


PPC64LE = ElfImage(
    "ppc64le",
    elf_machine=21,
    path="vmlinux",
    # `translate_kernel_address` and KERNEL_LOAD_ADDR of QEMU's hw/ppc/spapr.c.
    place=lambda part: (part.address & 0x0FFF_FFFF) + 0x40_0000,
)

MIPS64EL = ElfImage(
    "mips64el",
    elf_machine=8,
    path="vmlinuz",
    # `cpu_mips_kseg0_to_phys` of QEMU.
    place=lambda part: part.address & 0x1FFF_FFFF,
)

#: Such kernels by the name of the form of their files.
FORMATS = {"ppc64le vmlinux": PPC64LE, "mips64el vmlinuz": MIPS64EL}

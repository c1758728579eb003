"""Kernels that boot as ELF files, of ppc64le and mips64el: whether one boots, and the memory that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firstlight._core import ElfSegment, elf_headers
from firstlight.lab.kernel.image_header import Head, NotBootableError

_AGAIN = "copy or download it again"


@dataclass(frozen=True)
class ElfImage:
    """The form of the kernels of one architecture."""

    processor: str
    elf_machine: int
    path: str
    """Where the kernel's build leaves it."""
    place: Callable[[ElfSegment], int]
    """The physical address at which QEMU puts a part."""

    def read(self, head: bytes, size: int) -> Head:
        """Read the head of a kernel.

        :param head: the first bytes of the file: 64 KiB, or all of it.
        :param size: the file's size in bytes.
        :raises NotBootableError: when it is a program or an object file, or is truncated.
        """
        try:
            headers = elf_headers(head)
        except ValueError as error:
            raise NotBootableError("a truncated kernel: its program headers are cut off", _AGAIN) from error
        if not headers.is_executable or not any(map(_is_of_kernel, headers.segments)):
            raise NotBootableError(
                f"an ELF file for {self.processor}, not a kernel", f"give the kernel's `{self.path}`, as it is in /boot"
            )
        end = max(each.offset + each.file_bytes for each in headers.segments)
        if size < end:
            raise NotBootableError(f"a truncated kernel: {size} bytes of {end} that its headers state", _AGAIN)
        return Head(None)

    def memory(self, head: bytes) -> int:
        """The end of the memory in bytes that such a kernel takes to start; 0 for any other file."""
        try:
            headers = elf_headers(head)
        except ValueError:
            return 0
        if headers.bits != 64 or headers.machine != self.elf_machine:
            return 0
        return max((self.place(each) + each.memory_bytes for each in headers.segments if each.is_loaded), default=0)


def _is_of_kernel(part: ElfSegment) -> bool:
    """Whether a part is linked into the upper half of the addresses, where no program is."""
    return part.is_loaded and part.address >> 63 == 1


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

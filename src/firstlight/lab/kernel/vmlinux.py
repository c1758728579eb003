"""The header of an uncompressed kernel (ELF): whether it boots here, its release and its memory size."""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from firstlight._core import elf_headers
from firstlight.lab.kernel.image_header import NotBootableError

#: `XEN_ELFNOTE_PHYS32_ENTRY` in the kernel's `include/xen/interface/elfnote.h`: where a virtual machine enters it.
_ENTRY_NOTE = 18
#: `EM_X86_64`.
_X86_64 = 62
_BANNER = re.compile(rb"Linux version (\S{1,200}) ")


@dataclass(frozen=True)
class Vmlinux:
    """What an uncompressed kernel says of itself."""

    release: str | None
    """As `uname -r` will print it."""
    end: int
    """The first byte of physical memory behind it."""


def is_vmlinux(head: bytes) -> bool:
    """Whether a file of these first bytes may be an uncompressed kernel for x86_64: an ELF file that is linked into the
    upper half of the addresses.
    """
    try:
        headers = elf_headers(head)
    except ValueError:
        return False
    is_in_upper_half = any(each.address >> 63 for each in headers.segments if each.is_loaded)
    return headers.machine == _X86_64 and is_in_upper_half


def read_vmlinux(path: Path) -> Vmlinux:
    """Read what QEMU needs to boot it: the note of the PVH entry, and where it is loaded.

    :raises NotBootableError: when it is cut short, or was built without CONFIG_PVH.
    :raises OSError: when it cannot be read.

    Source: QEMU's `hw/i386/x86.c` (`load_elfboot`) and the PVH boot protocol, `docs/misc/pvh.pandoc` of Xen.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            segments = elf_headers(content[: 1 << 16]).segments
        except ValueError as error:
            raise NotBootableError("a truncated kernel: its program headers are cut off", _AGAIN) from error
        size = max((each.offset + each.file_bytes for each in segments), default=0)
        if size > len(content):
            raise NotBootableError(f"a truncated kernel: {len(content)} bytes of {size} that its headers state", _AGAIN)
        notes = (content[each.offset : each.offset + each.file_bytes] for each in segments if each.is_note)
        if not any(map(_has_entry, notes)):
            raise NotBootableError(
                "an uncompressed `vmlinux` without an entry for virtual machines",
                "build it with CONFIG_PVH=y, or give the bzImage that was built from it: `arch/x86/boot/bzImage`",
            )
        found = _BANNER.search(content)
        release = found[1].decode("utf-8", "replace") if found is not None else None
        end = max((each.physical + each.memory_bytes for each in segments if each.is_loaded), default=0)
        return Vmlinux(release, end)


_AGAIN = "copy or build it again"


def _has_entry(notes: bytes) -> bool:
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name = notes[at + 12 : at + 12 + name_size]
        if kind == _ENTRY_NOTE and name == b"Xen\0":
            return True
        at += 12 + (name_size + 3) // 4 * 4 + (size + 3) // 4 * 4
    return False

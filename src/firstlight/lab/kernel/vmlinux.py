"""The header of an uncompressed kernel (ELF): whether it boots here, its release and its memory size."""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from firstlight.lab.kernel.image_header import NotBootableError
from firstlight.lab.kernel.program_headers import LOAD, NOTE, program_headers

#: `XEN_ELFNOTE_PHYS32_ENTRY` in the kernel's `include/xen/interface/elfnote.h`: where a virtual machine enters it.
_ENTRY_NOTE = 18
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
    if head[:6] != b"\x7fELF\x02\x01" or head[18:20] != b"\x3e\x00":
        return False
    try:
        return any(each.address >> 63 for each in program_headers(head) if each.kind == LOAD)
    except struct.error:
        return False


def read_vmlinux(path: Path) -> Vmlinux:
    """Read what QEMU needs to boot it: the note of the PVH entry, and where it is loaded.

    :raises NotBootableError: when it is cut short, or was built without CONFIG_PVH.
    :raises OSError: when it cannot be read.

    Source: QEMU's `hw/i386/x86.c` (`load_elfboot`) and the PVH boot protocol, `docs/misc/pvh.pandoc` of Xen.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            headers = program_headers(content[: 1 << 16])
        except struct.error as error:
            raise NotBootableError("a truncated kernel: its program headers are cut off", _AGAIN) from error
        size = max((each.file_end for each in headers), default=0)
        if size > len(content):
            raise NotBootableError(
                f"a truncated kernel: {len(content)} bytes of {size} that its headers announce", _AGAIN
            )
        notes = (content[each.offset : each.file_end] for each in headers if each.kind == NOTE)
        if not any(map(_has_entry, notes)):
            raise NotBootableError(
                "an uncompressed `vmlinux` without an entry for virtual machines",
                "build it with CONFIG_PVH=y, or give the bzImage that was built from it: `arch/x86/boot/bzImage`",
            )
        found = _BANNER.search(content)
        release = found[1].decode("utf-8", "replace") if found is not None else None
        end = max((each.physical + each.memory for each in headers if each.kind == LOAD), default=0)
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

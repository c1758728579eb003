"""The header of a kernel file: whether it boots here, and its release."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from firstlight.lab.kernel.foreign_image import (
    boot_loader_image,
    efi_program,
    elf_processor,
    gzip_content,
    image_processor,
)

#: As much of a file as :func:`read_head` has to see.
HEAD_SIZE = 64 * 1024

#: The name of the form of these files.
FORMAT = "bzImage"

_SECTOR = 512
_BOOT_FLAG = 0x1FE
_MAGIC = 0x202
_PROTOCOL_WITH_XLOADFLAGS = 0x20C
_XLF_KERNEL_64 = 1
_FOREIGN = (
    "give a bzImage for x86_64, an uncompressed Image for arm64 or riscv64, a zImage for 32-bit arm, "
    "or the ELF file for ppc64le (vmlinux) or mips64el (vmlinuz)"
)


class NotBootableError(Exception):
    """Why a file is not a kernel for this machine; ``hint`` says what to do, where that is known."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Head:
    """What a bzImage says of itself."""

    version: str | None
    """The whole version text, such as ``6.1.0-56-cloud-amd64 (...) #1 SMP ...``."""

    @property
    def release(self) -> str | None:
        """As ``uname -r`` will print it."""
        words = self.version.split() if self.version else []
        return words[0] if words else None


def read_head(head: bytes, size: int) -> Head:
    """Read the head of an x86_64 bzImage, by the boot protocol in the kernel's ``Documentation/arch/x86/boot.rst``.

    :param head: the first :data:`HEAD_SIZE` bytes of the file, or all of it.
    :param size: the file's size in bytes.
    :raises NotBootableError: for anything else, with what it is.
    """
    if not (head[_BOOT_FLAG : _BOOT_FLAG + 2] == b"\x55\xaa" and head[_MAGIC : _MAGIC + 4] == b"HdrS"):
        raise _other(head, size)
    if len(head) < 0x260:
        raise _truncated(size, 0x260)
    setup_sectors = head[0x1F1] or 4
    (system_paragraphs,) = struct.unpack_from("<I", head, 0x1F4)
    expected = (setup_sectors + 1) * _SECTOR + system_paragraphs * 16
    # The last paragraph may be incomplete; what follows (a signature) is not counted.
    if size <= expected - 16:
        raise _truncated(size, expected)
    protocol, version_pointer = struct.unpack_from("<H", head, 0x206)[0], struct.unpack_from("<H", head, 0x20E)[0]
    flags = struct.unpack_from("<H", head, 0x236)[0] if protocol >= _PROTOCOL_WITH_XLOADFLAGS else 0
    if not flags & _XLF_KERNEL_64:
        raise NotBootableError("a kernel for 32-bit x86", "give a kernel for x86_64")
    return Head(_version(head, version_pointer))


def has_setup(head: bytes) -> bool:
    """Whether a kernel's file has the header of the boot protocol, and unpacks itself.

    >>> has_setup(bytes(0x202) + b"HdrS")
    True
    """
    return head[_MAGIC : _MAGIC + 4] == b"HdrS"


def memory_needed(head: bytes) -> int:
    """The end of the memory in bytes that the kernel takes while it starts, by `pref_address` and `init_size` of boot
    protocol 2.10; 0 when it does not say.
    """
    if len(head) < 0x264 or head[_MAGIC : _MAGIC + 4] != b"HdrS" or struct.unpack_from("<H", head, 0x206)[0] < 0x20A:
        return 0
    preferred, size = struct.unpack_from("<QI", head, 0x258)
    return int(preferred) + int(size)


def _version(head: bytes, pointer: int) -> str | None:
    if pointer == 0:
        return None
    text = head[pointer + _SECTOR :][:_SECTOR].split(b"\0", 1)[0]
    return text.decode("utf-8", "replace") or None


def _truncated(size: int, expected: int) -> NotBootableError:
    return NotBootableError(
        f"a truncated kernel: {size} bytes of {expected} that its header states", "copy or download it again"
    )


def _other(head: bytes, size: int) -> NotBootableError:
    if size == 0:
        return NotBootableError("an empty file")
    if head[:4] == b"\x7fELF":
        machine = struct.unpack_from("<H", head, 18)[0] if len(head) >= 20 else 0
        if machine == 0x3E:
            return NotBootableError("a program, not a kernel", "give a bzImage, such as /boot/vmlinuz-RELEASE")
        return NotBootableError(f"an ELF file for {elf_processor(head) or 'another processor'}", _FOREIGN)
    processor = image_processor(head)
    if processor is not None:
        return NotBootableError(f"a kernel for {processor}", _FOREIGN)
    if head[:2] == b"\x1f\x8b":
        unpacked = gzip_content(head)
        if unpacked is not None:
            hint = "unpack it with `gunzip`" if unpacked in ("arm64", "riscv64") else _FOREIGN
            return NotBootableError(f"a compressed kernel for {unpacked}", hint)
        return NotBootableError(
            "a gzip file, such as the kernel of another architecture", "give a bzImage for x86_64, as it is in /boot"
        )
    for_boot_loader = boot_loader_image(head)
    if for_boot_loader is not None:
        return NotBootableError(for_boot_loader, f"no boot loader runs before it: {_FOREIGN}")
    if head[:2] == b"MZ":
        return NotBootableError(efi_program(head), "give a bzImage for x86_64, such as the one inside it")
    if head[:6] in (b"070701", b"070702"):
        return NotBootableError("a cpio archive, such as an initramfs", "pass it as `--initrd`")
    return NotBootableError("not a kernel", _FOREIGN)

"""Checks before the boot whether a user's file is a complete initramfs."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

from firstlight.errors import MISSING_INPUT, LabError
from firstlight.zstd import ZstdError, kernel_decompressor

_BLOCK = 1 << 20
_NEWC = (b"070701", b"070702")
_HEADER = 110
# Formats of the kernel whose end cannot be checked without a library of their own.
_UNCHECKED = {b"\x02\x21\x4c\x18": "lz4", b"\x89LZO": "lzo", b"\x5d\x00\x00": "lzma"}


class _Decompressor(Protocol):
    """What the decompressors of gzip, xz, bzip2 and zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def check_initrd(path: Path) -> None:
    """Make sure that a file is an initramfs as the kernel takes it: one or more cpio archives (newc), plain or
    compressed (gzip, xz, zstd, bzip2, lz4, lzo, lzma), one after the other, and none of them cut off.

    :raises LabError: when it is missing, cannot be read, is something else, or ends too early.

    Source of the formats: the kernel's `Documentation/driver-api/early-userspace/buffer-format.rst` and
    `lib/decompress.c`.

    >>> from firstlight.errors import LabError
    >>> try:
    ...     check_initrd(Path("/dev/null/none"))
    ... except LabError as error:
    ...     print(error.message)
    the initramfs cannot be read: Not a directory
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise LabError("not a regular file", where=str(path), hint="copy it into a file", exit_code=MISSING_INPUT)
    try:
        with path.open("rb") as file:
            _check(file, path)
    except OSError as error:
        raise LabError(
            f"the initramfs cannot be read: {error.strerror}",
            where=str(path),
            hint="leave the option out to use Firstlight's minimal initramfs",
            exit_code=MISSING_INPUT,
        ) from error


def _check(file: BinaryIO, path: Path) -> None:
    archives = 0
    while True:
        start = _skip_zeros(file)
        magic = file.read(6)
        file.seek(start)
        if not magic:
            break
        if magic in _NEWC:
            _walk_newc(file, path)
        elif any(magic.startswith(each) for each in _UNCHECKED):
            return
        elif (decompressor := _decompressor(magic)) is not None:
            _decompress(file, path, decompressor)
        elif archives == 0:
            raise LabError(
                "this is not an initramfs: neither a cpio archive (newc) nor a compressed one",
                where=str(path),
                hint="pass disk images with `--rootfs`",
            )
        else:
            raise LabError(f"something that is not an archive follows at byte {start}", where=str(path))
        archives += 1
    if archives == 0:
        raise LabError("the initramfs is empty", where=str(path))


def _truncated(path: Path, detail: str) -> LabError:
    return LabError(f"the initramfs is truncated: {detail}", where=str(path), hint="copy or build it again")


def _skip_zeros(file: BinaryIO) -> int:
    """Skip padding; where what follows starts."""
    while block := file.read(_BLOCK):
        rest = block.lstrip(b"\0")
        if rest:
            file.seek(-len(rest), 1)
            break
    return file.tell()


def _walk_newc(file: BinaryIO, path: Path) -> None:
    """Walk the members up to the trailer."""
    begin = file.tell()
    size = path.stat().st_size
    while True:
        at = file.tell()
        header = file.read(_HEADER)
        if len(header) < _HEADER:
            raise _truncated(path, f"it ends at byte {size}, before the archive's trailer")
        try:
            if header[:6] not in _NEWC:
                raise ValueError
            length, name_length = int(header[54:62], 16), int(header[94:102], 16)
        except ValueError:
            raise LabError(f"the archive is damaged at byte {at}", where=str(path)) from None
        name = file.read(name_length)
        if name.rstrip(b"\0") == b"TRAILER!!!":
            return
        data = begin + _aligned(file.tell() - begin)
        file.seek(begin + _aligned(data + length - begin))
        if data + length > size:
            raise _truncated(path, f"`{name.rstrip(bytes(1)).decode(errors='replace')}` is truncated")


def _aligned(offset: int) -> int:
    return (offset + 3) & ~3


def _decompressor(magic: bytes) -> Callable[[], _Decompressor] | None:
    if magic.startswith(b"\x1f\x8b"):
        return lambda: zlib.decompressobj(wbits=31)
    if magic.startswith(b"\xfd7zXZ"):
        return lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    if magic.startswith(b"BZh"):
        return bz2.BZ2Decompressor
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return kernel_decompressor
    return None


def _decompress(file: BinaryIO, path: Path, make: Callable[[], _Decompressor]) -> None:
    """Decompress one stream, only to see that it is whole, and go to where it ends."""
    stream = make()
    try:
        while not stream.eof:
            block = file.read(_BLOCK)
            if not block:
                raise _truncated(path, "its compressed data end too early")
            stream.decompress(block)
    except (zlib.error, lzma.LZMAError, ZstdError, OSError, EOFError) as error:
        raise LabError(f"the initramfs is damaged: {error}", where=str(path), hint="copy or build it again") from error
    file.seek(-len(stream.unused_data), 1)

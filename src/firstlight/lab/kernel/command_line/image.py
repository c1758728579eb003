"""A kernel's ELF image, extracted from its boot file, and the texts in it by address."""

from __future__ import annotations

import bz2
import lzma
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from firstlight._core import elf_headers
from firstlight.lab.kernel.lz4 import lz4_start
from firstlight.zstd import ZstdError, kernel_decompressor

#: Bytes; no kernel is larger, and a stream that somebody made up may be.
_LARGEST = 512 << 20


@dataclass(frozen=True)
class Image:
    """What a kernel's program headers put at which virtual address."""

    content: bytes
    places: tuple[tuple[int, int, int], ...]
    """Virtual address, offset in the file, bytes of the file."""

    def text_at(self, address: int, longest: int = 256) -> str | None:
        """The zero-terminated ASCII text at a virtual address; `None` where there is none."""
        for start, offset, size in self.places:
            if start <= address < start + size:
                begin = offset + address - start
                text, end, _ = self.content[begin : begin + longest].partition(b"\0")
                return text.decode("ascii") if end and text.isascii() else None
        return None

    def holds(self, text: str) -> bool:
        """Whether a text stands in it; perhaps as the end of a longer one, because linkers merge them."""
        return text.encode() + b"\0" in self.content


def open_image(kernel: bytes) -> Image | None:
    """The image in a kernel's file: a bzImage of boot protocol 2.08 or newer, or an ELF `vmlinux`.

    :returns: `None` where it cannot be had: unknown compression, another file.

    Source: `Documentation/arch/x86/boot.rst` of the kernel, fields `payload_offset` and `payload_length`.
    """
    try:
        elf = kernel if kernel[:4] == b"\x7fELF" else _payload(kernel)
        return None if elf is None else _image(elf)
    except (struct.error, ValueError, zlib.error, lzma.LZMAError, ZstdError, OSError, EOFError):
        return None


def image_start(kernel: bytes, size: int) -> bytes | None:
    """The first bytes of the image in a bzImage, without the cost of unpacking all of it.

    :param size: how many bytes.
    :returns: `None` where it cannot be had, as :func:`open_image`.
    """
    try:
        start = _payload(kernel, size)
        return None if start is None or len(start) < size else start[:size]
    except (struct.error, ValueError, zlib.error, lzma.LZMAError, ZstdError, OSError, EOFError):
        return None


def _payload(kernel: bytes, most: int = _LARGEST) -> bytes | None:
    if kernel[0x202:0x206] != b"HdrS" or struct.unpack_from("<H", kernel, 0x206)[0] < 0x208:
        return None
    offset, length = struct.unpack_from("<II", kernel, 0x248)
    begin = ((kernel[0x1F1] or 4) + 1) * 512 + offset
    packed = kernel[begin : begin + length]
    for magic, expand in _EXPANDERS:
        if packed.startswith(magic):
            return expand(packed, most)
    return None


def _gzip(packed: bytes, most: int) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(packed, most)


def _xz(packed: bytes, most: int) -> bytes:
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(packed, most)


def _lzma(packed: bytes, most: int) -> bytes:
    return lzma.LZMADecompressor(format=lzma.FORMAT_ALONE).decompress(packed, most)


def _bzip2(packed: bytes, most: int) -> bytes:
    return bz2.BZ2Decompressor().decompress(packed, most)


def _zstd(packed: bytes, most: int) -> bytes:
    return kernel_decompressor().decompress(packed, most)


def _lz4(packed: bytes, most: int) -> bytes:
    if most < _LARGEST:
        return lz4_start(packed, most)
    # The standard library has no LZ4; whoever builds kernels with it has its program.
    if (lz4 := shutil.which("lz4")) is None:
        raise ValueError("no lz4")
    # Four bytes with the unpacked size stand behind the stream.
    run = subprocess.run([lz4, "-d", "-c"], input=packed[:-4], capture_output=True, check=False)
    return run.stdout


_EXPANDERS: tuple[tuple[bytes, Callable[[bytes, int], bytes]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\xfd7zXZ", _xz),
    (b"BZh", _bzip2),
    (b"\x5d\x00\x00", _lzma),
    (b"\x28\xb5\x2f\xfd", _zstd),
    (b"\x02\x21\x4c\x18", _lz4),
)


def _image(elf: bytes) -> Image:
    loaded = (each for each in elf_headers(elf).segments if each.is_loaded)
    return Image(elf, tuple((each.address, each.offset, each.file_bytes) for each in loaded))

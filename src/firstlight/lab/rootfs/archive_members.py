"""Files out of an initramfs: cpio archives (newc), plain or compressed, one after another."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Protocol

from firstlight.zstd import ZstdError, kernel_decompressor

_NEWC = (b"070701", b"070702")
_HEADER = 110


class _Decompressor(Protocol):
    """What the decompressors of gzip, xz, bzip2 and zstd have in common."""

    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


_DECOMPRESSORS: dict[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"\xfd7zXZ": lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ),
    b"BZh": bz2.BZ2Decompressor,
    b"\x28\xb5\x2f\xfd": kernel_decompressor,
}
#: What unpacks to more is none of the archives that a machine boots from.
_MOST_BYTES = 1 << 31


def initramfs_members(path: Path, wanted: Collection[str], folder: Path) -> dict[str, Path]:
    """Copy files of an initramfs into a folder; what is damaged or of another format ends the search.

    :param wanted: absolute paths.
    :returns: by its path in the guest, where each file is that was found.

    Source: the kernel's `Documentation/driver-api/early-userspace/buffer-format.rst`.
    """
    found: dict[str, Path] = {}
    names = frozenset(wanted)
    try:
        for name, content in _members(path.read_bytes()):
            where = f"/{name.lstrip('/').removeprefix('./')}"
            if where in names and content:
                found[where] = folder / str(len(found))
                found[where].write_bytes(content)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, ZstdError):
        pass
    return found


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += 1
        elif data[at : at + 6] in _NEWC:
            begin = at
            while True:
                name, start, length = _member(data, at, begin)
                at = begin + _aligned(start + length - begin)
                if name == "TRAILER!!!":
                    break
                yield name, data[start : start + length]
        else:
            make = next((make for magic, make in _DECOMPRESSORS.items() if data.startswith(magic, at)), None)
            if make is None:
                return
            stream = make()
            unpacked = stream.decompress(data[at:])
            if len(unpacked) > _MOST_BYTES:
                return
            yield from _members(unpacked)
            at = len(data) - len(stream.unused_data)


def _member(data: bytes, at: int, begin: int) -> tuple[str, int, int]:
    """Name, place and length of what the header at a place describes."""
    header = data[at : at + _HEADER]
    if len(header) < _HEADER or header[:6] not in _NEWC:
        raise ValueError("no header")
    length, name_length = int(header[54:62], 16), int(header[94:102], 16)
    name = data[at + _HEADER : at + _HEADER + name_length].rstrip(b"\0").decode(errors="surrogateescape")
    return name, begin + _aligned(at + _HEADER + name_length - begin), length


def _aligned(offset: int) -> int:
    return (offset + 3) & ~3

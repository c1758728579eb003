"""Compressed files and archives: recognised by their content."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Literal

from firstlight.ingest.files.limits import IngestError
from firstlight.zstd import ZstdError

Packing = Literal["gz", "xz", "bz2", "zst", "tar", "zip"]

_MAGIC: tuple[tuple[bytes, Packing], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bz2"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)
#: What the libraries raise over damaged content.
DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, EOFError, lzma.LZMAError, zlib.error, ZstdError, OSError,
    ValueError, NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip


def packing(path: Path) -> Packing | None:
    """How a file is packed, by its first bytes; none when it is not."""
    with path.open("rb") as file:
        head = file.read(512)
    if head[257:262] == b"ustar":
        return "tar"
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)


def unpacked_name(name: str) -> str:
    """The name without the suffix of its compression.

    >>> unpacked_name("dmesg.txt.gz"), unpacked_name("boot.tgz"), unpacked_name("plain.log")
    ('dmesg.txt', 'boot.tar', 'plain.log')
    """
    stem, dot, suffix = name.rpartition(".")
    if dot and suffix.lower() in ("tgz", "txz", "tbz2", "tzst"):
        return f"{stem}.tar"
    return stem if dot and suffix.lower() in ("gz", "xz", "bz2", "zst", "zstd") else name


def damaged(where: str, error: BaseException) -> IngestError:
    """The error of an archive that cannot be read on."""
    return IngestError(f"what is packed is damaged: {error}", where=where, hint="copy or make it again")

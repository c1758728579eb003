"""Compressed files and archives: recognised by their content, unpacked into numbered files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

import zstandard

from firstlight.intake.limits import Budget, IntakeError

Packing = Literal["gz", "xz", "bz2", "zst", "tar", "zip"]

_OPENERS: dict[str, Callable[..., Any]] = {"gz": gzip.open, "xz": lzma.open, "bz2": bz2.open, "zst": zstandard.open}
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
    tarfile.TarError, zipfile.BadZipFile, EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError, OSError,
    ValueError, NotImplementedError, RuntimeError,
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


def open_compressed(path: Path, kind: Packing) -> IO[bytes]:
    """A compressed file's content as a stream."""
    stream: IO[bytes] = _OPENERS[kind](path, "rb")
    return stream


def safe_name(name: str) -> str | None:
    """A member's name as a path inside its archive; none when it points outside or is none.

    >>> safe_name("./a/./b.log"), safe_name("../b"), safe_name("/etc/passwd"), safe_name("a/../../b")
    ('a/b.log', None, None, None)
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\x00" in name or not path.name:
        return None
    return str(path)


def tar_members(path: Path, budget: Budget, notes: list[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files of an uncompressed tar, one after the other; what is none, or points outside, is noted."""
    where = str(path)
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            # Before anything of it is looked at: a tar may name millions of nothing.
            budget.file(where)
            if member.isdir():
                continue
            name = safe_name(member.name)
            if not member.isreg() or name is None:
                kind = "is a link" if member.issym() or member.islnk() else "is no regular file"
                what = "points outside of the archive" if name is None else kind
                notes.append(f"`{member.name}` was left out: it {what}")
                continue
            content = archive.extractfile(member)
            if content is not None:
                yield name, content


def zip_members(path: Path, budget: Budget, notes: list[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of a zip, one after the other; what points outside or is encrypted is noted."""
    where = str(path)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            budget.file(where)
            if member.is_dir():
                continue
            name = safe_name(member.filename)
            kind = member.external_attr >> 16 & 0o170000
            if name is None or kind not in (0, 0o100000):
                what = "points outside of the archive" if name is None else "is no regular file"
                notes.append(f"`{member.filename}` was left out: it {what}")
            elif member.flag_bits & 1:
                notes.append(f"`{member.filename}` was left out: it is encrypted")
            else:
                with archive.open(member) as content:
                    yield name, content


def damaged(where: str, error: BaseException) -> IntakeError:
    """The error of an archive that cannot be read on."""
    return IntakeError(f"what is packed is damaged: {error}", where=where, hint="copy or make it again")

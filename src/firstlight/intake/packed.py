"""Compressed files and archives: recognised by their content, unpacked into numbered files."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

import zstandard

from firstlight.intake.keep import Readable
from firstlight.intake.limits import Budget, IntakeError
from firstlight.intake.torn_zip import torn_members

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


def safe_name(name: str) -> str | None:
    """A member's name as a path inside its archive; none when it points outside or is none.

    >>> safe_name("./a/./b.log"), safe_name("../b"), safe_name("/etc/passwd"), safe_name("a/../../b")
    ('a/b.log', None, None, None)
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\x00" in name or not path.name:
        return None
    return str(path)


def tar_members(path: Path, budget: Budget, notes: list[str]) -> Iterator[tuple[str, Readable]]:
    """The regular files of an uncompressed tar, one after the other; what is none, or points outside, is noted.

    Of a member that is cut off the beginning is given, and then :class:`tarfile.ReadError` raised.
    """
    where = str(path)
    size, end = path.stat().st_size, 0
    with path.open("rb") as bytes_, tarfile.open(fileobj=bytes_, mode="r:") as archive:
        for member in archive:
            # Before anything of it is looked at: a tar may name millions of nothing.
            budget.file(where)
            packed = 0 if member.issparse() or not member.isreg() else member.size
            end = member.offset_data + packed
            if member.isdir():
                continue
            name = safe_name(member.name)
            if not member.isreg() or name is None:
                kind = "is a link" if member.issym() or member.islnk() else "is no regular file"
                what = "points outside of the archive" if name is None else kind
                notes.append(f"`{member.name}` was left out: it {what}")
                continue
            if end > size:
                with path.open("rb") as rest:
                    rest.seek(member.offset_data)
                    yield name, rest
                raise tarfile.ReadError(f"it is cut off in `{member.name}`")
            content = archive.extractfile(member)
            if content is not None:
                yield name, content
    # Behind the last member stands an empty block.
    if size < -(-end // 512) * 512 + 512:
        raise tarfile.ReadError("its end is missing: more may have been in it")


def zip_members(path: Path, budget: Budget, notes: list[str]) -> Iterator[tuple[str, Readable]]:
    """The files of a zip, one after the other; what points outside or is encrypted is noted.

    Where the directory at its end is missing, members are looked for one after the other, and then
    :class:`zipfile.BadZipFile` is raised.
    """
    where = str(path)
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        for torn, content in torn_members(path):
            budget.file(where)
            safe = safe_name(torn)
            if safe is not None:
                yield safe, content
            else:
                notes.append(f"`{torn}` was left out: it points outside of the archive")
                return
        raise zipfile.BadZipFile("it is cut off: the directory at its end is missing") from error
    with archive:
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

"""Compressed files and archives: recognised by their content."""

from __future__ import annotations

import lzma
import re
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Literal

from firstlight.ingest.files.limits import IngestError
from firstlight.zstd import ZstdError

Packing = Literal["gz", "xz", "bz2", "zst", "tar", "zip", "mail"]

_MAGIC: tuple[tuple[bytes, Packing], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bz2"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)
#: What holds several files.
ARCHIVES: tuple[Packing, ...] = ("tar", "zip", "mail")
#: What the libraries raise over damaged content.
DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, EOFError, lzma.LZMAError, zlib.error, ZstdError, OSError,
    ValueError, NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip


#: The head of a mail: fields, with the lines that continue them.
_MAIL = re.compile(rb"(?:From [^\n]*\n)?(?:[\w-]+:(?:[ \t][^\n]*)?\r?\n(?:[ \t][^\n]*\n)*){2,}\r?\n")
#: A mail whose lines do not stand in the file as they were: its transfer encodes them, or it has several parts.
_ENCODED = re.compile(
    rb"^Content-Transfer-Encoding:[ \t]*(?:base64|quoted-printable)|^Content-Type:[ \t]*multipart/",
    re.IGNORECASE | re.MULTILINE,
)
_MAIL_BYTES = 1 << 16


def packing(path: Path) -> Packing | None:
    """How a file is packed, by its first bytes; none when it is not."""
    with path.open("rb") as file:
        head = file.read(512)
        if head[257:262] == b"ustar":
            return "tar"
        found = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
        if found is None and (head.startswith(b"From ") or re.match(rb"[\w-]+:[ \t]", head)):
            head += file.read(_MAIL_BYTES)
            fields = _MAIL.match(head)
            # A mailbox may begin with a mail that needs no encoding.
            where = head if head.startswith(b"From ") else fields[0] if fields else b""
            if fields and _ENCODED.search(where):
                return "mail"
    return found


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
    return IngestError(f"the packed content is damaged: {error}", where=where, hint="copy or make it again")

"""Where a tar goes on behind a header that cannot be read."""

from __future__ import annotations

import tarfile
from typing import IO

from firstlight.ingest.files.limits import Budget

BLOCK = 512
_CHUNK = BLOCK << 11


def header(block: bytes) -> tarfile.TarInfo | None:
    """What a block says when it is a sound header: it has the mark of one, and its check sum is right."""
    if block[257:262] != b"ustar":
        return None
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError, OverflowError):
        return None


def sound_header(file: IO[bytes], at: int, budget: Budget, where: str) -> int | None:
    """The place of the first sound header behind the damaged one at *at*; none when there is none.

    It is looked for where the damaged header says that its member ends, then in every block. A tar within the damaged
    member, if it is not compressed, is met first then: its members are taken for those of the outer one.

    :param budget: every block that has the mark of a header counts as a file.
    :raises IngestError: when there are too many.
    """
    file.seek(at)
    try:
        size = int(file.read(BLOCK)[124:136].strip(b"\0 "), 8)
    except ValueError:
        size = -1
    if size >= 0:
        place = at + BLOCK + -(-size // BLOCK) * BLOCK
        file.seek(place)
        if header(file.read(BLOCK)) is not None:
            return place
    at += BLOCK
    file.seek(at)
    while chunk := file.read(_CHUNK):
        for begin in range(0, len(chunk), BLOCK):
            if chunk[begin + 257 : begin + 262] == b"ustar":
                budget.file(where)
                if header(chunk[begin : begin + BLOCK]) is not None:
                    return at + begin
        at += len(chunk)
    return None


def damaged_at(file: IO[bytes], at: int, budget: Budget, where: str) -> bool:
    """Whether a tar that cannot be read on at *at* is damaged there, and neither ends nor is cut off.

    A tar ends with two empty blocks. One alone, with something behind it, is the end, too, of what some programs write:
    it is damage only when members follow.

    :raises IngestError: as :func:`sound_header`.
    """
    file.seek(at)
    block, behind = file.read(BLOCK), file.read(BLOCK)
    if len(block) < BLOCK:
        return False
    return any(block) or (any(behind) and sound_header(file, at, budget, where) is not None)

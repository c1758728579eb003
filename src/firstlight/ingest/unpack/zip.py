"""The members of a zip, each read as far as it goes."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from firstlight.ingest.files.collected import LeftOut
from firstlight.ingest.files.copy import Readable
from firstlight.ingest.files.limits import Budget
from firstlight.ingest.files.names import readable, safe_name
from firstlight.ingest.unpack.malformed_zip import ZipMember, torn_members
from firstlight.ingest.unpack.salvage import Salvaged

_KIND, _REGULAR, _ENCRYPTED = 0o170000, 0o100000, 1


def zip_members(path: Path, where: str, budget: Budget, left: LeftOut) -> Iterator[tuple[str, Salvaged]]:
    """The files of a zip, one after the other; what points outside or is encrypted is reported.

    Where the directory at its end is missing or damaged, members are looked for one after the other.

    :param where: what an error names.
    :raises zipfile.BadZipFile: at the end, when the directory is not sound.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error) as error:
        yield from _taken(torn_members(path), where, budget, left)
        raise zipfile.BadZipFile("it is truncated or damaged: the directory at its end cannot be read") from error
    with archive:
        yield from _taken(_listed(archive), where, budget, left)


def _listed(archive: zipfile.ZipFile) -> Iterator[ZipMember]:
    for member in archive.infolist():
        crc = member.CRC
        # The library raises over a wrong sum, and gives nothing of the last piece.
        del member.CRC
        yield ZipMember(
            name=member.filename, encrypted=bool(member.flag_bits & _ENCRYPTED),
            opened=partial(_open, archive, member), crc=crc,
            regular=member.external_attr >> 16 & _KIND in (0, _REGULAR),
        )  # fmt: skip


def _open(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Readable:
    return archive.open(member)


def _taken(members: Iterator[ZipMember], where: str, budget: Budget, left: LeftOut) -> Iterator[tuple[str, Salvaged]]:
    for member in members:
        budget.file(where)
        if member.name.endswith("/"):
            continue
        name, shown = safe_name(member.name), readable(member.name)
        if not member.regular:
            left.nothing(shown, "it is not a regular file")
        elif name is None:
            left.outside(shown)
        elif member.encrypted:
            left.evidence(shown, "it is encrypted")
        elif member.opened is None:
            left.evidence(shown, "its compression or its end is unknown")
        else:
            yield name, Salvaged(member.opened, member.crc)

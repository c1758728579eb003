"""rpm's database: headers of packages in SQLite (rpm 4.16 and later).

A header is two numbers, an index of 16 bytes an entry (tag, type, offset, count), and the data. Source: rpm's
`docs/manual/format_header.md`.
"""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from typing import NamedTuple

from firstlight.lab.rootfs.packages.owners import Owners, Package

_NAME, _VERSION, _RELEASE = 1000, 1001, 1002
_FOLDER_NUMBERS, _FILES, _FOLDERS = 1116, 1117, 1118
_INT32, _STRING, _STRINGS = 4, 6, 8
_ENTRY = 16


class _Header(NamedTuple):
    """What a header says of a package's files."""

    texts: dict[int, list[str]]
    folders: list[int]
    """Of each file."""


def rpm(folder: Path) -> Owners:
    """Read `rpmdb.sqlite` of a folder; a header that is damaged is left out."""
    owners, database = Owners("rpm"), folder / "rpmdb.sqlite"
    try:
        connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            headers = [row[0] for row in connection.execute("SELECT blob FROM Packages")]
        finally:
            connection.close()
    except sqlite3.Error:
        return owners
    for header in headers:
        try:
            _add(owners, _header(header))
        except (struct.error, IndexError, ValueError, TypeError, OverflowError):
            continue
    return owners


def _add(owners: Owners, header: _Header) -> None:
    names = header.texts.get(_NAME, [])
    if not names:
        return
    version = "-".join(header.texts[tag][0] for tag in (_VERSION, _RELEASE) if header.texts.get(tag))
    package = Package(names[0], version or None)
    folders = header.texts.get(_FOLDERS, [])
    for name, number in zip(header.texts.get(_FILES, []), header.folders, strict=False):
        owners.files[f"{folders[number]}{name}"] = package


def _header(blob: bytes) -> _Header:
    entries, size = struct.unpack_from(">II", blob)
    start = 8 + entries * _ENTRY
    data = blob[start : start + size]
    found = _Header({}, [])
    for place in range(8, min(start, len(blob)), _ENTRY):
        tag, kind, offset, count = struct.unpack_from(">IIiI", blob, place)
        if tag not in (_NAME, _VERSION, _RELEASE, _FOLDER_NUMBERS, _FILES, _FOLDERS):
            continue
        if kind == _INT32 and tag == _FOLDER_NUMBERS:
            found.folders.extend(struct.unpack_from(f">{count}i", data, offset))
        elif kind in (_STRING, _STRINGS):
            texts = data[offset:].split(b"\0", count)[:count]
            found.texts[tag] = [text.decode("utf-8", "replace") for text in texts]
    return found

"""A fleet on disk: Parquet files, and one list that says which of them count.

A reader goes by the list, `current.json`, which is replaced as a whole: it sees a fleet before a change or after it. A
writer prepares its files, takes the lock, and replaces the list last; what a writer left that was ended is in no list,
and the next compaction removes it. `docs/reference/formats/fleet.md` is the specification.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firstlight.atomic import atomic_write
from firstlight.errors import MISSING_INPUT, FirstlightError, UsageError

FORMAT = "firstlight fleet"
VERSION = 1
DESCRIPTION = "fleet.json"
LISTING = "current.json"
_LOCK = "lock"
QUARANTINE = "quarantine"
_LARGEST_LISTING = 256 << 20
#: A file of the list: a table, perhaps a day, and a name that nothing else has.
_FILE = re.compile(r"(?:boots|spans/day=(?:\d{4}-\d{2}-\d{2}|unknown))/[0-9a-f]{32}\.parquet")
ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""What an attribute may be called: it becomes a column."""


@dataclass(frozen=True)
class Listing:
    """The files that count, and how often the list was replaced."""

    boots: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    change: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """All of them, below the directory of the fleet."""
        return self.boots + self.spans


@dataclass(frozen=True)
class Fleet:
    """A fleet's directory, and what its description says."""

    directory: Path
    keeps_identities: bool = False
    """Whether host names, addresses and serial numbers are stored as they are."""

    @property
    def where(self) -> str:
        """The directory, for messages."""
        return str(self.directory)

    def listing(self) -> Listing:
        """The present list of files.

        :raises FirstlightError: when it is missing, damaged or of a newer version.
        """
        path = self.directory / LISTING
        found = _read(path)
        files = {name: found.get(name) for name in ("boots", "spans")}
        for name, listed in files.items():
            if not isinstance(listed, list) or not all(_is_file(name, each) for each in listed):
                raise FirstlightError(
                    f"the list of files is damaged: `{name}` is not a list of the fleet's files", where=str(path),
                    hint="restore it from a copy; the Parquet files next to it are intact",
                )  # fmt: skip
        change = found.get("change")
        return Listing(tuple(files["boots"] or ()), tuple(files["spans"] or ()), change if type(change) is int else 0)

    def replace_listing(self, listing: Listing) -> None:
        """Replace the list; only within :meth:`locked`.

        :raises FirstlightError: when it cannot be written; the list is then as it was.
        """
        made = replace(listing, change=listing.change + 1)
        text = {"version": VERSION, "change": made.change, "boots": list(made.boots), "spans": list(made.spans)}
        with atomic_write(self.directory / LISTING, force=True) as written:
            written.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only writer; another one waits. The lock ends with the process that has it.

        :raises FirstlightError: when the directory cannot be written.
        """
        path = self.directory / _LOCK
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            hint = "a fleet that is written needs a directory that can be written"
            raise FirstlightError(f"cannot be locked: {error.strerror}", where=self.where, hint=hint) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def paths(self, files: Sequence[str]) -> list[Path]:
        """The paths of listed files.

        :raises FirstlightError: when one is not there.
        """
        found = [self.directory / name for name in files]
        for path in found:
            if not path.is_file():
                raise FirstlightError(
                    "a file of the list is missing", where=str(path), hint="restore it from a copy of the fleet"
                )
        return found


def init_fleet(directory: Path, *, keeps_identities: bool = False) -> Fleet:
    """Make an empty fleet.

    :param directory: a new or an empty directory.
    :param keeps_identities: store host names, addresses and serial numbers as they are.
    :raises UsageError: when there is something else in the directory.
    :raises FirstlightError: when it cannot be written.
    """
    made: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise UsageError("the directory is not empty", where=str(directory), hint="name a new one")
        for name in ("boots", "spans"):
            (directory / name).mkdir()
            made.append(directory / name)
        fleet = Fleet(directory, keeps_identities)
        fleet.replace_listing(Listing())
        described = {"format": FORMAT, "version": VERSION, "keeps_identities": keeps_identities}
        with atomic_write(directory / DESCRIPTION) as written:
            written.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    except (OSError, FirstlightError) as error:
        # The directory can be named again.
        if made:
            (directory / LISTING).unlink(missing_ok=True)
        for folder in made:
            folder.rmdir()
        if isinstance(error, OSError):
            raise FirstlightError(f"cannot be made: {error.strerror or error}", where=str(directory)) from error
        raise
    return fleet


def open_fleet(directory: Path) -> Fleet:
    """Open a fleet.

    :raises UsageError: when there is none.
    :raises FirstlightError: when it is of a newer version or damaged.
    """
    path = directory / DESCRIPTION
    if not path.exists():
        hint = f"`firstlight fleet init {directory}` makes one"
        raise UsageError("there is no such fleet", where=str(directory), hint=hint, exit_code=MISSING_INPUT)
    described = _read(path)
    if described.get("format") != FORMAT:
        raise FirstlightError("not a fleet: its description names another format", where=str(path))
    return Fleet(directory, described.get("keeps_identities") is True)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_LISTING:
            raise FirstlightError("damaged: the file is too large", where=str(path))
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no JSON"
        hint = "check that the fleet's disk is mounted; otherwise restore the file from a copy"
        raise FirstlightError(f"cannot be read: {reason}", where=str(path), hint=hint) from error
    if not isinstance(found, dict) or type(found.get("version")) is not int:
        raise FirstlightError("damaged: it names no version", where=str(path), hint="restore it from a copy")
    if found["version"] > VERSION:
        raise FirstlightError(
            f"a newer Firstlight wrote this fleet: version {found['version']}, this one reads up to {VERSION}",
            where=str(path), hint="update Firstlight",
        )  # fmt: skip
    return found


def _is_file(table: str, name: object) -> bool:
    return isinstance(name, str) and _FILE.fullmatch(name) is not None and name.startswith(f"{table}/")

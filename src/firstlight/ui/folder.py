"""What lies in the folder that the browser shows: boots, histories, experiments, studies and fleets.

An entry is named by a digest of its place below the folder. A request names an entry by that digest and never by a
path, so no request can name a file that the scan did not find. The scan follows no symbolic link.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from firstlight.errors import MISSING_INPUT, FirstlightError, UsageError

#: No more entries than this are listed, no more directories entered, and none at a greater depth.
MOST_ENTRIES = 20_000
_MOST_DIRECTORIES = 200_000
_DEEPEST = 12
#: The first bytes of a DuckDB file are a checksum; its name follows.
_DUCKDB = (8, b"DUCK")


class Sort(StrEnum):
    """What an entry is."""

    BOOT = "boot"
    HISTORY = "history"
    EXPERIMENT = "experiment"
    STUDY = "study"
    FLEET = "fleet"


#: A directory with this file is an entry of that sort; the first that fits counts.
_SIGNS = (
    ("manifest.json", Sort.BOOT),
    ("experiment.json", Sort.EXPERIMENT),
    ("study.json", Sort.STUDY),
    ("fleet.json", Sort.FLEET),
)


@dataclass(frozen=True)
class Entry:
    """Something in the folder that the browser shows."""

    id: str
    """Its digest, as addresses have it."""
    sort: Sort
    path: Path
    place: tuple[str, ...]
    """The names from the folder to it; empty for the folder itself."""

    @property
    def name(self) -> str:
        """Its own name."""
        return self.place[-1] if self.place else self.path.name

    @property
    def within(self) -> str:
        """The folders that it lies in."""
        return "/".join(self.place[:-1])


class Folder:
    """A folder, scanned when it is asked for.

    >>> found = Folder(bundle.parent).entries()
    >>> bundle.name in [entry.name for entry in found if entry.sort is Sort.BOOT]
    True
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            what = "not a directory" if path.exists() else "there is no such directory"
            raise UsageError(what, where=str(path), hint="name a folder with boots", exit_code=MISSING_INPUT)
        self.path = path.resolve()
        self.truncated = False
        """Whether the last scan stopped at a limit."""
        self._known: dict[str, Entry] = {}
        self._lock = threading.Lock()

    def entries(self) -> list[Entry]:
        """Scan the folder, in the order of the names.

        :raises FirstlightError: when the folder itself cannot be read.
        """
        scan = _Scan(self.path)
        scan.enter(self.path, ())
        with self._lock:
            self.truncated = scan.truncated
            self._known = {entry.id: entry for entry in scan.found}
        return scan.found

    def find(self, entry_id: str, *sorts: Sort) -> Entry | None:
        """The entry of a digest, if it is still there and has one of the *sorts*."""
        with self._lock:
            entry = self._known.get(entry_id)
        if entry is None:
            entry = next((each for each in self.entries() if each.id == entry_id), None)
        if entry is None or entry.sort not in sorts or not self._is_there(entry):
            return None
        return entry

    def _is_there(self, entry: Entry) -> bool:
        """Whether no part of the path became a link since the scan."""
        path = self.path
        for name in entry.place:
            path = path / name
            try:
                mode = path.lstat().st_mode
            except OSError:
                return False
            last = path == entry.path
            if not (stat.S_ISREG(mode) if last and entry.sort is Sort.HISTORY else stat.S_ISDIR(mode)):
                return False
        return True


class _Scan:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.found: list[Entry] = []
        self.truncated = False
        self._directories = 0

    def enter(self, directory: Path, place: tuple[str, ...]) -> None:
        self._directories += 1
        if self._directories > _MOST_DIRECTORIES or len(self.found) >= MOST_ENTRIES or len(place) > _DEEPEST:
            self.truncated = True
            return
        try:
            with os.scandir(directory) as listed:
                inside = sorted(listed, key=lambda each: each.name)
        except OSError as error:
            if not place:
                reason = error.strerror or str(error)
                raise FirstlightError(f"the folder cannot be read: {reason}", where=str(directory)) from error
            return
        files = {each.name for each in inside if each.is_file(follow_symlinks=False)}
        sort = next((sort for sign, sort in _SIGNS if sign in files), None)
        if sort is not None:
            self._add(sort, directory, place)
        if sort in (Sort.BOOT, Sort.FLEET):
            return
        for each in inside:
            # Hidden directories are still being written, or are not part of what a person keeps here.
            if each.name.startswith("."):
                continue
            if each.is_dir(follow_symlinks=False):
                self.enter(directory / each.name, (*place, each.name))
            elif each.name.endswith(".duckdb") and each.name in files and _is_duckdb(directory / each.name):
                self._add(Sort.HISTORY, directory / each.name, (*place, each.name))

    def _add(self, sort: Sort, path: Path, place: tuple[str, ...]) -> None:
        digest = hashlib.sha256(b"\0".join([sort.encode(), *map(os.fsencode, place)])).hexdigest()
        self.found.append(Entry(digest[:20], sort, path, place))


def _is_duckdb(path: Path) -> bool:
    offset, sign = _DUCKDB
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(offset + len(sign))[offset:] == sign
    except OSError:
        return False

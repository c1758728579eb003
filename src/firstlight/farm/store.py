"""A store: a place that the machines of a farm share. It contains the queue, the inputs and the results.

A file of a store is complete or absent. A file that is named by its content or its key never changes. All ages are by
the store's own clock, so the clocks of the machines may differ by days.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from firstlight.errors import LabError, is_full
from firstlight.farm.places.directory import Directory
from firstlight.farm.places.locations import place_at
from firstlight.farm.places.place import Place
from firstlight.farm.signing import Keys, read_keys

_MARKER = "store.json"
_FORMAT = {"format": "firstlight-store", "version": 1}
_FOLDERS = ("jobs", "inputs", "leases", "results", "failed", "workers", "excluded")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,150}")
_LARGEST_TEXT = 1 << 20
"""Maximum size in bytes of a job, a lease or a state."""


class Store:
    """The store of a farm.

    >>> store = open_store(bundle.parent / "farm", make=True)
    >>> store.put_text("failed", "a.json", {"error": "none"}), store.put_text("failed", "a.json", {"error": "other"})
    (True, False)
    >>> store.read("failed", "a.json"), store.names("failed")
    ({'error': 'none'}, ['a.json'])
    """

    def __init__(self, place: Place, keys: Keys | None = None) -> None:
        self.place = place
        self.keys = keys or Keys()

    @property
    def where(self) -> str:
        """The location, as :func:`open_store` takes it."""
        return self.place.where

    @property
    def poll_s(self) -> float:
        """Seconds between two polls."""
        return self.place.poll_s

    def where_is(self, folder: str, name: str) -> str:
        """Where a file of a folder is, for messages.

        :raises LabError: for a name that could lead elsewhere.
        """
        return f"{self.where}/{self._named(folder, name)}"

    def put(self, folder: str, name: str, fill: Callable[[Path], object]) -> bool:
        """Upload a file unless it exists; returns false when it does.

        :param fill: writes the file at the path that it is given.
        :raises LabError: when it cannot be written.
        """
        named = self._named(folder, name)
        with self._using():
            return self.place.put(named, fill)

    def put_text(self, folder: str, name: str, data: dict[str, Any]) -> bool:
        """The same for a JSON object."""
        return self.put(folder, name, lambda path: path.write_bytes(_text(data)))

    def replace(self, folder: str, name: str, data: dict[str, Any]) -> None:
        """Write a JSON object, replacing an existing one.

        :raises LabError: when it cannot be written.
        """
        named = self._named(folder, name)
        with self._using():
            self.place.replace(named, _text(data))

    def read(self, folder: str, name: str) -> dict[str, Any] | None:
        """Read a JSON object; `None` when it is missing or malformed."""
        named = self._named(folder, name)
        with self._using():
            try:
                found = json.loads(self.place.read(named, _LARGEST_TEXT))
            except (FileNotFoundError, ValueError, RecursionError):
                return None
        return found if isinstance(found, dict) else None

    def fetch(self, folder: str, name: str, target: Path) -> bool:
        """Copy a file to a path on this machine; returns false when it is missing.

        :raises LabError: when it cannot be read or written.
        """
        named = self._named(folder, name)
        with self._using():
            try:
                self.place.fetch(named, target)
            except FileNotFoundError:
                return False
        return True

    def has(self, folder: str, name: str) -> bool:
        """Whether a file exists.

        :raises LabError: when the store cannot be reached.
        """
        named = self._named(folder, name)
        with self._using():
            return self.place.has(named)

    def names(self, folder: str) -> list[str]:
        """The names of a folder's files, sorted.

        :raises LabError: when the store cannot be reached.
        """
        with self._using():
            return sorted(each for each in self.place.names(folder) if _NAME.fullmatch(each))

    def remove(self, folder: str, name: str) -> None:
        """Remove a file, if it exists.

        :raises LabError: when the store cannot be used.
        """
        named = self._named(folder, name)
        with self._using(), suppress(FileNotFoundError):
            self.place.remove(named)

    def age_s(self, folder: str, name: str) -> float | None:
        """Seconds since a file was written, by the store's own clock; `None` when it is missing."""
        named = self._named(folder, name)
        with self._using():
            try:
                return self.place.age_s(named)
            except FileNotFoundError as error:
                if self.place.is_there():
                    return None
                raise OSError(error.errno, "no such directory") from error

    def _named(self, folder: str, name: str) -> str:
        if folder not in _FOLDERS or _NAME.fullmatch(name) is None:
            raise LabError(f"`{name}` cannot be the name of a file of a store", where=self.where)
        return f"{folder}/{name}"

    @contextmanager
    def _using(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unusable(self.place, error) from error


def is_store(location: str | os.PathLike[str]) -> bool:
    """Whether a location is the address of a store, or a directory that is one.

    >>> is_store("s3://bucket/farm"), is_store(bundle)
    (True, False)
    """
    return "://" in str(location) or (Path(location) / _MARKER).is_file()


def open_store(location: str | os.PathLike[str], *, make: bool = False) -> Store:
    """Open the store of a farm.

    :param location: a directory, which may be written as ``store://DIRECTORY``; ``s3://``, ``gs://`` or ``az://`` with
        bucket and prefix; ``sftp://HOST/DIRECTORY``.
    :param make: make it where nothing is.
    :raises LabError: when there is no store, or something else is there.
    :raises UsageError: for an invalid location.

    >>> open_store(bundle)
    Traceback (most recent call last):
    firstlight.errors.LabError: ...: this is not the store of a farm
    """
    place = place_at(location)
    try:
        if make and place.is_empty():
            place.make(list(_FOLDERS))
            place.replace(_MARKER, _text(_FORMAT))
        found = json.loads(place.read(_MARKER, _LARGEST_TEXT))
    except FileNotFoundError:
        hint = f"`firstlight work {place.where}` makes a store in an empty place"
        raise LabError("this is not the store of a farm", where=place.where, hint=hint) from None
    except ValueError:
        raise LabError("this store is damaged", where=f"{place.where}/{_MARKER}") from None
    except OSError as error:
        raise unusable(place, error) from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT["format"]:
        raise LabError("this is not the store of a farm", where=place.where)
    if found.get("version") != _FORMAT["version"]:
        raise LabError(f"this store has version {found.get('version')}", where=place.where, hint="update Firstlight")
    return Store(place, read_keys())


def unusable(place: Place, error: OSError) -> LabError:
    """The error of a store that cannot be used."""
    if is_full(error):
        hint = "free some space in the store: `firstlight farm tidy` removes finished jobs"
    elif isinstance(place, Directory):
        hint = "check that the directory is mounted, and that you may write to it"
    else:
        hint = "check that the tools of this store reach it, and that you may write to it"
    return LabError(f"the store cannot be used: {error.strerror or error}", where=place.where, hint=hint)


def _text(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, sort_keys=True) + "\n").encode()

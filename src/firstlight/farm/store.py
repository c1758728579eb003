"""A store: a directory that the machines of a farm share. It is the queue, and holds inputs and results.

A file of a store is there completely or not at all. What has a name by its content or its key is put once and never
changed. All ages are those of the store's own clock, so the clocks of the machines may differ by days.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from firstlight.errors import LabError, is_full

_MARKER = "store.json"
_FORMAT = {"format": "firstlight-store", "version": 1}
_FOLDERS = ("jobs", "inputs", "leases", "results", "failed", "workers", "excluded")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,150}")
_LARGEST_TEXT = 1 << 20
"""Bytes of a job, a lease or a state: more is no file of ours."""
_SCHEMES = ("store://", "file://")


class Store:
    """The directory of a farm.

    >>> store = open_store(bundle.parent / "farm", make=True)
    >>> store.put_text("failed", "a.json", {"error": "none"}), store.put_text("failed", "a.json", {"error": "other"})
    (True, False)
    >>> store.read("failed", "a.json"), store.names("failed")
    ({'error': 'none'}, ['a.json'])
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def place(self, folder: str, name: str) -> Path:
        """Where a file of a folder is.

        :raises LabError: for a name that could lead elsewhere.
        """
        if folder not in _FOLDERS or _NAME.fullmatch(name) is None:
            raise LabError(f"`{name}` cannot be the name of a file of a store", where=str(self.path))
        return self.path / folder / name

    def put(self, folder: str, name: str, fill: Callable[[Path], object]) -> bool:
        """Put a file that is not there yet; false where another was first.

        :param fill: writes the file at the path that it is given.
        :raises LabError: when it cannot be written.
        """
        target = self.place(folder, name)
        if target.exists():
            return False
        with self._writing(target) as made:
            fill(made)
            try:
                os.link(made, target)
            except FileExistsError:
                return False
        return True

    def put_text(self, folder: str, name: str, data: dict[str, Any]) -> bool:
        """The same for a JSON object."""
        return self.put(folder, name, lambda path: _write(path, data))

    def replace(self, folder: str, name: str, data: dict[str, Any]) -> None:
        """Write a JSON object over the one that is there.

        :raises LabError: when it cannot be written.
        """
        target = self.place(folder, name)
        with self._writing(target) as made:
            _write(made, data)
            made.rename(target)

    def read(self, folder: str, name: str) -> dict[str, Any] | None:
        """A JSON object; `None` where there is none, or something else."""
        try:
            with self.place(folder, name).open("rb") as file:
                found = json.loads(file.read(_LARGEST_TEXT))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            return None
        except OSError as error:
            raise self._unreachable(error) from error
        return found if isinstance(found, dict) else None

    def fetch(self, folder: str, name: str, target: Path) -> bool:
        """Copy a file to a path of this machine; false where there is none.

        :raises LabError: when it cannot be read or written.
        """
        try:
            shutil.copyfile(self.place(folder, name), target)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unreachable(error) from error
        return True

    def has(self, folder: str, name: str) -> bool:
        """Whether a file is there."""
        return self.place(folder, name).exists()

    def names(self, folder: str) -> list[str]:
        """The names of a folder's files, sorted.

        :raises LabError: when the store went away.
        """
        try:
            return sorted(each.name for each in (self.path / folder).iterdir() if _NAME.fullmatch(each.name))
        except OSError as error:
            raise self._unreachable(error) from error

    def remove(self, folder: str, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError):
            self.place(folder, name).unlink()

    def age_s(self, folder: str, name: str) -> float | None:
        """Seconds since a file was written, by the store's own clock; `None` where there is none."""
        try:
            written = self.place(folder, name).stat().st_mtime
            with tempfile.NamedTemporaryFile(dir=self.path, prefix=".clock.") as probe:
                return max(0.0, os.fstat(probe.fileno()).st_mtime - written)
        except FileNotFoundError:
            if self.path.is_dir():
                return None
            raise self._unreachable(FileNotFoundError(2, "no such directory")) from None
        except OSError as error:
            raise self._unreachable(error) from error

    @contextmanager
    def _writing(self, target: Path) -> Iterator[Path]:
        """A temporary file on the target's file system, which goes at the end."""
        try:
            with tempfile.TemporaryDirectory(
                prefix=".writing.", dir=target.parent, ignore_cleanup_errors=True
            ) as folder:
                yield Path(folder) / "file"
        except OSError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: OSError) -> LabError:
        hint = "free some space in the store" if is_full(error) else "is the directory mounted, and yours to write?"
        return LabError(f"the store cannot be used: {error.strerror or error}", where=str(self.path), hint=hint)


def open_store(location: str | os.PathLike[str], *, make: bool = False) -> Store:
    """Open the store of a farm.

    :param location: a directory, which may be written as ``store://DIRECTORY``.
    :param make: make it where nothing is, or an empty directory.
    :raises LabError: when there is none, or something else.

    >>> open_store(bundle)
    Traceback (most recent call last):
    firstlight.errors.LabError: ...: this is no store of a farm
    """
    text = os.fspath(location)
    scheme = next((each for each in _SCHEMES if text.startswith(each)), "")
    text = text.removeprefix(scheme)
    if "://" in text:
        hint = "mount it, and name the directory"
        raise LabError("a store is a directory that all machines of the farm share", where=text, hint=hint)
    path = Path(text).absolute()
    store = Store(path)
    try:
        if make and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in _FOLDERS:
                (path / folder).mkdir(exist_ok=True)
            with store._writing(path / _MARKER) as made:
                _write(made, _FORMAT)
                made.rename(path / _MARKER)
        found = json.loads((path / _MARKER).read_bytes()[:_LARGEST_TEXT])
    except FileNotFoundError:
        hint = f"`firstlight work {text}` makes one in an empty directory"
        raise LabError("this is no store of a farm", where=text, hint=hint) from None
    except ValueError:
        raise LabError("this store is damaged", where=str(path / _MARKER)) from None
    except OSError as error:
        raise store._unreachable(error) from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT["format"]:
        raise LabError("this is no store of a farm", where=text)
    if found.get("version") != _FORMAT["version"]:
        raise LabError(f"this store has version {found.get('version')}", where=text, hint="update Firstlight")
    return store


def _write(path: Path, data: dict[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")

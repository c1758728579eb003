"""What a store needs of the place that holds its files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

Fill = Callable[[Path], object]
"""Writes a file at the path that it is given."""


class Place(Protocol):
    """A place for files, by names of the form `FOLDER/NAME`.

    A file is there completely or not at all, for every reader. Methods raise `FileNotFoundError` where a file is not
    there, and another `OSError` where the place cannot be used.
    """

    where: str
    """The place, for messages."""
    poll_s: float
    """Seconds between two looks at it, of a program that waits."""

    def make(self, folders: list[str]) -> None:
        """Make the place with its folders, where nothing is."""

    def is_empty(self) -> bool:
        """Whether nothing is there."""

    def is_there(self) -> bool:
        """Whether the place itself can be reached."""

    def put(self, name: str, fill: Fill) -> bool:
        """Put a file, unless one is there: then false. Of several that put it at once, one does."""

    def replace(self, name: str, content: bytes) -> None:
        """Write a small file over the one that is there, if any."""

    def read(self, name: str, most: int) -> bytes:
        """The first bytes of a file."""

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file to a path of this machine."""

    def has(self, name: str) -> bool:
        """Whether a file is there."""

    def names(self, folder: str) -> list[str]:
        """The names of the files of a folder, in any order."""

    def remove(self, name: str) -> None:
        """Remove a file."""

    def age_s(self, name: str) -> float:
        """Seconds since a file was written, by the clock of the place."""


@contextmanager
def filled(fill: Fill) -> Iterator[Path]:
    """A file of this machine that was written for an upload, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="firstlight-") as folder:
        made = Path(folder) / "file"
        fill(made)
        yield made

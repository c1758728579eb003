"""A directory of this machine, or of a network file system that it has mounted.

A file is written under a temporary name in its folder. `link` gives it its name, and fails where another has it;
`rename` replaces a file. Both are one step for every reader (POSIX.1-2017, link and rename).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstlight.farm.places.place import Fill


class Directory:
    """See :class:`firstlight.farm.places.place.Place`."""

    poll_s = 0.1

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)

    def make(self, folders: list[str]) -> None:
        """Make the directory, readable by its owner alone, with its folders."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in folders:
            (self.path / folder).mkdir(exist_ok=True)

    def is_empty(self) -> bool:
        """Whether nothing is there, or an empty directory."""
        return not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir()))

    def is_there(self) -> bool:
        """Whether the directory is there."""
        return self.path.is_dir()

    def put(self, name: str, fill: Fill) -> bool:
        """Put a file by `link`."""
        target = self.path / name
        if target.exists():
            return False
        with _temporary(target) as made:
            fill(made)
            try:
                os.link(made, target)
            except FileExistsError:
                return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Write a file by `rename`."""
        target = self.path / name
        with _temporary(target) as made:
            made.write_bytes(content)
            made.rename(target)

    def read(self, name: str, most: int) -> bytes:
        """The first bytes of a file."""
        with (self.path / name).open("rb") as file:
            return file.read(most)

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file; it stays readable here when it is removed there meanwhile."""
        shutil.copyfile(self.path / name, target)

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return (self.path / name).exists()

    def names(self, folder: str) -> list[str]:
        """The names of a folder, temporary ones among them."""
        return [each.name for each in (self.path / folder).iterdir()]

    def remove(self, name: str) -> None:
        """Remove a file."""
        (self.path / name).unlink()

    def age_s(self, name: str) -> float:
        """The difference to the time of a file that is written now: both are of the file system's clock."""
        written = (self.path / name).stat().st_mtime
        with tempfile.NamedTemporaryFile(dir=self.path, prefix=".clock.") as probe:
            return max(0.0, os.fstat(probe.fileno()).st_mtime - written)


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A temporary path on the target's file system, which goes at the end."""
    with tempfile.TemporaryDirectory(prefix=".writing.", dir=target.parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "file"

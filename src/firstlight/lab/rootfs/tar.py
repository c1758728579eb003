"""The files of a root file system in a tar, with links followed inside it."""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Iterable, Iterator

_LINKS_AT_MOST = 40


class UserspaceTar:
    """Paths have no first slash: `usr/bin/sh`."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._members = {posixpath.normpath(member.name): member for member in archive.getmembers()}

    def __contains__(self, path: str) -> bool:
        return path in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def read(self, path: str) -> bytes | None:
        """A file's content; nothing where there is no such file."""
        for _ in range(_LINKS_AT_MOST):
            path, followed = self._resolve(path)
            if not followed:
                member = self._members.get(path)
                file = self._archive.extractfile(member) if member is not None and not member.isdir() else None
                return file.read() if file is not None else None
        return None

    def first(self, paths: Iterable[str]) -> bytes | None:
        """The content of the first path that is a file."""
        return next((content for path in paths if (content := self.read(path)) is not None), None)

    def _resolve(self, path: str) -> tuple[str, bool]:
        """A path with its first link replaced, and whether there was one."""
        done: list[str] = []
        parts = posixpath.normpath(path.lstrip("/")).split("/")
        for place, part in enumerate(parts):
            member = self._members.get("/".join([*done, part]))
            if member is not None and member.issym():
                target = posixpath.normpath(posixpath.join("/", *done, member.linkname)).lstrip("/")
                return "/".join([target, *parts[place + 1 :]]), True
            done.append(part)
        return "/".join(done), False

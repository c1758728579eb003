"""From what a person gives to records: copies in `raw/`, and files that a reader can open."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.errors import is_full
from firstlight.intake.inflate import Inflating
from firstlight.intake.keep import Kept, keep_file, keep_stream
from firstlight.intake.limits import Budget, IntakeError, Limits
from firstlight.intake.packed import (
    DAMAGE,
    Packing,
    damaged,
    packing,
    tar_members,
    unpacked_name,
    zip_members,
)

STDIN = "stdin"


@dataclass(frozen=True)
class Item:
    """One record."""

    path: Path
    """Its bytes, unpacked."""
    file: str
    """Where it stands below `raw/`; a member of an archive as if the archive were a folder."""
    name: str
    """What its reader is told that it is called; empty for standard input."""
    given: str
    """As the person named it."""
    sha256: str
    size_bytes: int


@dataclass
class Gathered:
    """All records, and what was left out on the way."""

    items: list[Item] = field(default_factory=list)
    unread: list[tuple[Item, str]] = field(default_factory=list)
    """Files that are kept, but not given to a reader, and why."""
    notes: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    """Of packed files of which only a part could be unpacked, by where they stand below `raw/`: why."""


class Gatherer:
    """Takes in what is given, one after the other.

    :param raw: where copies go, as they came.
    :param scratch: where unpacked content goes, for as long as it is read.
    """

    def __init__(self, raw: Path, scratch: Path, limits: Limits | None = None) -> None:
        self.found = Gathered()
        self._raw, self._scratch = raw, scratch
        self._budget = Budget(limits or Limits())
        self._taken: set[str] = set()
        self._unpacked = 0
        self._alone = True

    def gather(self, inputs: Sequence[str]) -> Gathered:
        """Take in files, folders, archives, and `-`, standard input.

        :raises IntakeError: when one of them cannot be read, is damaged, holds nothing, or holds too much.
        """
        self._alone = len(inputs) == 1
        for given in inputs:
            if given == "-":
                kept = keep_stream(sys.stdin.buffer, self._raw / self._free(STDIN), check=self._grows(STDIN))
                self._open(kept, kept.path.name, "", given, 0)
                continue
            path = Path(given)
            try:
                kind = path.stat().st_mode
            except OSError as error:
                raise IntakeError(f"cannot read: {error.strerror}", where=given, exit_code=2) from error
            if stat.S_ISDIR(kind):
                self._folder(path, given)
            elif stat.S_ISREG(kind):
                self._budget.file(given)
                kept = keep_file(path, self._raw / self._free(path.name))
                self._budget.content(kept.size_bytes, given)
                self._open(kept, kept.path.name, path.as_posix(), given, 0)
            else:
                hint = "`-` reads standard input" if stat.S_ISFIFO(kind) else None
                raise IntakeError("this is no file and no folder", where=given, hint=hint, exit_code=2)
        return self.found

    def _folder(self, folder: Path, given: str) -> None:
        if _is_bundle(folder):
            hint = f"`firstlight show {given}` shows it; its records lie in `{folder / 'raw'}`"
            raise IntakeError("this is a boot bundle already", where=given, hint=hint)
        root = self._free(folder.resolve().name or "folder")
        files = 0
        self._alone = False
        for directory, folders, names in os.walk(folder, followlinks=False, onerror=self._unreadable):
            folders[:] = [name for name in sorted(folders) if not self._own(Path(directory, name))]
            for name in sorted(names):
                path = Path(directory, name)
                inside = path.relative_to(folder)
                if not stat.S_ISREG(path.lstat().st_mode):
                    self.found.notes.append(f"`{path}` was left out: it is a link or no regular file")
                    continue
                self._budget.file(given)
                try:
                    kept = keep_file(path, self._raw / root / inside)
                except IntakeError as error:
                    self.found.notes.append(str(error))
                    continue
                self._budget.content(kept.size_bytes, given)
                files += 1
                self._open(kept, f"{root}/{inside}", path.as_posix(), str(path), 0)
        if files == 0:
            raise IntakeError("the folder holds no file", where=given, hint="give the folder that holds the records")

    def _own(self, folder: Path) -> bool:
        """Whether a folder in a folder is Firstlight's: a bundle, or what a command that still runs makes one of."""
        if _is_bundle(folder):
            self.found.notes.append(f"`{folder}` was left out: it is a boot bundle already")
            return True
        return (folder.name.startswith(".") and folder.name.endswith((".intake", ".partial"))) or (
            folder.resolve() == self._raw.parent.resolve()
        )

    def _unreadable(self, error: OSError) -> None:
        self.found.notes.append(f"{error.filename}: cannot read: {error.strerror}")

    def _open(self, kept: Kept, file: str, name: str, given: str, depth: int) -> None:
        """Take a file as a record, or open what it packs; *depth*: archives around it."""
        kind = packing(kept.path)
        item = Item(kept.path, file, name, given, kept.sha256, kept.size_bytes)
        if kind is None:
            self.found.items.append(item)
            return
        if depth >= self._budget.limits.archives:
            self.found.unread.append((item, "it is packed, in an archive in an archive: that deep nothing is opened"))
            return
        path, before = kept.path, len(self.found.items) + len(self.found.unread)
        try:
            if kind not in ("tar", "zip"):
                path = self._inflate(kept, kind, item)
            inner = kind if kind in ("tar", "zip") else packing(path)
            if inner in ("tar", "zip"):
                self._archive(path, inner, item, depth)
            else:
                self.found.items.append(Item(path, file, unpacked_name(name), given, kept.sha256, kept.size_bytes))
        except DAMAGE as error:
            if is_full(error):
                raise
            if len(self.found.items) + len(self.found.unread) > before:
                # Something came out of it: that is read, and the rest is told.
                self._only_part(item, str(error))
            elif depth == 0 and self._alone:
                raise damaged(given, error) from error
            else:
                self.found.unread.append((item, f"what is packed is damaged: {error}"))

    def _only_part(self, item: Item, why: str) -> None:
        why = f"only a part of what is packed could be unpacked: {why}"
        if item.file not in self.found.damaged:
            self.found.damaged[item.file] = why
            self.found.notes.append(f"{item.given}: {why}")

    def _inflate(self, kept: Kept, kind: Packing, item: Item) -> Path:
        grows = self._grows(item.given, kept.size_bytes)
        with kept.path.open("rb") as packed:
            content = Inflating(packed, kind)
            inner = keep_stream(content, self._next(), check=grows)
        self._budget.content(inner.size_bytes, item.given)
        if content.damage is not None:
            if inner.size_bytes == 0:
                raise EOFError(content.damage)
            self._only_part(item, content.damage)
        return inner.path

    def _archive(self, path: Path, kind: Packing, item: Item, depth: int) -> None:
        members = (tar_members if kind == "tar" else zip_members)(path, self._budget, self.found.notes)
        packed, unpacked, files = path.stat().st_size, 0, 0
        for name, content in members:
            before = unpacked

            def grows(size: int, before: int = before) -> None:
                self._budget.unpacked(before + size, packed, item.given)

            kept = keep_stream(content, self._next(), check=grows)
            unpacked += kept.size_bytes
            self._budget.content(kept.size_bytes, item.given)
            files += 1
            self._open(kept, f"{item.file}/{name}", f"{unpacked_name(item.name)}/{name}", item.given, depth + 1)
        if files == 0 and depth == 0:
            raise IntakeError("the archive holds no file", where=item.given, hint="give one that holds boot records")

    def _grows(self, where: str, packed: int | None = None) -> Callable[[int], None]:
        def check(size: int) -> None:
            if size + self._budget.bytes > self._budget.limits.bytes:
                self._budget.content(size, where)
            if packed is not None:
                self._budget.unpacked(size, packed, where)

        return check

    def _next(self) -> Path:
        self._unpacked += 1
        return self._scratch / str(self._unpacked)

    def _free(self, name: str) -> str:
        """A name that nothing in `raw/` has yet."""
        free, number = name, 2
        while free in self._taken:
            free, number = f"{number}-{name}", number + 1
        self._taken.add(free)
        return free


def _is_bundle(folder: Path) -> bool:
    return (folder / "manifest.json").is_file() and (folder / "marks.parquet").is_file()

"""From files to records: what is packed is unpacked, as far as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from firstlight.errors import is_full
from firstlight.ingest.files.collected import Gathered, Item, LeftOut
from firstlight.ingest.files.copy import Kept, keep_stream
from firstlight.ingest.files.limits import Budget, IngestError
from firstlight.ingest.files.names import Names
from firstlight.ingest.unpack.compression import ARCHIVES, DAMAGE, Packing, damaged, packing, unpacked_name
from firstlight.ingest.unpack.inflate import Inflating
from firstlight.ingest.unpack.salvage import Salvaged
from firstlight.ingest.unpack.tar import tar_members
from firstlight.ingest.unpack.zip import zip_members


class Opener:
    """Takes files as records, or opens what they pack.

    :param found: where records go, and what is missing.
    :param scratch: where unpacked content goes, into numbered files, for as long as it is read.
    """

    def __init__(self, found: Gathered, scratch: Path, budget: Budget) -> None:
        self._found, self._scratch, self._budget = found, scratch, budget
        self._unpacked = 0

    def open(self, kept: Kept, file: str, name: str, given: str, *, alone: bool, depth: int = 0) -> None:
        """Take a file as a record, or open what it packs.

        :param alone: nothing else is given.
        :param depth: archives around it.
        :raises IngestError: when it holds too much, or is all that was given, and nothing can be read of it.
        """
        kind = packing(kept.path)
        item = Item(kept.path, file, name, given, kept.sha256, kept.size_bytes)
        if kind is None:
            self._found.items.append(item)
            return
        if depth >= self._budget.limits.archives:
            self._found.unread.append(
                (item, "it is an archive in an archive in an archive: Firstlight does not open this level")
            )
            return
        path, before = kept.path, len(self._found.items) + len(self._found.unread)
        try:
            if kind not in ARCHIVES:
                path = self._inflate(kept, kind, item)
            inner = kind if kind in ARCHIVES else packing(path)
            if inner in ARCHIVES:
                self._archive(path, inner, item, alone=alone, depth=depth)
            else:
                self._found.items.append(Item(path, file, unpacked_name(name), given, kept.sha256, kept.size_bytes))
        except DAMAGE as error:
            if is_full(error):
                raise
            if len(self._found.items) + len(self._found.unread) > before:
                # Something came out of it: that is read, and the rest is reported.
                self._only_part(item.file, given, str(error))
            elif depth == 0 and alone:
                raise damaged(given, error) from error
            else:
                self._found.unread.append((item, f"the packed content is damaged: {error}"))

    def _only_part(self, file: str, given: str, why: str) -> None:
        why = f"only part of the content could be unpacked: {why}"
        if file not in self._found.damaged:
            self._found.damaged[file] = why
            self._found.notes.append(f"{given}: {why}")

    def _inflate(self, kept: Kept, kind: Packing, item: Item) -> Path:
        with kept.path.open("rb") as packed:

            def opened() -> Inflating:
                packed.seek(0)
                return Inflating(packed, kind)

            content = Salvaged(opened)
            inner = keep_stream(content, self._next(), check=self.grows(item.given, kept.size_bytes))
        self._budget.content(inner.size_bytes, item.given)
        if content.damage is not None:
            if inner.size_bytes == 0:
                raise EOFError(content.damage)
            self._only_part(item.file, item.given, content.damage)
        return inner.path

    def _archive(self, path: Path, kind: Packing, item: Item, *, alone: bool, depth: int) -> None:
        left, names = LeftOut(self._found, item.file), Names()
        members = _members(kind)(path, item.given, self._budget, left)
        packed, unpacked, files = path.stat().st_size, 0, 0
        for name, content in members:
            before = unpacked

            def grows(size: int, before: int = before) -> None:
                self._budget.unpacked(before + size, packed, item.given)

            kept = keep_stream(content, self._next(), check=grows)
            unpacked += kept.size_bytes
            self._budget.content(kept.size_bytes, item.given)
            inside = names.free(name)
            if content.damage is not None:
                if kept.size_bytes == 0:
                    left.evidence(inside, f"it is damaged: {content.damage}")
                    continue
                self._only_part(f"{item.file}/{inside}", f"{item.given}: `{inside}`", content.damage)
            files += 1
            within = f"{unpacked_name(item.name)}/{inside}"
            self.open(kept, f"{item.file}/{inside}", within, item.given, alone=alone, depth=depth + 1)
        if files == 0 and depth == 0:
            message = "the archive holds no file that can be read"
            if alone:
                why = f": {left.first}" if left.first is not None else ""
                raise IngestError(message + why, where=item.given, hint="give one that holds boot records")
            self._found.notes.append(f"{item.given}: {message}")

    def grows(self, where: str, packed: int | None = None) -> Callable[[int], None]:
        """Checks the size that something has grown to; *packed*: its size before it was unpacked."""

        def check(size: int) -> None:
            if size + self._budget.bytes > self._budget.limits.bytes:
                self._budget.content(size, where)
            if packed is not None:
                self._budget.unpacked(size, packed, where)

        return check

    def _next(self) -> Path:
        self._unpacked += 1
        return self._scratch / str(self._unpacked)


def _members(kind: Packing) -> Callable[[Path, str, Budget, LeftOut], Iterator[tuple[str, Salvaged]]]:
    if kind == "mail":
        # Few records are mails, and every import would pay for it.
        from firstlight.ingest.unpack.mail import mail_members

        return mail_members
    return tar_members if kind == "tar" else zip_members

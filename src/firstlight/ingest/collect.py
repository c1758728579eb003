"""From what the user gives to records: copies in `raw/`, and files that a reader can open."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from firstlight.ingest.files.collected import Gathered
from firstlight.ingest.files.copy import keep_file, keep_stream
from firstlight.ingest.files.limits import Budget, IngestError, InputLimits
from firstlight.ingest.files.names import Names, readable
from firstlight.ingest.unpack.open import Opener

STDIN = "stdin"


class Gatherer:
    """Takes in what is given, one after the other.

    :param raw: where copies go, as they came.
    :param scratch: where unpacked content goes, for as long as it is read.
    """

    def __init__(self, raw: Path, scratch: Path, limits: InputLimits | None = None) -> None:
        self.found = Gathered()
        self._raw = raw
        self._budget = Budget(limits or InputLimits())
        self._opener = Opener(self.found, scratch, self._budget)
        self._names = Names()

    def gather(self, inputs: Sequence[str]) -> Gathered:
        """Take in files, folders, archives, and `-`, standard input.

        :raises IngestError: when one of them cannot be read, is damaged, holds nothing, or holds too much.
        """
        alone = len(inputs) == 1
        for given in inputs:
            shown = readable(given)
            if given == "-":
                target = self._raw / self._names.free(STDIN)
                kept = keep_stream(sys.stdin.buffer, target, check=self._opener.grows(STDIN))
                self._opener.open(kept, kept.path.name, "", given, alone=alone)
                continue
            path = Path(given)
            try:
                kind = path.stat().st_mode
            except OSError as error:
                raise IngestError(f"cannot read: {error.strerror}", where=shown, exit_code=2) from error
            if stat.S_ISDIR(kind):
                self._folder(path, shown)
            elif stat.S_ISREG(kind):
                self._budget.file(shown)
                kept = keep_file(path, self._raw / self._names.free(readable(path.name)))
                self._budget.content(kept.size_bytes, shown)
                self._opener.open(kept, kept.path.name, readable(path.as_posix()), shown, alone=alone)
            else:
                hint = "give a record as a file, or `-` for standard input"
                raise IngestError("this is neither a file nor a folder", where=shown, hint=hint, exit_code=2)
        if not (self.found.items or self.found.unread or self.found.left_out):
            raise IngestError("nothing in it is a file", where=readable(inputs[0]), hint="give boot records")
        return self.found

    def _folder(self, folder: Path, given: str) -> None:
        if is_bundle(folder):
            hint = f"`firstlight show {given}` shows it; its records are in `{readable(str(folder / 'raw'))}`"
            raise IngestError("this is a boot bundle already", where=given, hint=hint)
        root = self._names.free(readable(folder.resolve().name) or "folder")

        def unreadable(error: OSError) -> None:
            self.found.leave_out(root, readable(f"{error.filename}: cannot read: {error.strerror}"))

        files = 0
        for directory, folders, names in os.walk(folder, followlinks=False, onerror=unreadable):
            for name in sorted(name for name in folders if Path(directory, name).is_symlink()):
                self._link_to_folder(root, folder, Path(directory, name))
            folders[:] = [name for name in sorted(folders) if not self._own(Path(directory, name))]
            for name in sorted(names):
                path = Path(directory, name)
                shown = readable(str(path))
                if not stat.S_ISREG(path.lstat().st_mode):
                    self._no_file(root, folder, path, shown)
                    continue
                self._budget.file(given)
                file = self._names.free(f"{root}/{readable(str(path.relative_to(folder)))}")
                try:
                    kept = keep_file(path, self._raw / file)
                except IngestError as error:
                    self.found.leave_out(root, readable(str(error)))
                    continue
                self._budget.content(kept.size_bytes, given)
                files += 1
                self._opener.open(kept, file, readable(path.as_posix()), shown, alone=False)
        if files == 0:
            raise IngestError("the folder holds no file", where=given, hint="give the folder that holds the records")

    def _no_file(self, root: str, folder: Path, path: Path, shown: str) -> None:
        """Report a link, device or pipe as left out. A link out of the folder counts as evidence left out."""
        note = f"`{shown}` was left out: it is a link or not a regular file"
        try:
            elsewhere = path.is_file() and not path.resolve().is_relative_to(folder.resolve())
        except (OSError, RuntimeError):
            elsewhere = False
        if elsewhere:
            self.found.leave_out(root, f"`{shown}` was left out: it is a link to a file outside of the folder")
        else:
            self.found.notes.append(note)

    def _link_to_folder(self, root: str, folder: Path, path: Path) -> None:
        """Report a link to a folder, which is not followed. One out of the folder counts as evidence left out."""
        shown = readable(str(path))
        if path.resolve().is_relative_to(folder.resolve()):
            self.found.notes.append(f"`{shown}` was left out: it is a link to a folder")
        else:
            self.found.leave_out(root, f"`{shown}` was left out: it is a link to a folder outside of it")

    def _own(self, folder: Path) -> bool:
        """Whether a folder in a folder is Firstlight's: a bundle, or what a command that still runs makes one of."""
        if is_bundle(folder):
            self.found.notes.append(f"`{readable(str(folder))}` was left out: it is already a boot bundle")
            return True
        return (folder.name.startswith(".") and folder.name.endswith((".intake", ".partial"))) or (
            folder.resolve() == self._raw.parent.resolve()
        )


def is_bundle(folder: Path) -> bool:
    """Whether a directory is a boot bundle."""
    return (folder / "manifest.json").is_file() and (folder / "marks.parquet").is_file()

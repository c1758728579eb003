"""Importing a directory of records: each of its entries is one boot, and the directory of bundles has a journal."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from firstlight.atomic import atomic_write
from firstlight.errors import BundleError, FirstlightError, is_full
from firstlight.ingest.collect import is_bundle
from firstlight.ingest.files.limits import IngestError
from firstlight.ingest.files.names import readable
from firstlight.ingest.importing import ImportOptions, check_format, import_records
from firstlight.ingest.progress import ImportProgress
from firstlight.ingest.select_boots import SeveralBootsError
from firstlight.version import VERSION

#: The journal of a directory of bundles.
JOURNAL = "import-batch.json"
#: The form of its rows. Entries of another form are imported again.
_ROWS = 2


class BatchOutcome(StrEnum):
    """What became of an entry of a directory."""

    IMPORTED = "imported"
    SEVERAL_BOOTS = "several boots"
    REJECTED = "rejected"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class BatchRow:
    """An entry of a directory, and what became of it."""

    entry: str
    outcome: BatchOutcome
    reason: str | None = None
    """Why it was not imported."""
    hint: str | None = None
    bundles: Sequence[str] = ()
    """The bundles that were written, below the directory of bundles."""
    formats: Sequence[str] = ()
    lines: int = 0
    """Lines or records that were understood."""
    missing: Sequence[str] = ()
    """Why the evidence of its boots is incomplete; empty if nothing is known to be missing."""
    notes: Sequence[str] = ()
    """What else was left out of it, such as links and devices in a folder."""
    earlier: bool = False
    """An earlier run did this, and the entry has not changed since."""


def import_batch(directory: Path, options: ImportOptions, progress: ImportProgress | None = None) -> list[BatchRow]:
    """Import every file, archive and folder of a directory as a boot of its own, in order of their names.

    A journal in the directory of bundles makes a second run continue: what is unchanged is not imported again. Links,
    devices and pipes are named and not followed.

    :param options: those of every import; `output` is the directory of bundles, and `inputs` stays empty.
    :raises UsageError: for a format that does not exist.
    :raises IngestError: when the directory cannot be read or has no entry, or that of bundles cannot be made.
    :raises FirstlightError: when the disk is full, or the journal cannot be written.
    """
    check_format(options.format)
    progress = progress or ImportProgress()
    try:
        entries = sorted(directory.iterdir())
    except OSError as error:
        raise IngestError(f"cannot read: {error.strerror}", where=readable(str(directory)), exit_code=2) from error
    output = options.output.absolute()
    entries = [entry for entry in entries if entry.absolute() != output]
    if not entries:
        raise IngestError("the directory is empty", where=readable(str(directory)), hint="give a directory of records")
    _make(output)
    journal = _Journal(output, options)
    names = {readable(entry.name) for entry in entries}
    rows = []
    for number, entry in enumerate(entries, 1):
        progress.step(f"{number} of {len(entries)}: {readable(entry.name)}")
        rows.append(_one(entry, options, journal, names))
    return rows


def _make(output: Path) -> None:
    """Make the directory of bundles."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        where, hint = readable(str(output)), "choose another directory with `-o`"
        if isinstance(error, FileExistsError):
            what = "bundles are written into a directory, but this is a file"
            raise IngestError(what, where=where, hint=hint, exit_code=2) from error
        what = f"the directory of bundles cannot be made: {error.strerror}"
        raise IngestError(what, where=where, hint=hint, exit_code=2) from error


def _one(entry: Path, options: ImportOptions, journal: _Journal, names: Set[str]) -> BatchRow:
    name = readable(entry.name)
    kind = entry.lstat().st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        return BatchRow(name, BatchOutcome.LEFT_OUT, "it is a link, a device or a pipe; these are not read")
    if is_bundle(entry):
        return BatchRow(name, BatchOutcome.LEFT_OUT, "it is a boot bundle; bundles are not imported")
    fingerprint = _fingerprint(entry)
    known = journal.known(name, fingerprint)
    if known is not None and not options.force:
        return known
    # What an interrupted run began is its own to replace.
    force = options.force or journal.begun(name)
    journal.begin(name)
    # A record of one boot has the same bundle with and without a split: no boot is there twice.
    output = options.output / f"{_stem(name, names, journal)}.boot"
    one = replace(options, inputs=[str(entry)], output=output, force=force, numbered=False)
    try:
        row = _imported(name, one)
    except SeveralBootsError as error:
        row = BatchRow(name, BatchOutcome.SEVERAL_BOOTS, error.message, error.hint)
    except FirstlightError as error:
        if is_full(error) or (error.__cause__ is not None and is_full(error.__cause__)):
            raise
        row = BatchRow(name, BatchOutcome.REJECTED, error.message, error.hint)
    journal.end(row, fingerprint)
    return row


def _stem(name: str, names: Set[str], journal: _Journal) -> str:
    """The name of an entry's bundles: its own, unless the bundles of another entry have or will have it.

    The boots of an entry `t` are `t-1`, `t-2`, …; an entry may be called so, too.
    """
    stem = name
    while journal.is_of_another(name, f"{stem}.boot") or any(
        re.fullmatch(rf"{re.escape(stem)}-\d+", one) for one in names
    ):
        stem += "-boots"
    return stem


def _imported(name: str, options: ImportOptions) -> BatchRow:
    written = import_records(options)
    sources = [source for each in written for source in each.manifest.sources]
    # With a split, each bundle repeats what holds for the whole entry.
    missing = [reason for each in written for reason in each.manifest.completeness.missing]
    notes = [note for each in written for note in (*each.notes, *each.summary["warnings"])]
    return BatchRow(
        name,
        BatchOutcome.IMPORTED,
        bundles=tuple(each.path.name for each in written),
        formats=tuple(dict.fromkeys(source.format for source in sources if source.format is not None)),
        lines=sum(each.manifest.completeness.parsed or 0 for each in written),
        missing=tuple(dict.fromkeys(missing)),
        notes=tuple(note for note in dict.fromkeys(notes) if note not in missing),
    )


def _fingerprint(entry: Path) -> str:
    """A digest of the names, sizes and times of an entry's files."""
    digest = hashlib.sha256()
    for path, found in _files(entry):
        digest.update(f"{path!r} {found.st_mode} {found.st_size} {found.st_mtime_ns}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def _files(entry: Path) -> Iterator[tuple[str, os.stat_result]]:
    yield entry.name, entry.lstat()
    for directory, folders, names in os.walk(entry, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(directory, name)
            yield str(path.relative_to(entry)), path.lstat()


class _Journal:
    """What runs before did, by entry. It is written after each import, so that an interrupted run continues."""

    def __init__(self, output: Path, options: ImportOptions) -> None:
        self._output = output
        self._path = output / JOURNAL
        #: Another choice of any of these is another import.
        self._choices = [
            VERSION, _ROWS, options.format, options.boot, options.split, options.mixed, *map(list, options.marks)
        ]  # fmt: skip
        self._entries: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            self._entries = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))["entries"]
            if not all(isinstance(entry, dict) for entry in entries.values()):
                raise ValueError("an entry is not an object")
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            hint = "remove it and import everything again with `--force`"
            raise BundleError(f"the journal cannot be read: {error}", where=str(self._path), hint=hint) from error
        return dict(entries)

    def known(self, name: str, fingerprint: str) -> BatchRow | None:
        """The row of an entry that has not changed, and whose bundles still exist."""
        entry = self._entries.get(name, {})
        if entry.get("fingerprint") != fingerprint or entry.get("choices") != self._choices:
            return None
        try:
            row = BatchRow(**entry["row"])
            there = all((self._output / bundle / "manifest.json").is_file() for bundle in row.bundles)
            return replace(row, outcome=BatchOutcome(row.outcome), earlier=True) if there else None
        except (KeyError, TypeError, ValueError):
            return None

    def is_of_another(self, name: str, bundle: str) -> bool:
        """Whether an earlier import wrote this bundle, of another entry."""
        others = (entry.get("row", {}) for entry_name, entry in self._entries.items() if entry_name != name)
        return any(bundle in row.get("bundles", ()) for row in others)

    def begun(self, name: str) -> bool:
        """Whether a run began an import of this entry, whatever became of it."""
        return name in self._entries

    def begin(self, name: str) -> None:
        """An import begins."""
        self._entries[name] = {}
        self._write()

    def end(self, row: BatchRow, fingerprint: str) -> None:
        """An import has ended."""
        self._entries[row.entry] = {"fingerprint": fingerprint, "choices": self._choices, "row": asdict(row)}
        self._write()

    def _write(self) -> None:
        with atomic_write(self._path, force=True) as temporary:
            temporary.write_text(json.dumps({"entries": self._entries}, indent=1), encoding="utf-8")

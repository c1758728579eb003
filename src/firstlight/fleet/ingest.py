"""Boots come into a fleet: bundles, directories and archives of them, and records of other tools on the way."""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from firstlight.atomic import atomic_write
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.boot_digests import content_digest, manifest_digest
from firstlight.fleet.boot_rows import boot_rows
from firstlight.fleet.bulk import bulk_rows
from firstlight.fleet.columns import BOOTS, SPANS
from firstlight.fleet.files import read_boots, remove, write_boots, write_spans
from firstlight.fleet.layout import ATTRIBUTE, QUARANTINE, Fleet, Listing
from firstlight.fleet.masking import masked

#: So many boots are committed at once: an end in between loses no more.
BATCH = 2000
_TOGETHER = 250
"""So many bundles are read together."""
_LARGEST_ARCHIVE = 64 << 30
_MOST_MEMBERS = 1_000_000
_LONGEST_VALUE = 200
_HEAD_OF_LOG = 1 << 20
_COLLECTIONS = frozenset({"firstlight-collection", "sos_commands"})
"""Folders in the archives of collectors, whose files are records of one boot."""
_LeaveOut = Callable[[str, str], None]
"""Called with where a boot was found that cannot be read, and why."""


@dataclass
class Ingested:
    """What became of the boots that were given."""

    added: int = 0
    known: int = 0
    """In the fleet already."""
    quarantined: list[tuple[str, str]] = field(default_factory=list)
    """Where a boot was found that cannot be read, and why."""


def check_attributes(attributes: Mapping[str, str]) -> None:
    """Check what is said of boots.

    :raises UsageError: for a name that cannot be a column, or one that every boot has; for an empty or a long value.
    """
    for name, value in attributes.items():
        if not ATTRIBUTE.fullmatch(name):
            hint = "use up to 40 lower-case letters, digits and `_`: `--set model=A`"
            raise UsageError(f"`{name}` cannot be the name of an attribute", where="--set", hint=hint)
        if name in BOOTS or name in SPANS:
            raise UsageError(f"`{name}` is a column of every fleet", where="--set", hint="choose another name")
        if not value or len(value) > _LONGEST_VALUE or not value.isprintable():
            raise UsageError(f"`{name}` has no value of 1 to {_LONGEST_VALUE} printable characters", where="--set")


def ingest(
    fleet: Fleet,
    given: Sequence[Path],
    attributes: Mapping[str, str],
    *,
    finds_causes: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> Ingested:
    """Add boots; one that the fleet has is not added again.

    What cannot be read is left out, and noted in the folder `quarantine`.

    :param given: bundles, directories with bundles at any depth, tar archives of these, and records to import.
    :param finds_causes: look for the causes of the catalogue in each boot.
    :param note: called with what was done, from time to time.
    :raises UsageError: for attributes that cannot be, or when something given is not there.
    :raises FirstlightError: when the fleet cannot be written; what was committed before stays.
    """
    check_attributes(attributes)
    for path in given:
        if not path.exists():
            raise UsageError("no such file or directory", where=str(path), hint="give bundles, directories or archives")
    work = _Work(fleet, dict(attributes), finds_causes, set(read_boots(fleet, fleet.listing().boots)["digest"]))
    for seen, found in enumerate(_found(given, work.leave_out), start=1):
        work.take(found)
        if seen % BATCH == 0:
            work.commit()
            note(f"{seen:,} boots read, {work.done.added:,} added")
    work.commit()
    return work.done


@dataclass
class _Work:
    """Boots on their way into a fleet."""

    fleet: Fleet
    attributes: dict[str, str]
    finds_causes: bool
    known: set[str]
    """The digests of boots that are in the fleet, or were read; of former fleets those of manifests."""
    done: Ingested = field(default_factory=Ingested)
    _boots: list[dict[str, Any]] = field(default_factory=list)
    _spans: list[pl.DataFrame] = field(default_factory=list)
    _together: dict[Path, str] = field(default_factory=dict)
    """Bundles that are read at once, with their digests."""
    _copies: list[tuple[_Found, str]] = field(default_factory=list)
    """Further bundles of these digests: they count where the first cannot be read."""

    def take(self, found: _Found) -> None:
        """Take a bundle, unless it is known."""
        try:
            former = manifest_digest(found.bundle)
            digest = content_digest(found.bundle) if found.is_record and former not in self.known else former
        except FirstlightError as error:
            return self.leave_out(found.where, error.message)
        if digest in self.known:
            self.done.known += 1
            return None
        if digest in self._together.values():
            # Whether the first copy can be read is not known yet.
            if not found.is_temporary:
                self._copies.append((found, digest))
                return None
            self._read_together()
            return self.take(found)
        if found.is_temporary or self.finds_causes:
            return self._alone(found.bundle, found.where, digest)
        self._together[found.bundle] = digest
        return self._read_together() if len(self._together) == _TOGETHER else None

    def commit(self) -> None:
        """Add all that was taken, at once; those are left out that another writer added meanwhile.

        :raises FirstlightError: when it cannot be written; the fleet is then as it was.
        """
        self._read_together()
        if self._boots:
            _commit(self.fleet, self._boots, pl.concat(self._spans), self.done)
        self._boots, self._spans = [], []

    def _read_together(self) -> None:
        bundles, self._together = self._together, {}
        copies, self._copies = self._copies, []
        keeps = self.fleet.keeps_identities
        found = bulk_rows(list(bundles), self.attributes, keeps_identities=keeps, digests=bundles)
        self._boots += found.boots
        self._spans.append(found.spans)
        left = set(found.left)
        self.known.update(digest for bundle, digest in bundles.items() if bundle not in left)
        for bundle in found.left:
            self._alone(bundle, str(bundle), bundles[bundle])
        for copy, digest in copies:
            if digest in self.known:
                self.done.known += 1
            else:
                self._alone(copy.bundle, copy.where, digest)

    def leave_out(self, where: str, why: str) -> None:
        """Note a boot that cannot be read."""
        quarantine(self.fleet, self.done, where, why, self.attributes)

    def _alone(self, bundle: Path, where: str, digest: str) -> None:
        try:
            rows = boot_rows(
                open_boot(bundle), self.attributes, keeps_identities=self.fleet.keeps_identities,
                finds_causes=self.finds_causes, digest=digest,
            )  # fmt: skip
        except FirstlightError as error:
            return self.leave_out(where, error.message)
        self.known.add(digest)
        self._boots.append(rows.boot)
        self._spans.append(rows.spans)
        return None


def _commit(fleet: Fleet, rows: Sequence[dict[str, Any]], spans: pl.DataFrame, done: Ingested) -> None:
    boots = pl.DataFrame(rows, infer_schema_length=None).cast(BOOTS)  # type: ignore[arg-type]
    # Attributes that no boot of these has are texts, too: readers then find one type in all files.
    boots = boots.cast({name: pl.String for name in boots.columns if name not in BOOTS})
    with fleet.locked():
        listing = fleet.listing()
        there = read_boots(fleet, listing.boots)
        clash = boots.join(there, on="boot", suffix="_there").filter(pl.col("digest") != pl.col("digest_there"))
        if clash.height:
            message = "two boots have the same number; the chance of this is one in a million million"
            raise FirstlightError(message, where=fleet.where)
        fresh = boots.join(there, on="digest", how="anti").unique("digest", keep="first", maintain_order=True)
        done.known += boots.height - fresh.height
        if fresh.height:
            if fresh.height < boots.height:
                spans = spans.join(fresh, on="boot", how="semi")
            made = write_spans(fleet, spans, fresh.select("boot", "day"))
            try:
                made.append(write_boots(fleet, fresh))
                fleet.replace_listing(Listing((*listing.boots, made[-1]), (*listing.spans, *made[:-1]), listing.change))
            except FirstlightError:
                remove(fleet, made)
                raise
        done.added += fresh.height


def quarantine(fleet: Fleet, done: Ingested, where: str, why: str, attributes: Mapping[str, str]) -> None:
    """Note a boot that cannot be read. The note names the file alone: folders may be called after people.

    Of the reason the first line stays, masked as names are: further lines quote what the records say.

    :param attributes: what is said of the boot: the note is deleted with the boots that meet conditions on them.
    """
    done.quarantined.append((where, why))
    folder = fleet.directory / QUARANTINE
    folder.mkdir(exist_ok=True)
    name = Path(where).name
    if not fleet.keeps_identities:
        why = masked((why.splitlines() or [""])[0])
    said = [name, why, *map("=".join, sorted(attributes.items()))]
    digest = re.sub(r"[^0-9a-f]", "", _digest_of_text("\0".join(said)))[:32]
    noted = {"name": name, "reason": why, "attributes": dict(attributes)}
    with atomic_write(folder / f"{digest}.json", force=True) as written:
        written.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")


def _digest_of_text(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class _Found(NamedTuple):
    """A bundle, and where it was found; a temporary one is there until the next is asked for."""

    bundle: Path
    where: str
    is_temporary: bool
    is_record: bool = False
    """It was imported on the way."""


def _found(given: Sequence[Path], leave_out: _LeaveOut) -> Iterator[_Found]:
    for path in given:
        if path.is_dir():
            for each in _in_directory(path):
                if each.is_dir():
                    yield _Found(each, str(each), False)
                else:
                    yield from _found([each], leave_out)
        elif tarfile.is_tarfile(path):
            with _unpacked(path) as directory:
                if isinstance(directory, str):
                    leave_out(str(path), directory)
                    continue
                inside = list(_in_directory(directory))
                one_by_one = any(each.is_dir() for each in inside) or _are_logs_of_several_boots(inside)
                for each in inside if one_by_one else ():
                    where = f"{path}:{each.relative_to(directory)}"
                    if each.is_dir():
                        yield _Found(each, where, True)
                    else:
                        yield from _imported(each, leave_out, where)
            if not one_by_one:
                yield from _imported(path, leave_out, str(path))
        else:
            yield from _imported(path, leave_out, str(path))


def _are_logs_of_several_boots(files: Sequence[Path]) -> bool:
    """Whether the files of an archive are kernel logs, and not what a collector packed of one boot."""
    if any(_COLLECTIONS & {*file.parts} for file in files):
        return False
    logs = 0
    for file in files:
        with file.open("rb") as opened:
            logs += b"Linux version " in opened.read(_HEAD_OF_LOG)
    return logs > 1


def _imported(path: Path, leave_out: _LeaveOut, where: str) -> Iterator[_Found]:
    """A bundle of each boot that a record of another tool has."""
    from firstlight.ingest.importing import ImportOptions, import_records  # bundles alone need none of it

    with tempfile.TemporaryDirectory(prefix="firstlight-fleet-") as temporary:
        target = Path(temporary) / "record.boot"
        try:
            import_records(ImportOptions([str(path)], target, split=True, force=True))
        except FirstlightError as error:
            leave_out(where, error.message)
            return
        yield from (_Found(each, where, True, True) for each in _in_directory(Path(temporary)))


def _in_directory(directory: Path) -> Iterator[Path]:
    """The bundles in a directory, itself one perhaps, and the files beside them; links are not followed."""
    if (directory / "manifest.json").is_file() or directory.name.endswith(".boot"):
        yield directory
        return
    for entry in sorted(directory.iterdir()):
        if entry.is_symlink() or entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _in_directory(entry)
        elif entry.is_file():
            yield entry


@contextmanager
def _unpacked(path: Path) -> Iterator[Path | str]:
    """The files of an archive in a private directory; or why it cannot be unpacked."""
    with tempfile.TemporaryDirectory(prefix="firstlight-fleet-") as temporary:
        directory = Path(temporary)
        try:
            with tarfile.open(path) as archive:
                size = members = 0
                for member in archive:
                    size, members = size + member.size, members + 1
                    if size > _LARGEST_ARCHIVE or members > _MOST_MEMBERS:
                        yield "the archive is too large"
                        return
                    if member.isfile() or member.isdir():
                        # Refuses names that lead out of the directory.
                        archive.extract(member, directory, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            yield f"the archive cannot be unpacked: {error}"
            return
        yield directory

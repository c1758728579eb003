"""A fleet is made smaller: small files become large ones, and boots are deleted."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl

from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.columns import SPANS
from firstlight.fleet.conditions import matching
from firstlight.fleet.files import read_boots, read_spans, remove, write_boots, write_spans
from firstlight.fleet.layout import QUARANTINE, Fleet, Listing


@dataclass(frozen=True)
class Compacted:
    """What a compaction did."""

    files_before: int
    files_after: int
    removed: int
    """Files that no list named: a writer that was ended left them, or a former compaction."""
    former: int
    """Files that are in the list no more, and stay until the next compaction for those that read them."""


def compact(fleet: Fleet) -> Compacted:
    """Merge the files of each day into one, and remove what no list names.

    Readers that have begun go on with the former files: those are removed by the next compaction.

    :raises FirstlightError: when a file is damaged or cannot be written; the fleet is then as it was.
    """
    with fleet.locked():
        before = fleet.listing()
        stray = _stray(fleet, before)
        remove(fleet, stray)
        days: dict[str, list[str]] = defaultdict(list)
        for name in before.spans:
            days[str(PurePosixPath(name).parent)].append(name)
        made: list[str] = []
        kept: list[str] = []
        try:
            for files in days.values():
                if len(files) == 1:
                    kept += files
                    continue
                rows = read_spans(fleet, files)
                day = PurePosixPath(files[0]).parent.name.removeprefix("day=")
                boots = rows.select("boot").unique().with_columns(pl.lit(day).alias("day"))
                made += write_spans(fleet, rows, boots)
            boots_files = before.boots
            if len(before.boots) > 1:
                boots_files = (write_boots(fleet, read_boots(fleet, before.boots)),)
                made += boots_files
            spans = tuple(sorted({*kept, *made} - {*boots_files}))
            after = Listing(boots_files, spans, before.change)
            if made:
                fleet.replace_listing(after)
        except FirstlightError:
            remove(fleet, made)
            raise
        former = len(set(before.files) - set(after.files))
        return Compacted(len(before.files), len(after.files), len(stray), former)


def forget(fleet: Fleet, boots: pl.DataFrame) -> int:
    """Delete boots: no file that is left has a row of them, the former files that a compaction keeps included.

    :param boots: with `boot`.
    :returns: how many boots were deleted.
    :raises FirstlightError: when a file is damaged or cannot be written; the fleet is then as it was.
    """
    with fleet.locked():
        before = fleet.listing()
        all_boots = read_boots(fleet, before.boots)
        gone = all_boots.join(boots.select("boot"), on="boot", how="semi")
        if not gone.height:
            remove(fleet, _stray(fleet, before))
            return 0
        days = {f"spans/day={day}" for day in gone["day"]}
        made: list[str] = []
        kept: list[str] = []
        try:
            for name in before.spans:
                if str(PurePosixPath(name).parent) not in days:
                    kept.append(name)
                    continue
                rows = read_spans(fleet, [name])
                left = rows.join(gone, on="boot", how="anti")
                if left.height == rows.height:
                    kept.append(name)
                elif left.height:
                    made += write_spans(fleet, left.select(list(SPANS)), all_boots.select("boot", "day"))
            spans = (*kept, *made)
            remaining = all_boots.join(gone, on="boot", how="anti")
            boots_file = write_boots(fleet, remaining)
            made.append(boots_file)
            after = Listing((boots_file,), spans, before.change)
            fleet.replace_listing(after)
        except FirstlightError:
            remove(fleet, made)
            raise
        # Deleted means deleted: no reader is waited for.
        remove(fleet, _stray(fleet, after))
        return gone.height


def forget_notes(fleet: Fleet, where: str) -> None:
    """Delete the notes of boots that could not be read and whose attributes meet conditions.

    :param where: conditions on attributes, as `serial = "1234"`; notes that lack one of the attributes stay.
    :raises FirstlightError: when a note cannot be deleted.
    """
    for path in sorted((fleet.directory / QUARANTINE).glob("*.json")):
        try:
            noted = json.loads(path.read_text(encoding="utf-8"))
            attributes = {str(name): str(value) for name, value in dict(noted["attributes"]).items()}
        except (OSError, ValueError, KeyError, TypeError):
            continue
        try:
            if matching(pl.DataFrame([attributes]), where).height:
                path.unlink(missing_ok=True)
        except UsageError:
            continue
        except OSError as error:
            raise FirstlightError(f"cannot be deleted: {error.strerror or error}", where=str(path)) from error


def _stray(fleet: Fleet, listing: Listing) -> list[str]:
    found = [
        path.relative_to(fleet.directory).as_posix()
        for pattern in ("boots/*", "spans/day=*/*")
        for path in fleet.directory.glob(pattern)
        if path.suffix in (".parquet", ".part") and path.is_file()
    ]
    return sorted(set(found) - set(listing.files))

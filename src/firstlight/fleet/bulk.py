"""Many imported boots at once: their tables are read together, which takes a tenth of the time of one after another.

What is out of the ordinary is left to :func:`firstlight.fleet.boot_rows.boot_rows`: recorded boots, boots with
processes, of former schemas, without two marks, and every bundle that is damaged, because that one says what is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from firstlight.bundle.digests import check_digests
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.older import RENAMED_IN
from firstlight.bundle.open import read_manifest
from firstlight.bundle.tables import SCHEMAS
from firstlight.errors import FirstlightError
from firstlight.fleet.boot_digests import manifest_digest
from firstlight.fleet.boot_rows import (
    FACT_NAMES,
    boot_row,
    bounds_of_spans,
    is_length,
    merged,
    names_of_machine,
    parts_of_spans,
)
from firstlight.fleet.columns import SPANS
from firstlight.fleet.masking import SAYS, mask_column, names_said, names_within
from firstlight.recipe.mode import RecordMode
from firstlight.schema.spans import SpanKind

_COLUMNS = {
    "marks": ("time_ns",),
    "spans": ("kind", "name", "start_ns", "duration_ns", "instructions", "grade", "attributes"),
    "facts": ("fact", "value"),
}
"""The tables that are read, and what of them: a third of the columns takes half of the time."""
_TABLES = tuple(_COLUMNS)
_FILE = "file"
_MOST_ROWS = 1_000_000
"""Rows of a table; a boot with more is read by itself."""


@dataclass(frozen=True)
class BulkRows:
    """The rows of ordinary boots, and the bundles that are left."""

    boots: list[dict[str, Any]]
    spans: pl.DataFrame
    left: list[Path]


def bulk_rows(
    bundles: Sequence[Path],
    attributes: Mapping[str, str],
    *,
    keeps_identities: bool = False,
    digests: Mapping[Path, str] | None = None,
) -> BulkRows:
    """The rows of those bundles that are ordinary: the same that each gives by itself.

    :param attributes: as for :func:`firstlight.fleet.boot_rows.boot_rows`.
    :param digests: :func:`firstlight.fleet.boot_digests.manifest_digest` of the bundles, where they are known.
    """
    digests = digests or {}
    nothing = BulkRows([], pl.DataFrame(schema=SPANS), list(bundles))
    heads = {bundle: head for bundle in bundles if (head := _head(bundle)) is not None}
    if not heads:
        return nothing
    try:
        marks, spans, facts = (_read(list(heads), table) for table in _TABLES)
        said = pl.DataFrame() if keeps_identities else names_said(_log(list(heads)))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # One of them is damaged, and none of these says which.
        return nothing
    rows = {table: _counts(frame) for table, frame in zip(_TABLES, (marks, spans, facts), strict=True)}
    lengths = _lengths(marks)
    with_processes = set(spans.filter(pl.col("kind") == SpanKind.PROCESS)[_FILE].to_list())
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for file, fact, value in facts.filter(pl.col("fact").is_in(FACT_NAMES)).select(_FILE, "fact", "value").iter_rows():
        if value:
            known[file][fact] = value
    devices: dict[str, set[str]] = defaultdict(set)
    for file, name in () if keeps_identities else said.select(_FILE, "said").iter_rows():
        devices[file].add(name)
    boots, numbers = [], {}
    names: dict[str, list[str]] = {}
    for bundle, manifest in heads.items():
        file = str(bundle)
        promised = all(rows[table].get(file, 0) == manifest.tables[table].rows for table in _TABLES)
        if not promised or file in with_processes or not is_length(lengths.get(file, 0)):
            continue
        digest = digests.get(bundle) or manifest_digest(bundle)
        own = None if keeps_identities else [*names_of_machine(known[file]), *devices[file]]
        row = boot_row(digest, manifest, lengths[file], known[file], attributes, own)
        boots.append(row)
        numbers[file] = row["boot"]
        names[file] = own or []
    length_ns = pl.col("boot").replace_strict({numbers[file]: lengths[file] for file in numbers}, return_dtype=pl.Int64)
    ordinary = _numbered(spans, numbers)
    parts = pl.concat([parts_of_spans(ordinary), bounds_of_spans(ordinary, length_ns)])
    if not keeps_identities:
        # Most names of machines are in no name of a part of any boot.
        there = set(names_within({name for own in names.values() for name in own}, parts["name"].unique()))
        named = {
            numbers[file]: some for file, own in names.items() if (some := [name for name in own if name in there])
        }
        parts = pl.concat([
            mask_column(parts.filter(~pl.col("boot").is_in(list(named))), "name"),
            *(mask_column(parts.filter(pl.col("boot") == number), "name", own) for number, own in named.items()),
        ])  # fmt: skip
    return BulkRows(boots, merged(parts), [bundle for bundle in bundles if str(bundle) not in numbers])


def _head(bundle: Path) -> Manifest | None:
    """The manifest of an ordinary imported boot whose tables are those that it promises."""
    try:
        manifest = read_manifest(bundle)
        ordinary = (
            manifest.mode == RecordMode.IMPORTED
            and manifest.schema_version >= RENAMED_IN
            and manifest.failure is None
            and all(table in manifest.tables and manifest.tables[table].rows <= _MOST_ROWS for table in _TABLES)
            and not any(manifest.tables[table].rows for table in ("processes", "threads") if table in manifest.tables)
        )
        if ordinary:
            check_digests(bundle, manifest, _TABLES)
    except FirstlightError:
        return None
    return manifest if ordinary else None


def _read(bundles: Sequence[Path], table: str) -> pl.DataFrame:
    """One table of many bundles, with the bundle of each row; those of one bundle lie together."""
    schema = SCHEMAS[table]
    files = [str(bundle / f"{table}.parquet") for bundle in bundles]
    columns = [pl.col(name).cast(schema[name]) for name in _COLUMNS[table]]
    bundle = pl.col(_FILE).str.strip_suffix(f"/{table}.parquet")
    frames = pl.scan_parquet(files, glob=False, hive_partitioning=False, include_file_paths=_FILE)
    return frames.select(*columns, bundle).collect()


def _log(bundles: Sequence[Path]) -> pl.DataFrame:
    """The lines that may name a machine of the logs of many bundles, with the bundle of each."""
    files = [str(bundle / "log.parquet") for bundle in bundles]
    frames = pl.scan_parquet(files, glob=False, hive_partitioning=False, include_file_paths=_FILE)
    return frames.filter(SAYS).select("text", pl.col(_FILE).str.strip_suffix("/log.parquet")).collect()


def _numbered(frame: pl.DataFrame, numbers: Mapping[str, int]) -> pl.DataFrame:
    """Rows of these bundles, with the number of the boot of each; rows of one bundle lie together.

    Looking up each row by the name of its bundle would take a tenth of the time of all.
    """
    runs = frame.select(pl.col(_FILE).rle().struct.unnest())
    number = pl.col("value").replace_strict(numbers, default=None, return_dtype=pl.Int64)
    boots = runs.select(number.repeat_by("len").explode()).to_series()
    return frame.with_columns(boots.alias("boot")).drop_nulls("boot")


def _counts(frame: pl.DataFrame) -> dict[str, int]:
    runs = frame.select(pl.col(_FILE).rle().struct.unnest())
    return dict(runs.select("value", "len").iter_rows())


def _lengths(marks: pl.DataFrame) -> dict[str, int]:
    """From the first mark to the last, of boots with two or more."""
    timed = marks.drop_nulls("time_ns").group_by(_FILE)
    found = timed.agg((pl.col("time_ns").max() - pl.col("time_ns").min()).alias("length"), pl.len().alias("marks"))
    return dict(found.filter(pl.col("marks") > 1).select(_FILE, "length").iter_rows())

"""How a fleet identifies a boot: one log under two names is one boot."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl

from firstlight.bundle.digests import check_digests
from firstlight.bundle.open import read_manifest
from firstlight.bundle.tables import SCHEMAS
from firstlight.cache import file_digest
from firstlight.errors import BundleError

_SOURCE = "source"
"""The column that names the file in which a row was read."""
_SLICE = 50_000


def manifest_digest(bundle: Path) -> str:
    """The digest of a bundle's manifest: a fleet identifies a bundle by it.

    :raises BundleError: when the bundle has no manifest.
    """
    manifest = bundle / "manifest.json"
    if not manifest.is_file():
        raise BundleError("not a boot bundle: it has no manifest", where=str(bundle))
    return file_digest(manifest)


def content_digest(bundle: Path) -> str:
    """The digest of a bundle's rows: a fleet identifies a log by it, which it imports while it adds it.

    It is of the tables without the column that names files, so it stays when the file has another name or other ends of
    lines. A bundle that is given as one is known by its manifest, which costs a tenth of the time.

    :raises BundleError: when the bundle has no manifest, or a table is damaged.

    >>> content_digest(bundle) == content_digest(bundle)
    True
    """
    manifest = read_manifest(bundle)
    filled = sorted(table for table, promised in manifest.tables.items() if promised.rows)
    named = [table for table in filled if _SOURCE in SCHEMAS.get(table, {})]
    check_digests(bundle, manifest, named)
    contents = {
        table: _rows_digest(bundle / f"{table}.parquet") if table in named else manifest.tables[table].sha256
        for table in filled
    }
    text = json.dumps([manifest.mode, manifest.status, manifest.clock.kind, contents], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _rows_digest(path: Path) -> str:
    """The digest of a table's rows, without the files that they were read in."""
    digest = hashlib.sha256()
    try:
        rows = pl.read_parquet(path, glob=False, hive_partitioning=False).drop(_SOURCE, strict=False)
        for part in rows.iter_slices(_SLICE):
            digest.update(part.write_ndjson().encode())
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise BundleError("this table cannot be read", where=str(path), hint="import the boot again") from error
    return digest.hexdigest()

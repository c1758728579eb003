"""Whether the tables of a bundle are those that were recorded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from firstlight.bundle.manifest import Manifest
from firstlight.cache import file_digest
from firstlight.errors import BundleError, LabError


def check_digest(bundle: Path, table: str, sha256: str) -> None:
    """Make sure that a table is the one that was recorded; reading it all takes a few milliseconds.

    :param sha256: what the manifest promises.
    :raises BundleError: when it is missing or another one.
    """
    # A text: a path takes as long to make as a small table takes to read.
    path = f"{bundle}/{table}.parquet"
    try:
        found = file_digest(path)
    except LabError:
        if Path(path).is_file():
            raise
        found = None
    if found != sha256:
        raise BundleError(
            "this table is missing, or not the one that was recorded",
            where=path,
            hint="copy the bundle again, or record it again",
        )


def check_digests(bundle: Path, manifest: Manifest, tables: Iterable[str]) -> None:
    """Make sure of several tables, before the engine reads them; of those alone that the manifest promises.

    :raises BundleError: when one is missing or another one.

    >>> check_digests(bundle, firstlight.open(bundle).manifest, ["marks", "spans"])
    """
    for table in tables:
        promised = manifest.tables.get(table)
        if promised is not None:
            check_digest(bundle, table, promised.sha256)

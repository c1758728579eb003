"""Whether two bundles hold the same tables, also where one is of an older schema."""

from __future__ import annotations

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import ADDED_COLUMNS

#: Tables that count what others count, in finer parts: an older bundle without them is no other boot.
FINER = ("slices", "slice_calls", "slice_threads", "slice_system_calls", "slice_user_functions")


def equal_tables(one: Boot, other: Boot) -> bool:
    """Whether every table of one boot is that of the other: by its digest, or row by row between schema versions.

    Slices of time are left out where one of them has none, as bundles of earlier versions: they are parts of
    the tree, of threads, system calls and functions.

    :raises BundleError: when a table that has to be read is damaged.

    >>> import firstlight
    >>> equal_tables(firstlight.open(bundle), firstlight.open(bundle))
    True
    """
    first, second = one.manifest, other.manifest
    lacking = {table for table in FINER if (table in first.tables) != (table in second.tables)}
    names = (first.tables.keys() | second.tables.keys()) - lacking
    if first.schema_version == second.schema_version:
        digests, others = first.table_digests, second.table_digests
        return all(digests.get(name) == others.get(name) for name in names)
    return all(_equal(name, one.table(name), other.table(name)) for name in sorted(names))


def _equal(table: str, one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether the rows are equal, without columns that one of the bundles was written without."""
    added = [name for name in ADDED_COLUMNS.get(table, ()) if one[name].is_null().all() or other[name].is_null().all()]
    return one.drop(added).equals(other.drop(added))

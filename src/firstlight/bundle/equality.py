"""Whether two bundles hold the same tables, also where one is of an older schema."""

from __future__ import annotations

from firstlight.bundle.boot import Boot

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
    return all(one.table(name).equals(other.table(name)) for name in sorted(names))

"""Whether two bundles hold the same tables, also where one is of an older schema."""

from __future__ import annotations

from firstlight.bundle.boot import Boot


def equal_tables(one: Boot, other: Boot) -> bool:
    """Whether every table of one boot is that of the other: by its digest, or row by row between schema versions.

    :raises BundleError: when a table that has to be read is damaged.

    >>> import firstlight
    >>> equal_tables(firstlight.open(bundle), firstlight.open(bundle))
    True
    """
    first, second = one.manifest, other.manifest
    if first.schema_version == second.schema_version:
        return first.table_digests == second.table_digests
    names = first.tables.keys() | second.tables.keys()
    return all(one.table(name).equals(other.table(name)) for name in sorted(names))

"""The tables of a boot by their names."""

from __future__ import annotations

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import SCHEMAS
from firstlight.suggest import unknown_name


def table(boot: Boot, name: str) -> pl.DataFrame:
    """A table of *boot*, with the columns of its schema.

    :raises BundleError: when there is no such table, or it cannot be read.

    >>> table(firstlight.open(bundle), "marks").height
    17
    """
    unknown_name("table", name, list(SCHEMAS), str(boot.directory))
    return boot.table(name)

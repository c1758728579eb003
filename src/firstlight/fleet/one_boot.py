"""One boot of a fleet, with all its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.columns import SPANS
from firstlight.fleet.files import read_boots
from firstlight.fleet.layout import Fleet

_DIGEST = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True)
class FleetBoot:
    """A boot of a fleet. Times are nanoseconds."""

    row: dict[str, Any]
    """What `boots` has of it, its attributes among them."""
    parts: pl.DataFrame
    """What `spans` has of it, the longest first."""


def one_boot(fleet: Fleet, digest: str) -> FleetBoot:
    """A boot by its digest; only the files of its day are read.

    :param digest: the digest or its first characters, as `fleet show outliers` prints them.
    :raises UsageError: when no boot has that digest, or several do.
    :raises FirstlightError: when a file is missing or damaged.
    """
    hint = f"`firstlight fleet show {fleet.where} outliers` names boots by their digests"
    if not _DIGEST.fullmatch(digest):
        raise UsageError(f"`{digest[:80]}` is not a digest: it needs 4 to 64 of 0-9 and a-f", where="DIGEST", hint=hint)
    listing = fleet.listing()
    found = read_boots(fleet, listing.boots).filter(pl.col("digest").str.starts_with(digest))
    if found.height != 1:
        many = f"{found.height} boots have a digest that begins like this"
        message = many if found.height else f"no boot of the fleet has the digest `{digest}`"
        raise UsageError(message, where="DIGEST", hint="give more of it" if found.height else hint)
    row = found.row(0, named=True)
    files = [name for name in listing.spans if name.startswith(f"spans/day={row['day']}/")]
    frames = [pl.DataFrame(schema=SPANS)]
    for path in fleet.paths(files):
        try:
            rows = pl.scan_parquet(path, glob=False, hive_partitioning=False).filter(pl.col("boot") == row["boot"])
            frames.append(rows.select(list(SPANS)).collect())
        except (OSError, pl.exceptions.PolarsError) as error:
            hint = "restore it from a copy"
            raise FirstlightError(f"damaged: {str(error).splitlines()[0]}", where=str(path), hint=hint) from error
    parts = pl.concat(frames, how="vertical_relaxed").drop("boot")
    return FleetBoot(row, parts.sort(["duration_ns", "kind", "name"], descending=[True, False, False]))

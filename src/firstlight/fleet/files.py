"""The Parquet files of a fleet: written whole under names that nothing else has, read by the list."""

from __future__ import annotations

import errno
import math
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from firstlight.errors import FirstlightError, is_full
from firstlight.fleet.columns import BOOTS, SPANS
from firstlight.fleet.layout import ATTRIBUTE, Fleet

_Read = TypeVar("_Read")
#: Rows of a group: a file of 5,000 boots has groups of some fifty names each, so that one name is found without reading
#: the others. Smaller ones repeat the numbers of boots too often.
_ROW_GROUP = 1 << 18
_TEXTS = ("kind", "name")
#: Bytes: a file system with less has no room for the end of a file.
_LEAST_FREE = 1 << 16


def write_boots(fleet: Fleet, boots: pl.DataFrame) -> str:
    """Write rows of boots; returns the file's name below the directory of the fleet.

    :raises FirstlightError: when it cannot be written; nothing is left then.
    """
    return _write(fleet, boots.sort("boot"), "boots")


def write_spans(fleet: Fleet, spans: pl.DataFrame, days: pl.DataFrame) -> list[str]:
    """Write rows of parts, a file for each day; sorted so that one name lies together.

    :param days: `boot` and `day`.
    :raises FirstlightError: when one cannot be written; nothing is left then.
    """
    written: list[str] = []
    try:
        for day, rows in _by_day(spans, days):
            name = f"spans/day={day}"
            (fleet.directory / name).mkdir(exist_ok=True)
            written.append(_write(fleet, rows, name))
    except (FirstlightError, OSError) as error:
        remove(fleet, written)
        if isinstance(error, OSError):
            raise FirstlightError(f"cannot be written: {error.strerror or error}", where=fleet.where) from error
        raise
    return written


def _by_day(spans: pl.DataFrame, days: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of parts of each day, sorted by kind, name and boot.

    All are sorted at once by one number, in half of the time that texts and several columns take.
    """
    texts = {column: spans[column].unique().sort() for column in _TEXTS}
    parts = math.prod(map(len, texts.values()))
    boots = days.sort("day", "boot")
    dates = boots["day"].unique(maintain_order=True)
    ranks = spans.with_columns(pl.col(column).cast(pl.Enum(known)) for column, known in texts.items())
    kind, name = (pl.col(column).to_physical().cast(pl.Int64) for column in _TEXTS)
    place = _replaced("boot", boots["boot"], pl.int_range(boots.height, eager=True))
    day = _replaced("boot", boots["boot"], boots["day"].cast(pl.Enum(dates)).to_physical().cast(pl.Int64))
    number = ((day * parts) + kind * len(texts["name"]) + name) * boots.height + place
    ordered = ranks.with_columns(number.alias("number")).drop_nulls("number").sort("number")
    lengths = ordered.select((pl.col("number") // (parts * boots.height)).rle().struct.unnest())
    begin = 0
    for length, which in lengths.iter_rows():
        yield dates[which], ordered.slice(begin, length).select(list(SPANS)).cast(SPANS)  # type: ignore[arg-type]
        begin += length


def _replaced(column: str, known: pl.Series, numbers: pl.Series) -> pl.Expr:
    return pl.col(column).replace_strict(known, numbers, default=None, return_dtype=pl.Int64)


def _write(fleet: Fleet, rows: pl.DataFrame, folder: str) -> str:
    name = f"{folder}/{uuid.uuid4().hex}.parquet"
    path = fleet.directory / name
    part = path.with_suffix(".part")
    try:
        rows.write_parquet(part, compression="zstd", row_group_size=_ROW_GROUP)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        # The engine does not always say that the disk is full; what it wrote shows that, before it is removed.
        full = is_full(error) or shutil.disk_usage(path.parent).free < _LEAST_FREE
        part.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        if full and not isinstance(error, OSError):
            reason = os.strerror(errno.ENOSPC)
        hint = "the fleet is unchanged; free some space, or use another disk"
        raise FirstlightError(f"cannot be written: {reason}", where=str(path), hint=hint) from error
    return name


def read_boots(fleet: Fleet, files: Sequence[str]) -> pl.DataFrame:
    """All rows of boots; an attribute that a boot lacks is null.

    :raises FirstlightError: when a file is missing or damaged.
    """
    frames = [_read(path) for path in fleet.paths(files)]
    if not frames:
        return pl.DataFrame(schema=BOOTS)
    found = pl.concat(frames, how="diagonal_relaxed")
    attributes = sorted(name for name in found.columns if name not in BOOTS and ATTRIBUTE.fullmatch(name))
    if any(name not in found.columns for name in BOOTS):
        raise FirstlightError("damaged: a column of `boots` is missing", where=fleet.where)
    return found.select(
        *(pl.col(name).cast(kind) for name, kind in BOOTS.items()),
        *(pl.col(name).cast(pl.String) for name in attributes),
    )


def boot_attributes(fleet: Fleet, files: Sequence[str]) -> list[str]:
    """The attributes that some boot of these files may have, in the order of their names.

    :raises FirstlightError: when a file is missing or damaged.
    """
    found: set[str] = set()
    for path in fleet.paths(files):
        columns = _checked(path, pl.read_parquet_schema)
        if not columns.keys() >= BOOTS.keys():
            raise FirstlightError("damaged: a column of `boots` is missing", where=fleet.where)
        found |= columns.keys() - BOOTS.keys()
    return sorted(name for name in found if ATTRIBUTE.fullmatch(name))


def read_spans(fleet: Fleet, files: Sequence[str]) -> pl.DataFrame:
    """Rows of parts, of some files.

    :raises FirstlightError: when a file is missing or damaged.
    """
    frames = [_read(path).select(list(SPANS)).cast(SPANS) for path in fleet.paths(files)]  # type: ignore[arg-type]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SPANS)


def _read(path: Path) -> pl.DataFrame:
    return _checked(path, lambda path: pl.read_parquet(path, hive_partitioning=False))


def _checked(path: Path, read: Callable[[Path], _Read]) -> _Read:
    try:
        return read(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise FirstlightError(f"damaged: {reason}", where=str(path), hint="restore it from a copy") from error


def remove(fleet: Fleet, files: Iterable[str]) -> None:
    """Remove files that are in no list any more."""
    for name in files:
        (fleet.directory / name).unlink(missing_ok=True)

"""A path with its short parts folded, so that the sum stays."""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.path.critical import CriticalPath

#: Parts shorter than this share of the path, in thousandths, are folded.
_LEAST = 5


def folded(path: CriticalPath, most: int | None = None) -> pl.DataFrame:
    """The parts of a path in order of time, with runs of short ones as one part each; no part lasts 0 ns.

    Columns: those of `path.rows`, and `parts` (the number of parts that a row consists of). A folded row has no kind,
    and its name states its parts. `duration_ns` adds up to the length of the path.

    :param most: maximum number of parts that have a row of their own, the longest ones.

    >>> import firstlight
    >>> path = firstlight.open(bundle).path()
    >>> rows = folded(path, most=3)
    >>> rows["duration_ns"].sum() == path.rows["duration_ns"].sum(), rows["duration_ns"].min() > 0
    (True, True)
    """
    rows = path.rows.filter(pl.col("duration_ns") > 0).with_columns(parts=pl.lit(1, pl.Int64))
    if path.threads is not None:
        rows = _by_stay(rows)
    rank = pl.col("duration_ns").rank("ordinal", descending=True)
    short = pl.col("duration_ns") * 1000 < rows["duration_ns"].sum() * _LEAST
    small = short if most is None else short | (rank > most)
    run = ((pl.col("small") != pl.col("small").shift(1)).fill_null(True) | ~pl.col("small")).cum_sum()
    rows = rows.with_columns(small.alias("small")).with_columns(run.alias("run"))
    sums = ("end_ns", "duration_ns")
    kept = [column for column in path.rows.columns if column not in sums]
    rows = rows.group_by("run", maintain_order=True).agg(
        *(pl.col(column).first() for column in kept),
        pl.col("end_ns").last(),
        pl.col("duration_ns").sum(),
        pl.col("parts").sum(),
        (pl.len() > 1).alias("several"),
    )
    several = pl.col("several")
    blank = [column for column in kept if column not in ("kind", "name", "start_ns")]
    rows = rows.with_columns(
        *(pl.when(several).then(pl.lit(None)).otherwise(column).alias(column) for column in blank),
        pl.when(several).then(pl.lit("")).otherwise("kind").alias("kind"),
        pl.when(several).then(pl.format("({} smaller)", "parts")).otherwise("name").alias("name"),
    )
    ran = [_ran(path, row) for row in rows.select("parts", "start_ns", "end_ns", "ran").iter_rows(named=True)]
    return rows.with_columns(pl.Series("ran", ran, dtype=pl.String)).select(*path.rows.columns, "parts")


def _by_stay(rows: pl.DataFrame) -> pl.DataFrame:
    """The path through threads with one row for each stay in a program: its turns, and the short waits between them.

    A long wait keeps its row, and so do the steps and phases of the kernel.
    """
    turn = pl.col("kind").is_in(["running", "behind", "waiting", "idle"])
    long = pl.col("kind").is_in(["waiting", "idle"]) & (
        pl.col("duration_ns") * 1000 >= rows["duration_ns"].sum() * _LEAST
    )
    alone = ~turn | long
    key = pl.struct("track", "process", "service")
    new = alone | alone.shift(1) | (key != key.shift(1))
    first = ["track", "process", "service", "start_ns", "grade", "span", "ran", "before", "after"]
    several, begun = pl.len() > 1, pl.col("reason").filter(pl.col("edge").is_not_null()).first()
    return (
        rows.group_by(new.fill_null(True).cum_sum().alias("stay"), maintain_order=True)
        .agg(
            pl.when(several).then(pl.lit("process")).otherwise(pl.col("kind").first()).alias("kind"),
            pl.when(several).then(pl.col("process").first()).otherwise(pl.col("name").first()).alias("name"),
            pl.col(first).first(),
            pl.col("edge").drop_nulls().first(),
            pl.when(several).then(begun).otherwise(pl.col("reason").first()).alias("reason"),
            pl.when(several).then(None).otherwise(pl.col("during").first()).alias("during"),
            pl.col("end_ns").last(),
            pl.col("duration_ns", "parts").sum(),
        )
        .select(rows.columns)
    )


def _ran(path: CriticalPath, row: dict[str, Any]) -> str | None:
    if row["parts"] == 1:
        ran: str | None = row["ran"]
        return ran
    return path.text(row["start_ns"], row["end_ns"])

"""How far the duration of a phase may be off, where records do not show when one of its marks was reached."""

from __future__ import annotations

import polars as pl

from firstlight.schema.spans import Grade

#: How the detail of a mark that no record has begins.
INFERRED = "inferred: "
#: The attribute of a phase that has it. A damaged one is none.
_UNSURE = r'"unsure_ns":"([0-9]{1,18})"'
#: Grades of phases whose bounds are known.
_KNOWN = [Grade.EXACT, Grade.GOOD, Grade.COARSE]


def unsure_ns() -> pl.Expr:
    """How far the duration of each phase may be off, in ns: 0 where both marks are known, null without a bound.

    >>> grades, attributes = ["good", "bounded", "bounded"], [None, '{"unsure_ns":"18000000"}', None]
    >>> frame = pl.DataFrame({"grade": grades, "attributes": attributes})
    >>> frame.select(unsure_ns())["unsure_ns"].to_list()
    [0, 18000000, None]
    """
    known = pl.col("grade").is_null() | pl.col("grade").is_in(_KNOWN)
    bound = pl.col("attributes").str.extract(_UNSURE).cast(pl.Int64, strict=False)
    return pl.when(known).then(pl.lit(0, dtype=pl.Int64)).otherwise(bound).alias("unsure_ns")


def unsure_phases(phases: pl.DataFrame) -> pl.DataFrame:
    """The phases whose duration may be off, by a known time or by an unknown one.

    >>> unsure_phases(pl.DataFrame({"phase": ["a", "b", "c"], "unsure_ns": [0, 9, None]}))["phase"].to_list()
    ['b', 'c']
    """
    return phases.filter(pl.col("unsure_ns").fill_null(1) > 0)

"""How far the duration of a phase may be off, where records do not show when one of its marks was reached."""

from __future__ import annotations

import polars as pl

from firstlight.schema.spans import Grade, SpanKind

#: How the detail of a mark that no record has begins.
INFERRED = "inferred: "
#: The attribute of a phase that has it. A damaged one is none.
_UNSURE = r'"unsure_ns":"([0-9]{1,18})"'
#: The attribute of a phase that has by when it began.
_BEGAN_BY = r'"began_by_ns":"([0-9]{1,18})"'
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


def unsure_begins(spans: pl.DataFrame) -> list[tuple[int, int | None]]:
    """The instants between which a phase began, where records do not show when; in ns, no second one without a bound.

    :param spans: the spans of a boot; rows of other kinds than phases are ignored.

    >>> attributes = ['{"unsure_ns":"7"}', '{"began_by_ns":"27","unsure_ns":"7"}', None]
    >>> columns = {"kind": "phase", "grade": ["bounded", "bounded", "good"], "attributes": attributes}
    >>> unsure_begins(pl.DataFrame({"span": [0, 1, 2], "start_ns": [0, 20, 90]} | columns))
    [(20, 27)]
    """
    phases = spans.filter(pl.col("kind") == SpanKind.PHASE, pl.col("start_ns").is_not_null()).sort("start_ns", "span")
    by = pl.col("attributes").str.extract(_BEGAN_BY).cast(pl.Int64, strict=False)
    # Both phases at an instant that nothing bounds lack a bound.
    open_ended = (pl.col("grade") == Grade.BOUNDED) & unsure_ns().is_null()
    both = open_ended & open_ended.shift(1, fill_value=False)
    rows = phases.select("start_ns", by.alias("by"), both.alias("both")).filter(pl.col("by").is_not_null() | "both")
    return [(start, None if both else by) for start, by, both in rows.iter_rows()]


def unsure_phases(phases: pl.DataFrame) -> pl.DataFrame:
    """The phases whose duration may be off, by a known time or by an unknown one.

    >>> unsure_phases(pl.DataFrame({"phase": ["a", "b", "c"], "unsure_ns": [0, 9, None]}))["phase"].to_list()
    ['b', 'c']
    """
    return phases.filter(pl.col("unsure_ns").fill_null(1) > 0)

"""What else ran in a part of the path that no step explains."""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.spans import WORK, spans_of
from firstlight.bundle.boot import Boot
from firstlight.quantities import joined
from firstlight.schema.spans import SpanKind

_MOST_EXPLAINED = 50


def explain(boot: Boot, rows: list[dict[str, Any]]) -> None:
    """Say of the longest parts of unknown cause what else ran then."""
    kinds = ("phase", "running")
    gaps = [
        row
        for row in rows
        if row["kind"] == "silence" or (not row["during"] and (row["name"] == UNKNOWN or row["kind"] in kinds))
    ]
    gaps.sort(key=lambda row: -row["duration_ns"])
    running = spans_of(boot, *WORK, SpanKind.PROCESS, SpanKind.CONSOLE)
    for row in gaps[:_MOST_EXPLAINED]:
        ran = ran_between(running, row["start_ns"], row["end_ns"])
        row["during"] = f"{row['during']}; {ran}" if row["during"] and ran else row["during"] or ran


def ran_between(spans: pl.DataFrame, start: int, end: int, most: int = 3) -> str | None:
    """The spans that ran longest between two instants, as one text; those that never ended come last.

    >>> import polars as pl
    >>> spans = pl.DataFrame({"kind": ["unit"], "name": ["a.service"], "start_ns": [0], "end_ns": [9]})
    >>> ran_between(spans, 5, 8), ran_between(spans, 9, 20)
    ('unit a.service', None)
    """
    share = pl.min_horizontal(pl.col("end_ns").fill_null(end), end) - pl.max_horizontal("start_ns", start)
    found = (
        spans.filter((pl.col("start_ns") < end) & (pl.col("end_ns").fill_null(end) > start))
        .select("kind", "name", pl.col("end_ns").is_null().alias("open"), share.alias("share"))
        .group_by("kind", "name", "open", maintain_order=True)
        .agg(pl.col("share").max())
        .sort("open", "share", descending=[False, True], maintain_order=True)
    )
    if found.is_empty():
        return None
    return joined(
        [f"{kind} {name}{' (no end)' if unended else ''}" for kind, name, unended, _ in found.iter_rows()], most
    )

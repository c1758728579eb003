"""The columns of the tables of a fleet, and the kinds of parts in them."""

from __future__ import annotations

import polars as pl

from firstlight.schema.spans import SpanKind

#: Columns of `boots` that every boot has; the others are attributes.
BOOTS = {
    "boot": pl.Int64,
    "digest": pl.String,
    "day": pl.String,
    "mode": pl.String,
    "status": pl.String,
    "total_ns": pl.Int64,
    "instructions": pl.Int64,
    "missing": pl.String,
}
SPANS = {
    "boot": pl.Int64,
    "kind": pl.String,
    "name": pl.String,
    "start_ns": pl.Int64,
    "duration_ns": pl.Int64,
    "instructions": pl.Int64,
    "occurrences": pl.Int64,
}
PROCESS = "process"
"""The kind of rows that processes have; the others are those of spans."""
KINDS = (SpanKind.PHASE.value, SpanKind.INITCALL.value, SpanKind.UNIT.value, PROCESS, SpanKind.PROBE.value)
"""The kinds of parts that boots are compared by."""
BOUND = "phase_bound"
"""The kind of rows that say how far a phase may be off, because no record shows when it began or ended."""
CAUSE = "cause"
"""The kind of rows that causes of the catalogue have, named by their entries."""
LOOKED_FOR = "[looked for]"
"""The name of the row of this kind that every boot has in which causes were looked for."""

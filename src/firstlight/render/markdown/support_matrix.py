"""The support matrix as Markdown: `docs/reference/support-matrix.md`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from firstlight.audit.agreement import LIMITS, Measure
from firstlight.audit.matrix.measure import MatrixRow, Named
from firstlight.escape import escape_markdown
from firstlight.render.markdown.table import markdown_table
from firstlight.render.model.table import Column, Table, Value, table
from firstlight.render.views.audit import share_percent

_TITLES = {
    Measure.COUNTS: "Counts",
    Measure.SELF: "Self",
    Measure.TOTALS: "Totals",
    Measure.EDGES: "Edges",
    Measure.INITCALLS: "Initcalls",
}


def matrix_markdown(rows: Sequence[MatrixRow], command: str) -> str:
    """The document: one table for each kernel and QEMU, then the exceptions of the cells below a limit.

    :param command: what makes it again.
    """
    measured = [row for row in rows if row.refused is None]
    reached = sum(row.reached for row in measured)
    limits = ", ".join(f"{_TITLES[measure]} {limit * 100:g} %" for measure, limit in LIMITS.items())
    parts = [
        "# Support matrix",
        "The profile of each boot below was audited by the second observer ([how](../design/oracle.md), "
        f"[`firstlight audit`](commands/audit.md)). This page is the output of `{command}`.",
        f"{len(rows)} {'cell' if len(rows) == 1 else 'cells'}: {reached} within the limits, "
        f"{len(measured) - reached} below one, {len(rows) - len(measured)} that cannot be booted. "
        f"The limits: {limits}. Counts are functions with equal "
        "counts, Self instructions at the same function, Totals functions above 100,000 instructions whose total is "
        "within 0.1 %, Edges calls on equal edges, Initcalls those found of those entered by address. Exceptions is "
        "how many there are, and how many have no known cause ([causes](../design/oracle.md#causes-of-exceptions)).",
    ]
    for (kernel, qemu), group in groupby(rows, key=lambda row: (row.kernel, row.qemu)):
        parts.append(f"## Linux {escape_markdown(kernel)}, QEMU {escape_markdown(qemu) or 'not found'}")
        parts.append(markdown_table(table("", _COLUMNS, group)))
    below = [row for row in measured if row.exceptions]
    if below:
        parts.append("## Exceptions")
        parts.append("The largest of each measure; what all processors share is said of the first.")
        parts.append(markdown_table(_exceptions(below)))
    return "\n\n".join(parts) + "\n"


def _share(measure: Measure) -> Column:
    def value(row: MatrixRow) -> Value:
        return next((each.share for each in row.shares if each.measure is measure), "")

    return Column(_TITLES[measure], "share", value, write=share_percent)


def _verdict(row: MatrixRow) -> str:
    if row.refused is not None:
        return f"not booted: {row.refused}"
    low = [_TITLES[share.measure] for share in row.shares if not share.reached]
    return "below: " + ", ".join(low) if low else "agrees"


def _exceptions_of(row: MatrixRow) -> str:
    """How many exceptions a cell has, and of how many the cause is not known."""
    count = sum(row.exceptions_of.values())
    return "" if row.refused is not None else f"{count}, {row.unexplained} not known" if row.unexplained else f"{count}"


_COLUMNS = [
    Column("Processor", value="processor"),
    Column("Mitigations", value="mitigations"),
    *map(_share, _TITLES),
    Column("Exceptions", "number", _exceptions_of),
    Column("Verdict", value=_verdict),
]


def _exceptions(rows: Sequence[MatrixRow]) -> Table:
    """A table of exceptions; one that several cells share stands once, with how many they are."""
    cells: dict[tuple[Measure, str, str | None], list[tuple[MatrixRow, Named]]] = {}
    for row in rows:
        for each in row.exceptions:
            cells.setdefault((each.measure, each.what, each.cause), []).append((row, each))

    def where(found: list[tuple[MatrixRow, Named]]) -> str:
        row = found[0][0]
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return f"{row.kernel} {row.processor} {row.mitigations} {row.qemu}{more}"

    order = list(LIMITS)
    return table(
        "",
        [
            Column("Measure", value=lambda found: found[0][1].measure.value),
            Column("What", value=lambda found: found[0][1].what),
            Column("Recorded", "count", lambda found: found[0][1].recorded),
            Column("Observed", "count", lambda found: found[0][1].observed),
            Column("Cause", value=lambda found: found[0][1].cause or "not known"),
            Column("Cells", value=where),
        ],
        sorted(cells.values(), key=lambda found: order.index(found[0][1].measure)),
    )

"""The support matrix as Markdown: `docs/reference/support-matrix.md`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from firstlight.audit.agreement import LIMITS, Measure
from firstlight.audit.matrix.measure import Row
from firstlight.render.markdown.compare import table, text
from firstlight.render.views.audit import share_percent

_TITLES = {
    Measure.COUNTS: "Counts",
    Measure.SELF: "Self",
    Measure.TOTALS: "Totals",
    Measure.EDGES: "Edges",
    Measure.INITCALLS: "Initcalls",
}


def matrix_markdown(rows: Sequence[Row], command: str) -> str:
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
        parts.append(f"## Linux {text(kernel)}, QEMU {text(qemu) or 'not found'}")
        titles = ["Processor", "Mitigations", *_TITLES.values(), "Exceptions", "Verdict"]
        parts.append("\n".join(table(titles, [_cells(row) for row in group])))
    below = [row for row in measured if row.exceptions]
    if below:
        parts.append("## Exceptions")
        parts.append("The largest of each measure; what all processors share is said of the first.")
        parts += _exceptions(below)
    return "\n\n".join(parts) + "\n"


def _cells(row: Row) -> list[str]:
    if row.refused is not None:
        return [
            text(row.processor),
            text(row.mitigations),
            *("" for _ in _TITLES),
            "",
            text(f"not booted: {row.refused}"),
        ]
    shares = {share.measure: share for share in row.shares}
    figures = [share_percent(shares[measure].share) if measure in shares else "" for measure in _TITLES]
    low = [_TITLES[share.measure] for share in row.shares if not share.reached]
    return [
        text(row.processor),
        text(row.mitigations),
        *figures,
        _exceptions_of(row),
        "below: " + ", ".join(low) if low else "agrees",
    ]


def _exceptions_of(row: Row) -> str:
    """How many exceptions a cell has, and of how many the cause is not known."""
    count = sum(row.exceptions_of.values())
    return f"{count}, {row.unexplained} not known" if row.unexplained else f"{count}"


def _exceptions(rows: Sequence[Row]) -> list[str]:
    """A table of exceptions; one that several cells share stands once, with how many they are."""
    cells: dict[tuple[str, str, str | None], list[tuple[Row, int, int]]] = {}
    for row in rows:
        for each in row.exceptions:
            key = (each.measure.value, each.what, each.cause)
            cells.setdefault(key, []).append((row, each.recorded, each.observed))
    body = []
    for (measure, what, cause), found in cells.items():
        row, recorded, observed = found[0]
        where = f"{row.kernel} {row.processor} {row.mitigations} {row.qemu}"
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        body.append(
            [measure, text(what), f"{recorded:,}", f"{observed:,}", text(cause or "not known"), text(where) + more]
        )
    order = {measure.value: place for place, measure in enumerate(LIMITS)}
    body.sort(key=lambda cell: order[cell[0]])
    return ["\n".join(table(["Measure", "What", "Recorded", "Observed", "Cause", "Cells"], body))]

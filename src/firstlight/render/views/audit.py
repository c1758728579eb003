"""An audit in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.audit.agreement import LIMITS, Measure
from firstlight.audit.boot import Audit
from firstlight.escape import printable
from firstlight.quantities import count_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import print_line, print_wrapped

WHAT = {
    Measure.COUNTS: "functions with equal counts",
    Measure.SELF: "instructions at the same function",
    Measure.TOTALS: "totals within 0.1 %, of functions above 100,000 instructions",
    Measure.EDGES: "calls on equal edges",
    Measure.INITCALLS: "initcalls found, of those entered by address",
}
"""What each measure says, for people."""


def print_audit(out: Console, name: str, found: Audit, limit: int) -> None:
    """Print the agreement, then the exceptions, the largest of each measure first.

    :param name: the bundle's.
    :param limit: how many exceptions of each measure.
    """
    verdict = "agrees with" if found.agreement.reached else "disagrees with"
    print_wrapped(out, Text(printable(f"{name}: the profile {verdict} the second observer"), style="bold"))
    about = ", ".join(part for part in (found.kernel, found.processor, found.qemu) if part)
    print_wrapped(out, Text(printable(about), style="dim"))
    print_line(out)
    columns = [
        Column("Agreement", style="cyan", longest=100),
        Column("Equal", number=True),
        Column("Of", number=True),
        Column("Share", number=True, style="bold"),
        Column("At least", number=True),
        Column(""),
    ]
    rows = [
        [WHAT[measure], count_text(share.equal), count_text(share.of), share_percent(share.share),
         f"{LIMITS[measure] * 100:g} %", "" if share.reached else "below"]
        for measure, share in found.agreement.shares.items()
    ]  # fmt: skip
    print_table(out, columns, rows)
    print_line(out)
    unknown = sum(cause is None for _, cause in found.causes)
    print_wrapped(out, Text(exceptions_text(len(found.causes), unknown)))
    for measure in LIMITS:
        pairs = [pair for pair in found.causes if pair[0].measure is measure]
        if not pairs or not limit:
            continue
        print_line(out)
        columns = [
            Column(f"Exceptions: {measure.value}", style="cyan", longest=100),
            Column("Recorded", number=True),
            Column("Observed", number=True),
            Column("Cause", longest=100, wide=90),
        ]
        body = [
            [each.what, count_text(each.recorded), count_text(each.observed), cause or "not known"]
            for each, cause in pairs[:limit]
        ]
        footer = [[f"({len(pairs) - limit:,} more)", "", "", ""]] if len(pairs) > limit else []
        print_table(out, columns, body, footer)


def exceptions_text(exceptions: int, unknown: int) -> str:
    """How many exceptions there are, and of how many the cause is not known.

    >>> exceptions_text(0, 0), exceptions_text(34, 0), exceptions_text(60, 2)
    ('No exceptions.', '34 exceptions, each with a known cause.', '60 exceptions, 2 without a known cause.')
    """
    if not exceptions:
        return "No exceptions."
    known = f"{unknown:,} without a known cause" if unknown else "each with a known cause"
    return f"{exceptions:,} exception{'s' if exceptions != 1 else ''}, {known}."


def share_percent(share: float) -> str:
    """A share in per cent, never rounded up to the whole.

    >>> share_percent(1.0), share_percent(0.9999999), share_percent(0.5)
    ('100 %', '99.9999 %', '50.0000 %')
    """
    return "100 %" if share == 1.0 else f"{int(share * 1_000_000) / 10_000:.4f} %"

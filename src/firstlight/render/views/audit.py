"""An audit: how far a profile agrees with the second observer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firstlight.audit.agreement import LIMITS, AgreedShare, Measure
from firstlight.audit.boot import Audit
from firstlight.render.model.pictures import Meter
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Table, table

LOWEST = 0.99
"""Where the bars of agreement begin: shares below it are all the same, and disagree."""

WHAT = {
    Measure.COUNTS: "functions with equal counts",
    Measure.SELF: "instructions at the same function",
    Measure.TOTALS: "totals within 0.1 %, of functions above 100,000 instructions",
    Measure.EDGES: "calls on equal edges",
    Measure.INITCALLS: "initcalls found, of those entered by address",
}
"""What each measure says, for people."""


def audit_report(name: str, found: Audit, limit: int) -> Iterator[Block]:
    """The agreement, then the exceptions, the largest of each measure first.

    :param name: the bundle's.
    :param limit: how many exceptions of each measure.
    """
    yield Line(audit_title(name, found), "bold")
    yield Line(audit_subject(found), "dim")
    yield BLANK
    yield agreement_table(found)
    yield BLANK
    unknown = sum(cause is None for _, cause in found.causes)
    yield Line(exceptions_text(len(found.causes), unknown))
    for made in exceptions_tables(found, limit):
        yield BLANK
        yield made.untitled


def audit_title(name: str, found: Audit) -> str:
    """The verdict in one line."""
    verdict = "agrees with" if found.agreement.reached else "disagrees with"
    return f"{name}: the profile {verdict} the second observer"


def audit_subject(found: Audit) -> str:
    """Kernel, processor and emulator that were audited."""
    return ", ".join(part for part in (found.kernel, found.processor, found.qemu) if part)


def agreement_table(found: Audit) -> Table:
    """What of each measure is equal, beside the limit."""
    return table(
        "Agreement",
        [
            Column("Agreement", value=lambda share: WHAT[share.measure], style="cyan"),
            Column("", "picture", _meter, style="blue", wide=120),
            Column("Equal", "count", "equal"),
            Column("Of", "count", "of"),
            Column("Share", "share", "share", style="bold", write=share_percent),
            Column("At least", "share", lambda share: LIMITS[share.measure], write=lambda share: f"{share * 100:g} %"),
            Column("", value=lambda share: "" if share.reached else "below"),
        ],
        found.agreement.shares.values(),
    )


def _meter(share: AgreedShare) -> Meter:
    return Meter(share.share, LIMITS[share.measure], LOWEST, 16)


def exceptions_tables(found: Audit, limit: int | None = None) -> Iterator[Table]:
    """The exceptions of each measure that has any.

    :param limit: how many of each; all when not given.
    """
    for measure in LIMITS:
        pairs = [pair for pair in found.causes if pair[0].measure is measure]
        more = 0 if limit is None else len(pairs) - limit
        if not pairs or limit == 0:
            continue
        first = f"Exceptions: {measure.value}"
        yield table(
            measure.value,
            [
                Column(first, value=lambda pair: pair[0].what, style="cyan"),
                Column("Recorded", "count", lambda pair: pair[0].recorded),
                Column("Observed", "count", lambda pair: pair[0].observed),
                Column("Cause", value=_cause, wide=90),
            ],
            pairs[:limit],
            left_out={first: f"({more:,} more)"} if more > 0 else None,
        )


def _cause(pair: tuple[Any, str | None]) -> str:
    return pair[1] or "not known"


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


def audit_data(found: Audit, limit: int | None) -> dict[str, Any]:
    """An audit as data; counts are instructions, entries or calls."""
    exceptions = [
        {"measure": each.measure, "what": each.what, "recorded": each.recorded, "observed": each.observed,
         "cause": cause}
        for measure in LIMITS
        for each, cause in [pair for pair in found.causes if pair[0].measure is measure][:limit]
    ]  # fmt: skip
    return {
        "reached": found.agreement.reached,
        "kernel": found.kernel,
        "processor": found.processor,
        "qemu": found.qemu,
        "instructions": {"recorded": found.recorded.instructions, "observed": found.observation.tables.instructions},
        "shares": {
            measure: {"equal": share.equal, "of": share.of, "share": share.share, "limit": LIMITS[measure],
                      "reached": share.reached}
            for measure, share in found.agreement.shares.items()
        },
        "checks": found.observation.evidence.checks,
        "happened": found.observation.evidence.happened,
        "exceptions": exceptions,
        "unexplained": sum(cause is None for _, cause in found.causes),
    }  # fmt: skip

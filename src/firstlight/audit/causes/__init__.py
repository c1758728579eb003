"""Why two observers disagree, where the evidence shows it.

A cause is stated only where figures bear it out: an exception that no rule accounts for to the instruction, or within a
bound that the rule states, has no cause.
"""

from __future__ import annotations

from firstlight.audit.agreement import Agreement, AuditDifference, Measure
from firstlight.audit.causes.charges import self_causes
from firstlight.audit.causes.roots import edge_causes, moved_calls, total_causes
from firstlight.audit.tables import AuditEvidence, Tables
from firstlight.schema.spans import CallRow


def with_causes(
    agreement: Agreement, evidence: AuditEvidence, recorded: Tables, observed: Tables
) -> list[tuple[AuditDifference, str | None]]:
    """Every exception with its cause, in the order of the agreement; none where the cause is not known.

    :param recorded: the recorder's tables, which were compared.
    :param observed: the second observer's.

    >>> from firstlight.audit.agreement import agreement
    >>> from firstlight.audit.tables import AuditFigures
    >>> one = Tables(9, {"f": AuditFigures(1, 4, 9), "g": AuditFigures(1, 5, 5)})
    >>> other = Tables(9, {"f": AuditFigures(1, 6, 9), "g": AuditFigures(1, 3, 5)})
    >>> found = with_causes(agreement(one, other), AuditEvidence(elsewhere={("g", "f"): 2}), one, other)
    >>> [cause for _, cause in found]
    ['`g` jumped into its middle: 2 instructions', 'it jumped into the middle of `f`: 2 instructions']
    """
    moved = moved_calls(recorded, observed, evidence)
    selves = self_causes(recorded, observed, evidence)
    known = {
        Measure.SELF: selves,
        Measure.EDGES: edge_causes(moved, recorded, observed, evidence),
        Measure.TOTALS: total_causes(moved, selves, recorded, observed, evidence),
    }
    return [
        (each, known.get(each.measure, {}).get(each.what) or _other(each, evidence)) for each in agreement.exceptions
    ]


def _other(each: AuditDifference, evidence: AuditEvidence) -> str | None:
    if CallRow.KERNEL_WITHOUT_SYMBOL in each.what:
        return "code without a symbol: where its functions begin is not known"
    if each.what.endswith("]") and " [" in each.what:
        return "code of a module: the oracle names it by what stood at its address when the boot was over"
    if each.measure is Measure.COUNTS:
        again = evidence.again.get(each.what, 0)
        if again and again == abs(each.difference):
            return f"its first instruction ran {again:,} times more, as a loop or after a fault"
        if each.what in evidence.layout.entry_section and not each.observed:
            return "a label of the entry section to the oracle: its instructions belong to what ran into it"
    return None

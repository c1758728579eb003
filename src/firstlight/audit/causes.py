"""Why two observers disagree, where the evidence tells."""

from __future__ import annotations

from firstlight.audit.agreement import Agreement, Difference, Measure
from firstlight.audit.tables import NAMELESS, Evidence

#: Where control goes on to another task's stack.
SWITCH = "__switch_to_asm"


def with_causes(agreement: Agreement, evidence: Evidence) -> list[tuple[Difference, str | None]]:
    """Every exception with its cause, in the order of the agreement; none where the cause is not known.

    >>> from firstlight.audit.agreement import agreement
    >>> from firstlight.audit.tables import Figures, Tables
    >>> one = Tables(9, {"f": Figures(1, 4, 9), "g": Figures(1, 5, 5)})
    >>> other = Tables(9, {"f": Figures(1, 6, 9), "g": Figures(1, 3, 5)})
    >>> [cause for _, cause in with_causes(agreement(one, other), Evidence(elsewhere={("g", "f"): 2}))]
    ['`g` jumped into its middle: 2 instructions', 'it jumped into the middle of `f`: 2 instructions']
    """
    return [(each, _cause(each, evidence)) for each in agreement.exceptions]


def _cause(each: Difference, evidence: Evidence) -> str | None:
    if NAMELESS in each.what:
        return "code without a symbol: where its functions begin is not known"
    if each.what.endswith("]") and " [" in each.what:
        return "code of a module: the oracle names it by what stood at its address when the boot was over"
    if each.measure is Measure.EDGES or each.measure is Measure.INITCALLS:
        return None
    if SWITCH in each.what:
        return "the observers change tasks at different instructions of the switch"
    if each.measure is Measure.COUNTS:
        again = evidence.again.get(each.what, 0)
        return f"its first instruction ran {again:,} times more, as a loop or after a fault" if again else None
    if each.measure is Measure.SELF:
        return _moved(each, evidence)
    return None


def _moved(each: Difference, evidence: Evidence) -> str | None:
    inside = {on: count for (on, of), count in evidence.elsewhere.items() if of == each.what}
    outside = {of: count for (on, of), count in evidence.elsewhere.items() if on == each.what}
    if inside and sum(inside.values()) == -each.difference:
        return f"`{max(inside, key=inside.__getitem__)}` jumped into its middle: {sum(inside.values()):,} instructions"
    if outside and sum(outside.values()) == each.difference:
        most = max(outside, key=outside.__getitem__)
        return f"it jumped into the middle of `{most}`: {sum(outside.values()):,} instructions"
    return None

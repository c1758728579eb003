"""A difference in one line: how much, and what caused it."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.comparison.exact.causes import Cause
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.escape import printable
from firstlight.quantities import signed_share, signed_time, time_text

_PRESENCE = {"only_a": "gone, ", "only_b": "new, ", "both": ""}

#: How a change is divided, with what is said before each division but the first.
_DIVISIONS = {"": ("wait", "program"), "by task: ": ("task",), "by function: ": ("function",)}


def headline(difference: ExactDifference) -> str:
    """What changed and what caused it, in one line.

    >>> import firstlight
    >>> from firstlight.comparison.exact.difference import exact_difference
    >>> boot = firstlight.open(bundle)
    >>> headline(exact_difference(boot, boot))
    'B is equal to A'
    """
    change, whole = difference.whole.change_ns, difference.whole.a
    if difference.is_equal:
        return "B is equal to A"
    part = signed_share(change, None if whole is None else whole.ns).lstrip("+-")
    how = (
        "as fast as A"
        if change == 0
        else f"{'slower' if change > 0 else 'faster'} by {time_text(abs(change))} ({part})"
    )
    ledger = difference.ledger
    if ledger is None:
        return f"B is {how}"
    causes = _causes_text(difference.causes)
    if not causes and ledger.gross_caused_ns:
        least = time_text(ledger.gross_caused_ns)
        return f"B is {how}; only {least} is caused: every other change is within the noise band or moved"
    if not causes:
        return f"B is {how}; nothing is caused: every change is within the noise band or moved"
    caused = ledger.total.caused_ns
    if difference.may_be_accident:
        return f"B is {how}; an accident or caused by {causes}: no noise band is of this series of kernels"
    if caused * change < 0:
        rest = "the rest moved or is within the noise band"
        return f"B is {how}; {signed_time(caused)} is caused by {causes}; {rest}"
    return f"B is {how}; caused by {causes}"


def _causes_text(causes: Sequence[Cause]) -> str:
    """Causes as people read them: first by program; by task and by function is the same change again."""
    parts: list[str] = []
    for label, kinds in _DIVISIONS.items():
        text = ", ".join(_text(cause) for cause in causes if cause.kind in kinds)
        if text:
            parts.append(f"{label}{text}" if parts else text)
    return "; ".join(parts)


def _text(cause: Cause) -> str:
    """A cause as people read it."""
    waits = "" if cause.waits_for is None else f"waits for {printable(cause.waits_for, 60)}, "
    names = " > ".join(printable(name, 60) for name in cause.names)
    return f"{names} ({_PRESENCE[cause.presence]}{waits}{signed_time(cause.caused_ns)})"

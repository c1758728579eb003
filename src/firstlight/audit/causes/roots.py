"""Why calls hang from nobody, and totals differ: stacks on which the second observer begins anew.

A new task begins in the second half of the switch; before the kernel is mapped its stack lies at another address. There
the oracle has no frame on top, and what follows is called by nobody. The recorder goes on at the caller.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

from firstlight.audit.causes.charges import padded
from firstlight.audit.tables import AuditEvidence, AuditFigures, Tables
from firstlight.schema.spans import CallRow

_NOTHING = AuditFigures()
_PART = 0.1
"""Totals of some of a function's calls are estimated from all of its calls, to this share."""
_WHOLE = 0.001


class Kind(StrEnum):
    """Why the oracle began anew."""

    NEW_TASK = "new task"
    START = "start"


@dataclass(frozen=True)
class Moved:
    """Calls of one function that the recorder has at a caller, and the oracle at nobody."""

    caller: str
    callee: str
    calls: int
    kind: Kind

    @property
    def cause(self) -> str:
        """In words."""
        if self.kind is Kind.NEW_TASK:
            return (
                f"{self.calls:,} new tasks begin in the middle of `{self.caller}`: "
                f"there the oracle has no caller of `{self.callee}`"
            )
        return f"the stack of `{self.caller}` is at another address before the kernel is mapped: the oracle begins anew"


def moved_calls(recorded: Tables, observed: Tables, evidence: AuditEvidence) -> list[Moved]:
    """Calls that hang from nobody to the oracle, exactly as many as the recorder has more of at callers.

    Those of new tasks are as many as the recorder has heads of tasks, and their caller is entered once for each switch
    of tasks. Those of the start hang from functions that ran once, on the first stack, which the oracle left there.

    >>> one = Tables(9, edges={("[boot]", "ret_from_fork"): 2, ("switch", "next"): 5})
    >>> other = Tables(9, edges={("[boot]", "next"): 2, ("switch", "next"): 3}, functions={"switch": AuditFigures(5)})
    >>> [(each.caller, each.calls) for each in moved_calls(one, other, AuditEvidence(happened={"switches": 5}))]
    [('switch', 2)]
    """
    lacking: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for (caller, callee), count in sorted(recorded.edges.items()):
        more = count - observed.edges.get((caller, callee), 0)
        if more > 0 and caller != CallRow.BOOT:
            lacking[callee].append((caller, more))
    heads = {
        count
        for (caller, callee), count in recorded.edges.items()
        if caller == CallRow.BOOT and count > 1 and callee not in evidence.layout.entries
    }
    first = _first_stack(recorded, observed)
    found = []
    for callee, callers in lacking.items():
        calls = observed.edges.get((CallRow.BOOT, callee), 0) - recorded.edges.get((CallRow.BOOT, callee), 0)
        if calls != sum(more for _, more in callers) or len(callers) != 1:
            continue
        caller = callers[0][0]
        switches = evidence.happened.get("switches", 0)
        if switches and observed.functions.get(caller, _NOTHING).entries == switches and calls in heads:
            found.append(Moved(caller, callee, calls, Kind.NEW_TASK))
        elif calls == 1 and caller in first:
            found.append(Moved(caller, callee, calls, Kind.START))
    return found


def _first_stack(recorded: Tables, observed: Tables) -> set[str]:
    """The functions on the first stack, if the oracle left it: those that ran once below the one that began."""
    once = {name for name, figures in recorded.functions.items() if figures.entries == 1}
    began = [callee for caller, callee in recorded.edges if caller == CallRow.BOOT and callee in once]
    if not began:
        return set()
    root = max(began, key=lambda name: recorded.functions[name].total_instructions)
    if 2 * observed.functions.get(root, _NOTHING).total_instructions > recorded.functions[root].total_instructions:
        return set()
    found, new = {root}, {root}
    while new:
        new = {callee for caller, callee in observed.edges if caller in new and callee in once} - found
        found |= new
    return found


def edge_causes(moved: list[Moved], recorded: Tables, observed: Tables, evidence: AuditEvidence) -> dict[str, str]:
    """The causes of differences of edges, by edge."""
    causes = {}
    for each in moved:
        causes[f"{each.caller} > {each.callee}"] = causes[f"{CallRow.BOOT} > {each.callee}"] = each.cause
    for caller, callee in recorded.edges:
        other = observed.functions.get(callee, _NOTHING)
        if callee in evidence.layout.entry_section and not other.entries and not other.self_instructions:
            causes[f"{caller} > {callee}"] = "a label of the entry section to the oracle, a function to the recorder"
    return causes


def total_causes(
    moved: list[Moved], selves: dict[str, str], recorded: Tables, observed: Tables, evidence: AuditEvidence
) -> dict[str, str]:
    """The causes of differences of totals, by function.

    :param selves: the causes of differences of self: where a total differs by just that, it has the same.
    """
    causes = {}
    pads = {behind: (front, count) for front, behind, count in padded(recorded, evidence)}
    for name in recorded.functions.keys() & observed.functions.keys():
        one, other = recorded.functions[name], observed.functions[name]
        apart = one.total_instructions - other.total_instructions
        below = [each for each in moved if each.caller == name]
        if apart and below and _is_moved(apart, below, observed, evidence):
            causes[name] = "; ".join(dict.fromkeys(each.cause for each in below))
        elif apart and name in selves and apart == one.self_instructions - other.self_instructions:
            causes[name] = selves[name]
        elif name in pads and abs(apart - pads[name][1]) <= _WHOLE * apart:
            causes[name] = f"padding without a symbol between `{pads[name][0]}` and it: {pads[name][1]:,} instructions"
        elif apart and _is_of_switches(name, -apart, moved, recorded, observed):
            each = -apart // other.entries
            causes[name] = (
                f"the observers change tasks at different instructions of the switch: {each} for each of "
                f"{other.entries:,} last switches of tasks"
            )
    return causes


def _is_moved(apart: int, below: list[Moved], observed: Tables, evidence: AuditEvidence) -> bool:
    """Whether a total differs by what hangs from nobody to the oracle."""
    caller = below[0].caller
    alone = evidence.elsewhere.get((CallRow.BOOT, caller), 0)
    expected, doubt = 0.0, _WHOLE * apart
    for each in below:
        callee = observed.functions[each.callee]
        share = each.calls * callee.total_instructions / max(callee.entries, 1)
        expected += share
        doubt += 0 if each.calls == callee.entries else _PART * share
    return abs(apart - alone - expected) <= doubt


def _is_of_switches(name: str, less: int, moved: list[Moved], recorded: Tables, observed: Tables) -> bool:
    """Whether a function that ends in a switch of tasks lacks the same few instructions for each of its calls.

    The callers of the switch lack as many for each new task: one cause, measured twice.
    """
    switch = next((each for each in moved if each.kind is Kind.NEW_TASK), None)
    calls = observed.functions[name].entries
    if switch is None or less <= 0 or not calls or less % calls:
        return False
    callers = [caller for caller, callee in observed.edges if callee == switch.caller]
    lacking = sum(
        observed.functions[caller].total_instructions - recorded.functions.get(caller, _NOTHING).total_instructions
        for caller in callers
        if caller in observed.functions
    )
    above = sum(observed.edges.get((name, caller), 0) for caller in callers)
    return above == calls and lacking == less // calls * switch.calls

"""Why instructions stand at another function: transfers that the evidence counts.

All rules but one account for a difference to the instruction. Interrupts are the exception: nobody counts which
function each interrupted, so their sum is checked in place of each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from firstlight.audit.tables import AuditEvidence, AuditFigures, Tables
from firstlight.schema.spans import CallRow

_NOTHING = AuditFigures()
_STEPS = 2
"""So many calls may lie between a function that returned and the one it returned to: one may have been a jump."""


@dataclass(frozen=True)
class Charge:
    """A part of a function's difference of self that has a cause."""

    function: str
    instructions: int
    """Recorded less observed."""
    cause: str


def self_causes(recorded: Tables, observed: Tables, evidence: AuditEvidence) -> dict[str, str]:
    """The causes of differences of self, by function; a function whose difference is not accounted for has none.

    >>> from firstlight.audit.layout import Layout
    >>> one = Tables(6, {"f": AuditFigures(1, 4, 6), "asm_exc": AuditFigures(2, 2, 2)}, {("f", "asm_exc"): 2})
    >>> other = Tables(6, {"f": AuditFigures(1, 6, 6), "asm_exc": AuditFigures(2, 0, 2)}, {("f", "asm_exc"): 2})
    >>> self_causes(one, other, AuditEvidence(layout=Layout(entries=frozenset({"asm_exc"}))))["f"]
    '2 instructions that faulted are charged to `asm_exc`'
    """
    rest = Counter(_differences(recorded, observed))
    causes: defaultdict[str, list[str]] = defaultdict(list)

    def take(charges: list[Charge]) -> None:
        for charge in charges:
            rest[charge.function] -= charge.instructions
            causes[charge.function].append(charge.cause)

    pads = padding(dict(rest), recorded, evidence)
    take(pads)
    take(middles(dict(rest), pads, recorded, evidence))
    take(labels(dict(rest), recorded, observed, evidence))
    take(faults(dict(rest), observed, evidence))
    take(run_into(dict(rest), observed, evidence))
    take(lost_returns(dict(rest), observed, evidence))
    # What is between a function and its caller may hide what interrupts took from either, so none is stated then.
    doubtful = {name for pair in pairs(dict(rest), observed) for name in pair[:2]}
    if not doubtful:
        take(interrupts(dict(rest), recorded, observed, evidence))
    return {
        name: "; ".join(dict.fromkeys(texts))
        for name, texts in causes.items()
        if not rest[name] and name not in doubtful
    }


def _differences(recorded: Tables, observed: Tables) -> dict[str, int]:
    names = recorded.functions.keys() | observed.functions.keys()
    return {
        name: recorded.functions.get(name, _NOTHING).self_instructions
        - observed.functions.get(name, _NOTHING).self_instructions
        for name in sorted(names)
    }


def _taken(evidence: AuditEvidence) -> dict[str, list[tuple[str, int]]]:
    """For every function in whose middle others were: who, and for how many instructions."""
    by_place: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for (on, of), count in sorted(evidence.elsewhere.items()):
        if on != CallRow.BOOT:
            by_place[of].append((on, count))
    return dict(by_place)


def padding(rest: dict[str, int], recorded: Tables, evidence: AuditEvidence) -> list[Charge]:
    """Padding in front of a function that no symbol names: by address it is the end of the function in front.

    The recorder charges it to the function that is called: one that the visitor called, and that lies behind.
    """
    found: list[Charge] = []
    for chain in _chains(padded(recorded, evidence)):
        charges = []
        for front, behind, count in chain:
            text = f"padding without a symbol between `{front}` and `{behind}`: {_so_many(count)}"
            charges += [Charge(front, -count, text), Charge(behind, count, text)]
        left = Counter({charge.function: rest.get(charge.function, 0) for charge in charges})
        before = sum(map(abs, left.values()))
        for charge in charges:
            left[charge.function] -= charge.instructions
        if 2 * sum(map(abs, left.values())) < before:
            found += charges
    return found


def _chains(pads: list[tuple[str, str, int]]) -> list[list[tuple[str, str, int]]]:
    """Paddings of neighbours belong together: a function's own, and the one that lies at its end."""
    by_front = {pad[0]: pad for pad in pads}
    chains = []
    for pad in pads:
        if pad[0] in {behind for _, behind, _ in pads}:
            continue
        chain = [pad]
        while (following := by_front.get(chain[-1][1])) is not None:
            chain.append(following)
        chains.append(chain)
    return chains


def padded(recorded: Tables, evidence: AuditEvidence) -> list[tuple[str, str, int]]:
    """Where control was in one function on the way to the one behind it: both, and for how many instructions."""
    found = []
    for front, visits in _taken(evidence).items():
        behind = evidence.layout.behind.get(front, "")
        count = sum(count for on, count in visits if (on, behind) in recorded.edges)
        if count:
            found.append((front, behind, count))
    return found


def middles(rest: dict[str, int], pads: list[Charge], recorded: Tables, evidence: AuditEvidence) -> list[Charge]:
    """Jumps into the middle of another function: by address the instructions are that one's."""
    found = []
    fronts = {charge.function for charge in pads if charge.instructions < 0}
    for of, visits in _taken(evidence).items():
        behind = evidence.layout.behind.get(of, "")
        jumps = [(on, count) for on, count in visits if of not in fronts or (on, behind) not in recorded.edges]
        if sum(count for _, count in jumps) > -rest.get(of, 0):
            continue  # the recorder charges them by address, too
        for on, count in jumps:
            found += [
                Charge(of, -count, f"`{on}` jumped into its middle: {_so_many(count)}"),
                Charge(on, count, f"it jumped into the middle of `{of}`: {_so_many(count)}"),
            ]
    return found


def labels(rest: dict[str, int], recorded: Tables, observed: Tables, evidence: AuditEvidence) -> list[Charge]:
    """Functions of the entry section that the oracle takes for labels: their instructions are their only caller's."""
    found = []
    for name in sorted(evidence.layout.entry_section & recorded.functions.keys()):
        figures, other = recorded.functions[name], observed.functions.get(name, _NOTHING)
        callers = [caller for caller, callee in recorded.edges if callee == name]
        if other.entries or other.self_instructions or not figures.entries or len(callers) != 1:
            continue
        count = figures.self_instructions
        if count and rest.get(callers[0]) == -count == -rest.get(name, 0):
            found += [
                Charge(name, count, "a label of the entry section to the oracle, a function to the recorder"),
                Charge(callers[0], -count, f"`{name}` is a label of the entry section to the oracle"),
            ]
    return found


def faults(rest: dict[str, int], observed: Tables, evidence: AuditEvidence) -> list[Charge]:
    """An instruction that faults is done again: the recorder charges the first time to the entry of the fault.

    That holds for an entry when the entry has exactly one instruction more for each time the kernel raised it, and for
    each function that raised it when it has exactly so many less.
    """
    raised: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (by, entry), count in sorted(observed.edges.items()):
        if entry in evidence.layout.entries and by not in (CallRow.BOOT, entry):
            raised[entry][by] = count
    found = []
    for entry, callers in raised.items():
        count = sum(callers.values())
        if rest.get(entry) != count:
            continue
        found.append(Charge(entry, count, f"{_so_many(count)} of the kernel that faulted are charged to the entry"))
        found += [
            Charge(by, -times, f"{_so_many(times)} that faulted {'is' if times == 1 else 'are'} charged to `{entry}`")
            for by, times in callers.items()
        ]
    return found


def run_into(rest: dict[str, int], observed: Tables, evidence: AuditEvidence) -> list[Charge]:
    """Functions whose first instruction stands in the middle of a block: the recorder charges what is before it, too.

    One instruction for each time that the function in front ran into it, in no more places than the oracle saw.
    """
    found: list[Charge] = []
    for front, behind in sorted(evidence.layout.behind.items()):
        count = observed.edges.get((front, behind), 0)
        if count and rest.get(behind) == count == -rest.get(front, 0):
            text = f"`{front}` runs into `{behind}` in the middle of a block: {_so_many(count)}"
            found += [Charge(front, -count, text), Charge(behind, count, text)]
    return found if len(found) <= 2 * evidence.checks.get("starts_inside", 0) else []


def lost_returns(rest: dict[str, int], observed: Tables, evidence: AuditEvidence) -> list[Charge]:
    """Returns that were never executed, because an interrupt's end finished them: the recorder goes on in the callee.

    The recorder counts them and names the functions. No more pairs have this cause than it counted, and no more
    instructions than a call of the caller has on average.
    """
    found: list[Charge] = []
    found_pairs = pairs(rest, observed)
    by_gaining = Counter(gains for gains, _, _ in found_pairs)
    for gains, loses, count in found_pairs:
        caller = observed.functions[loses]
        within = count * max(caller.entries, 1) <= caller.self_instructions
        alone = by_gaining[gains] == 1
        if alone and gains in evidence.lost_in and within and len(found) < 2 * evidence.lost_returns:
            text = f"an interrupt's end finished a return of `{gains}` to `{loses}`: {_so_many(count)}"
            found += [Charge(gains, count, text), Charge(loses, -count, text)]
    return found


def pairs(rest: dict[str, int], observed: Tables) -> list[tuple[str, str, int]]:
    """What one function has too much and a caller of it too little: both, and how many instructions.

    >>> figures = {"f": AuditFigures(1, 9, 12), "g": AuditFigures(1, 3, 3)}
    >>> pairs({"f": -2, "g": 2}, Tables(12, figures, {("f", "g"): 1}))
    [('g', 'f', 2)]

    Where several callers lack it each is a pair: it is unknown which is the one.
    """
    callers: defaultdict[str, list[str]] = defaultdict(list)
    for caller, callee in sorted(observed.edges):
        callers[callee].append(caller)
    found = []
    lacking = {name: count for name, count in rest.items() if count < 0 and name in observed.functions}
    for gains, count in rest.items():
        if count <= 0:
            continue
        near = set(callers[gains])
        for _ in range(_STEPS - 1):
            near |= {above for name in near for above in callers[name]}
        fitting = sorted(name for name in near & lacking.keys() if lacking[name] == -count)
        found += [(gains, loses, count) for loses in fitting]
    return found


def interrupts(rest: dict[str, int], recorded: Tables, observed: Tables, evidence: AuditEvidence) -> list[Charge]:
    """One instruction for each interrupt through a stub is the interrupted function's, and is charged to the entry.

    That holds for an entry which nothing but interrupts entered, when it has exactly one instruction more for each.
    What the interrupted functions lack together, user mode with them, has to be exactly that sum and what the
    recorder counted less of all; else it is unknown which were interrupted, and none has a cause.
    """
    entries = {
        name: figures.entries
        for name, figures in observed.functions.items()
        if name in evidence.layout.entries
        and figures.entries
        and observed.edges.get((CallRow.BOOT, name), 0) == figures.entries == rest.get(name)
    }
    count = sum(entries.values())
    lacking = {name: less for name, less in rest.items() if less < 0}
    in_user = recorded.user_instructions - observed.user_instructions
    apart = observed.instructions - evidence.uncounted - recorded.instructions
    if not count or -sum(lacking.values()) != count + in_user + apart:
        return []
    names = ", ".join(f"`{name}`" for name in sorted(entries))
    found = [
        Charge(name, times, f"one instruction of what was interrupted at each of {times:,} interrupts")
        for name, times in entries.items()
    ]
    for name, less in lacking.items():
        found.append(
            Charge(name, less, f"{_so_many(-less)} at interrupts {'is' if less == -1 else 'are'} charged to {names}")
        )
    return found


def _so_many(count: int) -> str:
    return "1 instruction" if count == 1 else f"{count:,} instructions"

"""How much of each known cost of the emulated machine a boot has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.ledger.entries import Entry, Ledger, Owner, ledger
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.recipe.mode import RecordMode

_Assigned = tuple[list[int], list[tuple[int, int]]]
"""The place in the ledger that each node belongs to (-1: none), and the nodes where that begins."""

#: A function is marked when more than this part of its self belongs to one cost.
_MOST = 0.5


@dataclass(frozen=True)
class Cost:
    """One cost of the ledger, as one boot has it."""

    entry: Entry
    calls: int
    """Entries into the outermost contexts that the entry recognises."""
    ns: int
    """Virtual time of these contexts and all below them, without what belongs to another entry."""
    instructions: int


@dataclass(frozen=True)
class MachineCosts:
    """What the emulated machine adds to a boot. Every context counts for one cost at most."""

    whole_ns: int
    """Virtual time of the boot."""
    machine: tuple[Cost, ...]
    """The machine's own, the largest first."""
    kernel: tuple[Cost, ...]
    """What is often taken for the machine's and is the kernel's own."""
    marks: dict[str, str]
    """Functions, as the tree names them, most of whose self is one of the machine's own costs; with its id."""

    @property
    def ns(self) -> int:
        """The sum of the machine's own costs: never more than the boot."""
        return sum(cost.ns for cost in self.machine)

    @property
    def instructions(self) -> int:
        """The same in instructions."""
        return sum(cost.instructions for cost in self.machine)


def machine_costs(boot: Boot) -> MachineCosts | None:
    """What the emulated machine adds to a boot, by the ledger of its architecture.

    The walk goes from the root of the calling-context tree. A context that an entry recognises belongs to it with all
    that it calls. An entry below one of the machine's own counts nothing more; one of the machine's own below one of
    the kernel's takes its part from that one. So the costs are disjoint, and their sum is at most the boot.

    :returns: nothing for a boot that was not recorded exactly or has no profile: then nothing is known of its machine.

    >>> import firstlight
    >>> costs = machine_costs(firstlight.open(bundle))
    >>> costs.machine[0].entry.id, costs.ns <= costs.whole_ns
    ('apic-timer-calibration', True)
    """
    if boot.manifest.mode != RecordMode.EXACT or boot.calls().is_empty():
        return None
    known = _ledger_of(boot)
    return _costs(boot.calls(), known, _assigned_in(boot))


def _ledger_of(boot: Boot) -> Ledger:
    """The ledger of a boot's machine. Firmware that the user chose is not a cost of the machine."""
    known = ledger(boot.manifest.recipe_text("architecture") or "")
    if "loader" not in boot.manifest.digests:
        return known
    return Ledger(entries=tuple(entry for entry in known.entries if "firmware" not in entry.kinds))


def machine_nodes(boot: Boot) -> dict[int, str]:
    """The contexts of the tree that are the emulated machine's own, each with the id of its cost.

    >>> import firstlight
    >>> "apic-timer-calibration" in machine_nodes(firstlight.open(bundle)).values()
    True
    """
    calls = boot.calls()
    if boot.manifest.mode != RecordMode.EXACT or calls.is_empty():
        return {}
    entries = _ledger_of(boot).entries
    belongs, _ = _assigned_in(boot)
    return {
        node: entries[number].id
        for node, number in enumerate(belongs)
        if number >= 0 and entries[number].owner is Owner.MACHINE
    }


def costs_of(calls: pl.DataFrame, known: Ledger) -> MachineCosts:
    """The same for any calling-context tree and any ledger.

    :param calls: the table `calls` of a bundle, in order of the nodes.
    """
    return _costs(calls, known, _assigned(calls, known))


def _costs(calls: pl.DataFrame, known: Ledger, assigned: _Assigned) -> MachineCosts:
    functions: list[str] = calls["function"].to_list()
    entered: list[int] = calls["calls"].to_list()
    own_ns: list[int] = calls["self_ns"].fill_null(0).to_list()
    own: list[int] = calls["self_instructions"].fill_null(0).to_list()
    belongs, outermost = assigned
    ns: dict[int, int] = defaultdict(int)
    instructions: dict[int, int] = defaultdict(int)
    count: dict[int, int] = defaultdict(int)
    by_function: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for node, number in enumerate(belongs):
        by_function[functions[node]][number] += own_ns[node]
        if number >= 0:
            ns[number] += own_ns[node]
            instructions[number] += own[node]
    for node, number in outermost:
        count[number] += entered[node]
    costs = [
        Cost(entry, count[number], ns[number], instructions[number])
        for number, entry in enumerate(known.entries)
        if ns[number]
    ]
    costs.sort(key=lambda cost: (-cost.ns, cost.entry.id))
    marks = {}
    for function, parts in by_function.items():
        number = max(parts, key=lambda number: parts[number])
        if number >= 0 and known.entries[number].owner is Owner.MACHINE and parts[number] > _MOST * sum(parts.values()):
            marks[function] = known.entries[number].id
    return MachineCosts(
        whole_ns=sum(own_ns),
        machine=tuple(cost for cost in costs if cost.entry.owner is Owner.MACHINE),
        kernel=tuple(cost for cost in costs if cost.entry.owner is Owner.KERNEL),
        marks=marks,
    )


@once
def _assigned_in(boot: Boot) -> _Assigned:
    """The assignment of the tree of a boot, to the ledger of its machine."""
    return _assigned(boot.calls(), _ledger_of(boot))


def plain_name(function: str) -> str:
    """A function's name without what the compiler put behind it.

    >>> plain_name("extract_entropy.constprop.0"), plain_name("hpet_alloc.cold")
    ('extract_entropy', 'hpet_alloc')
    """
    return function.partition(".")[0] or function


def _assigned(calls: pl.DataFrame, known: Ledger) -> _Assigned:
    functions: list[str] = calls["function"].to_list()
    kinds: list[str] = calls["kind"].to_list()
    parents: list[int | None] = calls["parent"].to_list()
    entries = known.entries
    names = {function: plain_name(function) for function in set(functions)}
    by_function: dict[str, list[int]] = defaultdict(list)
    by_kind: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        for function in entry.functions:
            by_function[function].append(number)
        for kind in entry.kinds:
            by_kind[kind].append(number)
    callees = _callees(names, functions, parents, {entry.callee for entry in entries if entry.callee})
    machine = [entry.owner is Owner.MACHINE for entry in entries]
    belongs: list[int] = []
    outermost: list[tuple[int, int]] = []
    for node, function in enumerate(functions):
        parent = parents[node]
        above = -1 if parent is None else belongs[parent]
        belongs.append(above)
        if above >= 0 and machine[above]:
            continue
        for number in (*by_function.get(names[function], ()), *by_kind.get(kinds[node], ())):
            entry = entries[number]
            if above >= 0 and not machine[number]:
                continue
            if entry.callee is not None and entry.callee not in callees.get(node, ()):
                continue
            if entry.outside and _is_below(node, entry.outside, names, functions, parents):
                continue
            belongs[node] = number
            outermost.append((node, number))
            break
    return belongs, outermost


def _callees(
    names: dict[str, str], functions: Sequence[str], parents: Sequence[int | None], wanted: set[str]
) -> dict[int, set[str]]:
    """Of each node which of the wanted functions it calls directly."""
    found: dict[int, set[str]] = defaultdict(set)
    for function, parent in zip(functions, parents, strict=True):
        if parent is not None and names[function] in wanted:
            found[parent].add(names[function])
    return found


def _is_below(
    node: int,
    callers: Sequence[str],
    names: dict[str, str],
    functions: Sequence[str],
    parents: Sequence[int | None],
) -> bool:
    """Whether one of these functions is a caller of the node."""
    above = parents[node]
    while above is not None:
        if names[functions[above]] in callers:
            return True
        above = parents[above]
    return False

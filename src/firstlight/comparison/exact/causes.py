"""What a caused change is of: the functions, tasks and programs that most of it goes through."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from firstlight.analysis.path.processor import Processor
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.functions import key_of_function
from firstlight.comparison.exact.ledger import Ledger
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.owners import INITCALL_CALLER, WRAPPERS
from firstlight.comparison.exact.parts import Parts, added
from firstlight.comparison.exact.rows import Key, Presence
from firstlight.comparison.exact.tree import TreeDifference
from firstlight.comparison.exact.waits import Waits
from firstlight.comparison.sides.stable_names import stable_name
from firstlight.schema.spans import CallKind, CallRow

#: Less than this is no cause to name: the kernel reads a parameter in less, whatever the parameter does.
LEAST_NS = 1_000
#: A function is named where at least this share of all caused changes goes through it.
_MOST = 0.6
#: Where no function has most of them: the least shares of owners and of functions by self that are named.
_LEAST_OWNER, _LEAST_SELF = 0.1, 0.08
_NAMED = 2
#: A program is named beside others from this share of the caused change on.
_LEAST_PROGRAM = 0.2
#: Of a chain of callers so many are named: the outermost and the innermost.
_CHAIN = 4
_UNNAMED = WRAPPERS | {INITCALL_CALLER, CallRow.BOOT, CallRow.USER, CallRow.INTERRUPTS}


#: A program that waits while nothing runs; one that runs; an initcall, a task of the kernel, a system call or an
#: interrupt; functions. The same change is divided by programs, by tasks and by functions.
CauseKind = Literal["wait", "program", "task", "function"]


@dataclass(frozen=True)
class Cause:
    """What most of a caused change is of."""

    names: tuple[str, ...]
    """A program, where it waits after its service; or functions, from the caller to the callee that does the work."""
    caused_ns: int
    presence: Presence = "both"
    """Of a program, in which of the boots it ran."""
    waits_for: str | None = None
    """Of a program that waits, what for; none where it is not recorded."""
    kind: CauseKind = "function"


def causes_of(
    a: Boot,
    b: Boot,
    tree: TreeDifference,
    ledger: Ledger,
    known: Sequence[Cause] | None = None,
    waits: Waits | None = None,
) -> list[Cause]:
    """What the caused change of two boots is of, the largest first; nothing below :data:`LEAST_NS`.

    First come programs that waited while nothing ran, and those whose processes ran longer or shorter. The functions
    follow that most of the caused changes go through; without any, the initcalls, tasks and functions with the largest
    changes.

    :param known: the programs with what they caused, where processes of both boots were followed.
    :param waits: who waited; by default it is read from the boots where it matters.
    """
    gross = ledger.gross_caused_ns
    if gross < LEAST_NS:
        return []
    caused = ledger.total.caused_ns
    idle = [node for node, kind in enumerate(tree.nodes["kind"].to_list()) if kind == CallKind.IDLE]
    waited = added(ledger.paths.get(node, Parts()) for node in idle).caused_ns
    found = []
    if abs(waited) >= _MOST * gross or (waited * caused > 0 and abs(waited) >= _LEAST_PROGRAM * abs(caused)):
        found += _waiting(waits or Waits(a, b), waited)
    programs = _programs(a, b, caused) if known is None else _in_direction(known, caused)
    large = [each for each in programs if abs(each.caused_ns) >= _LEAST_PROGRAM * abs(caused)]
    waiting = {each.names[-1] for each in found}
    functions = (
        [chain] if (chain := _chain(tree, ledger, gross)) is not None else _largest(ledger, _keys(tree, ledger), gross)
    )
    if found:
        # Who waited is named; that the processor idled says no more.
        functions = [each for each in functions if each.names != (CallRow.IDLE,)]
    return [*found, *(each for each in large[:_NAMED] if each.names[-1] not in waiting), *functions]


def _waiting(waits: Waits, waited_ns: int) -> list[Cause]:
    """The programs that most of the caused idle time was waited by, the longest first."""
    sums = {who: ns for who, ns in waits.changes.items() if ns * waited_ns > 0}
    found = []
    left = abs(waited_ns)
    for who, ns in sorted(sums.items(), key=lambda each: (-abs(each[1]), each[0].names))[:_NAMED]:
        own = min(abs(ns), left)
        if own >= _LEAST_PROGRAM * abs(waited_ns):
            found.append(Cause(who.names, own if waited_ns > 0 else -own, waits_for=waits.reason_of(who), kind="wait"))
        left -= own
    return found


def _chain(tree: TreeDifference, ledger: Ledger, gross: int) -> Cause | None:
    """The functions that most of the caused changes go through, from the outside to the inside."""
    nodes = tree.nodes
    parents: Sequence[int | None] = nodes["parent"].to_list()
    names = [stable_name(function) for function in nodes["function"].to_list()]
    below = [abs(ledger.paths[node].caused_ns) if node in ledger.paths else 0 for node in range(len(names))]
    net = [ledger.paths[node].caused_ns if node in ledger.paths else 0 for node in range(len(names))]
    for node in range(len(names) - 1, 0, -1):
        parent = parents[node]
        assert parent is not None
        below[parent] += below[node]
        net[parent] += net[node]
    through: dict[str, int] = {}
    for node, name in enumerate(names):
        through[name] = through.get(name, 0) + below[node]
    wanted = {name for name, ns in through.items() if ns >= _MOST * gross and name not in _UNNAMED}
    sizes, nets = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0)
    for node, name in enumerate(names):
        if name in wanted and not _is_within(node, name, names, parents):
            sizes[name] += below[node]
            nets[name] += net[node]
    own = {node: abs(parts.caused_ns) for node, parts in ledger.paths.items() if parts.caused_ns}
    chain = _call_order({name for name in wanted if sizes[name] >= _MOST * gross}, names, parents, own)
    if not chain:
        return None
    shown = chain if len(chain) <= _CHAIN else [*chain[: _CHAIN // 2], *chain[-_CHAIN // 2 :]]
    return Cause(tuple(shown), nets[chain[-1]])


def _call_order(
    wanted: Collection[str], names: Sequence[str], parents: Sequence[int | None], own: Mapping[int, int]
) -> tuple[str, ...]:
    """Some functions as they call one another: the order of the call path that explains the most work.

    A path explains the work of each other path whose functions it has in the same order.

    :param own: the work of the nodes by themselves.
    """
    orders: list[tuple[str, ...]] = []
    work: dict[tuple[str, ...], int] = {}
    # Parents come first.
    for node, (name, parent) in enumerate(zip(names, parents, strict=True)):
        above = () if parent is None else orders[parent]
        orders.append((*above, name) if name in wanted and name not in above else above)
        if orders[node] and node in own:
            work[orders[node]] = work.get(orders[node], 0) + own[node]
    explained = {
        order: (sum(ns for other, ns in work.items() if _is_part(other, order)), -len(order)) for order in work
    }
    return max(explained, key=lambda order: (*explained[order], order), default=())


def _is_part(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a sequence has all of another, in the same order."""
    rest = iter(other)
    return all(name in rest for name in one)


def _is_within(node: int, name: str, names: Sequence[str], parents: Sequence[int | None]) -> bool:
    above = parents[node]
    while above is not None:
        if names[above] == name:
            return True
        above = parents[above]
    return False


def _largest(ledger: Ledger, keys: Mapping[int, Key], gross: int) -> list[Cause]:
    """The initcalls, tasks and system calls with the largest caused changes, and the functions by self.

    :param keys: what the function of each node is matched by.
    """
    owners: dict[str, int] = {}
    functions: dict[str, int] = {}
    for node, parts in ledger.paths.items():
        functions[keys[node].name] = functions.get(keys[node].name, 0) + parts.caused_ns
        name = (ledger.owners.initcalls[node] or ledger.owners.entries[node]).name
        # What user mode did is named by its programs.
        if name != CallRow.USER:
            owners[name] = owners.get(name, 0) + parts.caused_ns
    found = [Cause((name,), ns, kind="task") for name, ns in _most(owners, _LEAST_OWNER * gross).items()]
    known = {each.names for each in found}
    found += [Cause((name,), ns) for name, ns in _most(functions, _LEAST_SELF * gross).items() if (name,) not in known]
    return found or [Cause((name,), ns) for name, ns in _most(functions, 1).items()][:1]


def _most(sums: Mapping[str, int], least: float) -> dict[str, int]:
    largest = sorted(sums.items(), key=lambda entry: (-abs(entry[1]), entry[0]))[:_NAMED]
    return {name: ns for name, ns in largest if abs(ns) >= least}


def _keys(tree: TreeDifference, ledger: Ledger) -> dict[int, Key]:
    """What the functions of the changed nodes are matched by."""
    functions, modules, kinds = (tree.nodes[name].to_list() for name in ("function", "module", "kind"))
    return {node: key_of_function(functions[node], modules[node], kinds[node]) for node in ledger.paths}


def programs_of(
    level: Level, parts: Mapping[Key, Parts], names: Mapping[Key, str], less: Mapping[Key, int]
) -> list[Cause]:
    """What each program of user mode caused.

    :param level: the processes.
    :param names: the program of each.
    :param less: what no program caused of a process, in nanoseconds.
    """
    caused: dict[str, int] = {}
    there: dict[str, set[Presence]] = {}
    for row in level.rows:
        if row.key in names:
            name = names[row.key]
            caused[name] = caused.get(name, 0) + parts[row.key].caused_ns - less.get(row.key, 0)
            there.setdefault(name, set()).add(row.presence)
    return [Cause((name,), ns, next(iter(there[name])) if len(there[name]) == 1 else "both", kind="program")
            for name, ns in caused.items()]  # fmt: skip


def _in_direction(causes: Iterable[Cause], caused_ns: int) -> list[Cause]:
    """Those in the direction of what is caused, the largest first."""
    signed = [each for each in causes if each.caused_ns * caused_ns > 0]
    return sorted(signed, key=lambda each: (-abs(each.caused_ns), each.names))


def _programs(a: Boot, b: Boot, caused_ns: int) -> list[Cause]:
    """The programs whose processes ran longer or shorter, in the direction of what is caused; the most first."""
    sides = []
    for boot in (a, b):
        limits = window(boot)
        ran = Processor(boot).who(limits.first_ns, limits.last_ns)
        sides.append({name: ns for (name, kind), ns in ran.items() if kind == "user"})
    one, other = sides
    changes = {name: other.get(name, 0) - one.get(name, 0) for name in one.keys() | other.keys()}
    return _in_direction((Cause((name,), ns, kind="program") for name, ns in changes.items()), caused_ns)

"""What is caused, what moved and what is an accident in each row of each level."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from firstlight.comparison.exact.ledger import Ledger
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.parts import Parts, added, added_by, apportion, over_rows
from firstlight.comparison.exact.rows import Key
from firstlight.comparison.exact.tree import TreeDifference
from firstlight.comparison.exact.userspace import IDLE, INTERRUPTS, Cells, Userspace
from firstlight.schema.spans import CallKind, SpanKind

#: The parts of every row of a level.
LevelParts = dict[Key, Parts]

#: What the kernel calls the function of a system call (`include/linux/syscalls.h`).
_CALL = re.compile(r"^__[a-z0-9]+_(?:compat_)?sys_(?:new)?")
_BEFORE = (CallKind.FIRMWARE, CallKind.DECOMPRESSOR, CallKind.UNKNOWN)
_KERNEL = ("kernel", "")
_FIRST_PROCESS = ("first", "1")
#: Functions that only one process ever runs, and what else has all its call paths below one node.
_BEGINS = {
    "start_kernel": ("first", "0"),
    "kernel_init": _FIRST_PROCESS,
    INTERRUPTS.name: ("interrupts", ""),
}


def parts_by_level(
    levels: Iterable[Level],
    ledger: Ledger,
    sides: tuple[Userspace, Userspace] | None,
    by_mode: Mapping[tuple[str, str], Parts],
) -> dict[str, LevelParts]:
    """The parts of every row of every level; the rows of each level add up to the ledger's total.

    Phases, initcalls and functions consist of call paths, and have the sums of theirs. Of a process the parts are known
    by program in user mode and by system call; a system call or a file likewise. What no call path says of a row is
    distributed in proportion to the changes that are left, and so are the owners of the critical path.

    :param by_mode: of :func:`parts_by_mode`; nothing where there are no *sides*.
    :raises AssertionError: when the sums do not hold: a fault of the program.
    """
    found: dict[str, LevelParts] = {}
    levels = [*levels]
    services = {
        row.name for level in levels if level.name == "services" for row in level.rows if row.presence != "both"
    }
    for level in levels:
        if not level.rows:
            found[level.name] = {}
            continue
        changes = {row.key: row.change_ns for row in level.rows}
        if level.name in ledger.levels:
            parts = _of_paths(ledger.levels[level.name], changes)
        elif sides is None or level.name in ("path", "devices", "units"):
            parts = _alike(found, ledger, changes)
            # What is on one of the paths alone may be in both boots.
            parts = _one_sided_first(parts, {row.key for row in level.rows if row.name in services})
        else:
            by_process = level.name in ("services", "packages")
            basis: Mapping[Any, Parts] = found["processes"] if by_process else by_mode
            parts = distribute(basis, _cells(sides, level.name, by_mode), changes)
            parts = _one_sided_first(parts, {row.key for row in level.rows if row.presence != "both"})
        total = added(parts.values())
        if total != ledger.total:
            raise AssertionError(f"ledger: {level.name} add up to {total}, not to {ledger.total}")
        found[level.name] = parts
    return found


def distribute(
    basis: Mapping[Any, Parts], cells: Mapping[Any, Mapping[Key, int]], changes: Mapping[Key, int]
) -> LevelParts:
    """Distribute a change that is known by one partition over the rows of another.

    :param basis: the parts by the one.
    :param cells: how much of each row's change belongs to each of the one; what is not there is unknown.
    :param changes: the changes of the rows; they add up to that of the basis.
    :returns: the parts of each row: they add up to its change.

    >>> rows = {Key("sh"): 7, Key("cat"): -2}
    >>> found = distribute({"read": Parts(6), "write": Parts(accident_ns=-1)}, {"read": {Key("sh"): 6}}, rows)
    >>> found[Key("sh")]
    Parts(caused_ns=6, moved_ns=1, accident_ns=0)
    >>> found[Key("cat")]
    Parts(caused_ns=0, moved_ns=-1, accident_ns=-1)
    """
    found = dict.fromkeys(changes, Parts())
    left = dict(changes)
    rest = Parts()
    for name, parts in basis.items():
        known = {key: ns for key, ns in cells.get(name, {}).items() if ns and key in changes}
        shares = over_rows(parts, [*known.values(), parts.change_ns - sum(known.values())])
        for (key, ns), share in zip(known.items(), shares, strict=False):
            found[key] += share
            left[key] -= ns
        rest += shares[-1]
    # In proportion to what is left; where nothing is, the last row has it: that of the rest, if there is one.
    for key, share in zip(left, over_rows(rest, list(left.values())), strict=True):
        found[key] += share
    return found


def _one_sided_first(parts: LevelParts, alone: Container[Key]) -> LevelParts:
    """Let rows of one boot alone have what is caused before the others: the other boot lacks all that they did.

    What they take in exchange for moved work, the others in the same direction give: their work moved. Where nothing is
    caused, nothing changes.

    :param alone: the rows of one boot alone.

    >>> rows = {Key("ls"): Parts(6, 3), Key("sh"): Parts(5, 1), Key("mv"): Parts(0, -4)}
    >>> [*_one_sided_first(rows, {Key("ls")}).values()][:2]
    [Parts(caused_ns=9, moved_ns=0, accident_ns=0), Parts(caused_ns=2, moved_ns=4, accident_ns=0)]
    """
    found = dict(parts)
    for sign in (1, -1):
        takes = {key: each.moved_ns for key, each in found.items() if key in alone and each.moved_ns * sign > 0
                 and each.change_ns * sign > 0}  # fmt: skip
        gives = {key: each.caused_ns for key, each in found.items() if key not in alone and each.caused_ns * sign > 0}
        amount = sign * min(abs(sum(takes.values())), abs(sum(gives.values())))
        for rows, direction in ((takes, 1), (gives, -1)):
            for key, share in zip(rows, apportion(amount, [abs(ns) for ns in rows.values()]), strict=True):
                found[key] += Parts(direction * share, -direction * share)
    return found


def _of_paths(known: Mapping[Key, Parts], changes: Mapping[Key, int]) -> LevelParts:
    """The parts of rows that consist of call paths; what no row has is the rest's."""
    found = {key: known.get(key._replace(kind="") if key not in known else key, Parts()) for key in changes}
    lost = _less(added(known.values()), added(found.values()))
    if lost != Parts():
        rest = next((key for key in changes if key.kind == "rest"), None) or [*changes][-1]
        found[rest] += lost
    return found


def _alike(found: Mapping[str, LevelParts], ledger: Ledger, changes: Mapping[Key, int]) -> LevelParts:
    """The parts of rows of elapsed time: an initcall's and a unit's as far as call paths explain their changes."""
    initcalls = {key: parts for key, parts in ledger.levels["initcalls"].items() if key.kind == SpanKind.INITCALL}
    units = {key: parts for key, parts in found.get("services", {}).items() if key.kind == "service"}
    basis: dict[Key, Parts] = units
    if any(key.kind == SpanKind.INITCALL for key in changes):
        # The initcalls of modules and the scope of the first process, which runs all others, are in both.
        own = {key: parts for key, parts in units.items() if key.name.endswith(".service")}
        basis = {key: parts for key, parts in initcalls.items() if not (own and key.module)} | own
    others = _less(ledger.total, added(basis.values()))
    cells = {}
    rows = {(key.name, key.kind): key for key in changes}
    for key, parts in basis.items():
        row = rows.get((key.name, SpanKind.UNIT if key.kind == "service" else key.kind))
        if row is not None:
            cells[key] = {row: _common(parts.change_ns, changes[row])}
    return distribute({**basis, Key("", kind="rest"): others}, cells, changes)


def _less(one: Parts, other: Parts) -> Parts:
    return one + Parts(-other.caused_ns, -other.moved_ns, -other.accident_ns)


def _common(one: int, other: int) -> int:
    """What two changes have in common."""
    if one * other <= 0:
        return 0
    return min(one, other, key=abs)


def before_user_mode(by_mode: Mapping[tuple[str, str], Parts]) -> Parts:
    """The parts of what the first process did before it ran a program: it initialized the kernel."""
    return by_mode.get(_FIRST_PROCESS, Parts())


def parts_by_mode(tree: TreeDifference, ledger: Ledger) -> dict[tuple[str, str], Parts]:
    """The parts by the mode that call paths ran in: user mode by the name of the thread, and system calls by name."""
    kinds: Sequence[str] = tree.nodes["kind"].to_list()
    functions: Sequence[str] = tree.nodes["function"].to_list()
    parents: Sequence[int | None] = tree.nodes["parent"].to_list()
    within: list[tuple[str, str] | None] = []
    for node, parent in enumerate(parents):
        within.append(_BEGINS.get(functions[node]) or (None if parent is None else within[parent]))
    modes: list[tuple[tuple[str, str], Parts]] = []
    for node, parts in ledger.paths.items():
        name = ledger.owners.entries[node].name
        if (inside := within[node]) is not None:
            mode = inside
        elif kinds[node] == CallKind.IDLE:
            mode = ("idle", "")
        elif kinds[node] in _BEFORE:
            mode = ("before", "")
        elif kinds[node] == CallKind.USER:
            mode = ("user", functions[node].removeprefix("[user ").removesuffix("]"))
        elif _CALL.match(name):
            mode = ("call", _CALL.sub("", name))
        else:
            mode = _KERNEL
        modes.append((mode, parts))
    return added_by(modes)


def _cells(
    sides: tuple[Userspace, Userspace], level: str, classes: Mapping[tuple[str, str], Parts]
) -> dict[Any, dict[Key, int]]:
    """How much of each row's change belongs to what else is known of it."""
    cells: dict[Any, dict[Key, int]] = {}

    def add(basis: Any, key: Key, ns: int) -> None:
        row = cells.setdefault(basis, {})
        row[key] = row.get(key, 0) + ns

    for side, sign in zip(sides, (-1, 1), strict=True):
        if level == "services":
            for (process, service), ns in side.services.items():
                add(process, service, sign * ns)
            continue
        if level == "packages":
            for (process, package), ns in side.packages.items():
                add(process, package, sign * ns)
            continue
        if level == "user_functions":
            for (name, key), ns in side.functions.items():
                add(("user", name), key, sign * ns)
            continue
        of: dict[str, Cells] = {"processes": side.calls, "files": side.paths}
        for (call, key), ns in of.get(level, {}).items():
            add(("call", call), key, sign * ns)
        if level == "system_calls":
            for key, part in side.levels[level].items():
                add(("call", key.name), key, sign * part.figures.ns)
        if level == "processes":
            for (name, key), ns in side.user.items():
                add(("user", name), key, sign * ns)
            for mode, key in (("interrupts", INTERRUPTS), ("idle", IDLE)):
                add((mode, ""), key, sign * side.levels[level][key].figures.ns)
    if level == "processes":
        for number, key in sides[0].first.items():
            began = ("first", str(number))
            add(began, key, classes.get(began, Parts()).change_ns)
    return cells

"""The causal ledger: what of a change is caused, what moved, and what is an accident."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.functions import key_of_function
from firstlight.comparison.exact.owners import Owners, owners_of
from firstlight.comparison.exact.parts import ChangePart, Parts, added, added_by, over_places
from firstlight.comparison.exact.rows import Key
from firstlight.comparison.exact.ticks import TickWork, is_other_work, tick_work
from firstlight.comparison.exact.tree import TreeDifference
from firstlight.comparison.exact.waits import Waits
from firstlight.schema.spans import CallKind

#: An initcall or a function changed for certain if it did by this many times what nearly all change by themselves.
_CERTAIN = 10
#: So large a share of those that change by themselves are nearly all.
_NEARLY_ALL = 0.95
#: What of an initcall level is in none.
_NO_INITCALL = Key("[outside all initcalls]", kind="rest")


@dataclass(frozen=True)
class Tolerance:
    """How much figures change by themselves, in nanoseconds; what is not there does not."""

    functions: Mapping[Key, int] = field(default_factory=dict)
    """Each function's self."""
    paths: Mapping[Key, int] = field(default_factory=dict)
    """Each function's self on one call path."""
    idle_ns: int = 0
    residual_ns: int = 0
    """The sizes of all changes beyond those of functions and paths, together."""
    initcalls: Mapping[Key, int] = field(default_factory=dict)
    """Each initcall with its callees."""
    is_of_kernel: bool = False
    """Whether this was measured on the kernel of the boots: functions that are not here then never changed there."""
    doubt_ns: int = 0
    """No change of the entire boot up to this is certain: this was measured on another series of kernels."""
    source: str | None = None
    """Where this comes from, in one sentence for users."""


@dataclass(frozen=True)
class Ledger:
    """The parts of a change, which add up to it at every level."""

    total: Parts
    instructions: Parts
    """The same in instructions; the names say nanoseconds and mean instructions here."""
    levels: Mapping[str, Mapping[Key, Parts]]
    """By `phases`, `entries`, `initcalls` and `functions`."""
    paths: Mapping[int, Parts]
    """By node of the merged tree."""
    owners: Owners

    def __post_init__(self) -> None:
        sums = {name: added(level.values()) for name, level in self.levels.items()}
        for name, found in {**sums, "paths": added(self.paths.values())}.items():
            if found != self.total:
                raise AssertionError(f"ledger: {name} add up to {found}, not to {self.total}")

    @property
    def gross_caused_ns(self) -> int:
        """The sizes of all caused changes together."""
        return sum(abs(parts.caused_ns) for parts in self.paths.values())


def ledger_of(a: Boot, b: Boot, tree: TreeDifference, tolerance: Tolerance, waits: Waits | None = None) -> Ledger:
    """Part the change of two exact boots, call path by call path.

    A path's change is an accident where it is within what the function changes by itself, on one path and on all of
    them together. What is beyond moved where a function did the same work altogether, where it is a part of a timer's
    tick that follows from the number of ticks, and where idle time absorbs other work. All else is caused. Where that
    is no more than the residual, it is an accident, too, except in an initcall or a function that changed by far more
    than any does by itself, and in a function that one boot alone called and no boot of the band. Of the phases of one
    path, those that change in opposite directions have moved work. Idle time of a program that ran in one boot alone
    absorbs nothing.

    :param waits: who waited; by default it is read from the boots where it matters.
    :raises AssertionError: when the sums do not hold: a fault of the program.
    """
    nodes = tree.nodes
    owners = owners_of(nodes)
    shift = a.manifest.clock.icount_shift or 0
    ticked = (tick_work(a), tick_work(b)) if any(owners.ticks) else None
    paths = _paths(nodes, owners, tolerance, ticked, waits or Waits(a, b))
    if sum(abs(parts.caused_ns) for parts in paths.values()) <= tolerance.residual_ns:
        paths = _without_residual(paths, nodes, owners, tolerance, _one_sided(a, b, tolerance))
    idle = {node for node, kind in enumerate(nodes["kind"].to_list()) if kind == CallKind.IDLE}
    busy = added(parts for node, parts in paths.items() if node not in idle)
    instructions = Parts(*(value >> shift for value in (busy.caused_ns, busy.moved_ns, busy.accident_ns)))
    levels = {
        "phases": _phases(a, b, tree, paths),
        "entries": added_by((owners.entries[node], parts) for node, parts in paths.items()),
        "initcalls": added_by((owners.initcalls[node] or _NO_INITCALL, parts) for node, parts in paths.items()),
        "functions": added_by(zip(_keys(nodes, paths), paths.values(), strict=True)),
    }
    return Ledger(added(paths.values()), instructions, levels, paths, owners)


def _paths(
    nodes: pl.DataFrame, owners: Owners, tolerance: Tolerance, ticked: tuple[TickWork, TickWork] | None, waits: Waits
) -> dict[int, Parts]:
    """The parts of every changed node.

    :param ticked: what the ticks of both boots did; none where there are none.
    """
    changed = nodes.filter(pl.col("self_change_ns") != 0).select("node", "kind", "self_change_ns")
    changes: dict[int, int] = {}
    idle: dict[int, int] = {}
    ticks: dict[int, int] = {}
    parts: dict[int, Parts] = {}
    for node, kind, ns in changed.iter_rows():
        group = idle if kind == CallKind.IDLE else ticks if owners.ticks[node] else changes
        group[node] = ns
    for node, key in zip(ticks, _keys(nodes, ticks), strict=True):
        limit_ns = max(tolerance.functions.get(key, 0), tolerance.paths.get(key, 0))
        other = ticked is not None and is_other_work(key, *ticked, limit_ns)
        parts[node] = Parts.of(ChangePart.CAUSED if other else ChangePart.MOVED, ticks[node])
    by_function: dict[Key, list[int]] = {}
    for node, key in zip(changes, _keys(nodes, changes), strict=True):
        by_function.setdefault(key, []).append(node)
    for key, members in by_function.items():
        path_ns, function_ns = tolerance.paths.get(key, 0), tolerance.functions.get(key, 0)
        small = [node for node in members if abs(changes[node]) <= path_ns]
        if abs(sum(changes[node] for node in small)) > function_ns:
            small = []
        rest = sorted(set(members) - set(small))
        signs = {changes[node] > 0 for node in rest}
        stays = len(signs) == 2 and abs(sum(changes[node] for node in rest)) <= max(path_ns, function_ns)
        for part, those in ((ChangePart.ACCIDENT, small), (ChangePart.MOVED if stays else ChangePart.CAUSED, rest)):
            parts.update((node, Parts.of(part, changes[node])) for node in those)
    work = sum(each.caused_ns for each in parts.values())
    return dict(sorted({**parts, **_idle(idle, work, tolerance.idle_ns, waits)}.items()))


def _without_residual(
    paths: Mapping[int, Parts], nodes: pl.DataFrame, owners: Owners, tolerance: Tolerance, one_sided: Container[Key]
) -> dict[int, Parts]:
    """Take what is caused for an accident, except in initcalls and functions that no accident explains.

    What changes by itself beyond the tolerance of functions is spread over the boot. A small cause is in one place.

    :param one_sided: functions that one of the boots alone called and no boot of the band.
    """
    initcalls: dict[Key, int] = {}
    functions: dict[Key, int] = {}
    keys = dict(zip(paths, _keys(nodes, paths), strict=True))
    for node, parts in paths.items():
        functions[keys[node]] = functions.get(keys[node], 0) + parts.caused_ns
        if (initcall := owners.initcalls[node]) is not None:
            initcalls[initcall] = initcalls.get(initcall, 0) + parts.caused_ns
    certain = _certain(initcalls, tolerance.initcalls)
    called = {key for key in functions if key in one_sided}
    if tolerance.is_of_kernel:
        called |= {key for key in _certain(functions, tolerance.functions, 1) if key.kind != CallKind.IDLE}
    return {
        node: parts if owners.initcalls[node] in certain or keys[node] in called
        else Parts(0, parts.moved_ns, parts.accident_ns + parts.caused_ns)
        for node, parts in paths.items()
    }  # fmt: skip


def _certain(caused: Mapping[Key, int], widths: Mapping[Key, int], usual_times: int = _CERTAIN) -> set[Key]:
    """What changed by far more than it changes by itself, and by more than nearly all others do.

    :param usual_times: by how many times what nearly all others change by themselves.
    """
    ordered = sorted(width for width in widths.values() if width)
    usual_ns = ordered[int(_NEARLY_ALL * (len(ordered) - 1))] if ordered else math.inf
    return {key for key, ns in caused.items() if abs(ns) > max(usual_times * usual_ns, _CERTAIN * widths.get(key, 0))}


def _one_sided(a: Boot, b: Boot, tolerance: Tolerance) -> set[Key]:
    """The functions that one of two boots alone called and no boot of the band, if the band is of their kernel."""
    if not tolerance.is_of_kernel:
        return set()
    one, other = (
        {key_of_function(*row) for row in boot.calls().select("function", "module", "kind").unique().iter_rows()}
        for boot in (a, b)
    )
    return (one ^ other) - tolerance.functions.keys() - tolerance.paths.keys()


def _idle(idle: Mapping[int, int], work_ns: int, tolerance_ns: int, waits: Waits) -> dict[int, Parts]:
    """Idle time: what absorbs caused work of the other sign moved; what is left was caused."""
    change = sum(idle.values())
    if abs(change) <= tolerance_ns:
        return {node: Parts.of(ChangePart.ACCIDENT, ns) for node, ns in idle.items()}
    moved = 0
    if change * work_ns < 0:
        left = abs(change - waits.one_sided_ns(change))
        moved = min(left, abs(work_ns)) * (1 if change > 0 else -1)
    total = Parts(change - moved, moved)
    return dict(zip(idle, over_places(total, list(idle.values())), strict=True))


def _phases(a: Boot, b: Boot, tree: TreeDifference, paths: Mapping[int, Parts]) -> dict[Key, Parts]:
    """By phase: each path's change, where it happened."""
    cells = pl.concat(
        boot.table("phase_calls").lazy().select("node", "phase", ns=sign * pl.col("self_ns").fill_null(0)).join(
            pl.LazyFrame({"node": range(len(places)), "place": places}), on="node"
        )
        for boot, places, sign in zip((a, b), tree.places, (-1, 1), strict=True)
    )  # fmt: skip
    summed = cells.group_by("place", "phase").agg(pl.col("ns").sum()).filter(pl.col("ns") != 0).collect()
    nodes = dict(zip(tree.nodes["number"].to_list(), tree.nodes["node"].to_list(), strict=True))
    places: dict[int, list[tuple[str, int]]] = {}
    for place, phase, ns in summed.sort("place", "phase").iter_rows():
        places.setdefault(place, []).append((phase, ns))
    by_phase = added_by(
        (phase, part)
        for place, within in places.items()
        for (phase, _), part in zip(
            within,
            over_places(paths.get(nodes.get(place, -1), Parts()), [ns for _, ns in within]),
            strict=True,
        )
    )
    return {Key(phase): parts for phase, parts in by_phase.items()}


def _keys(nodes: pl.DataFrame, wanted: Iterable[int]) -> list[Key]:
    """What the functions of some nodes are matched by."""
    functions, modules, kinds = (nodes[name].to_list() for name in ("function", "module", "kind"))
    return [key_of_function(functions[node], modules[node], kinds[node]) for node in wanted]

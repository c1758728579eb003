"""The shares of the hot spots: a partition of the window, exact to the nanosecond."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from firstlight_studies.kernel_hotspots.hotspots import HotSpot, plain_name
from firstlight_studies.kernel_hotspots.window import Tree

REST = "rest"
IDLE = "idle"


@dataclass
class FunctionShare:
    """A function of a hot spot."""

    calls: int = 0
    total_ns: int = 0
    """With all that it called; a recursion counts once."""
    own_ns: int = 0
    """What belongs to its hot spot through it: without what it called that is another named function."""


@dataclass
class Partition:
    """What each hot spot took; the parts add up to the whole."""

    spots_ns: dict[str, int] = field(default_factory=dict)
    """By key; the rest and idle waiting are parts of their own."""
    functions: dict[str, FunctionShare] = field(default_factory=dict)
    """By plain name; only those that ran."""

    @property
    def whole_ns(self) -> int:
        """All parts together."""
        return sum(self.spots_ns.values())


def partition(tree: Tree, spots: Iterable[HotSpot]) -> Partition:
    """Share out the time of a tree: each node's belongs to the innermost named function that it was called under.

    >>> from firstlight_studies.kernel_hotspots.hotspots import hot_spots
    >>> tree = Tree([-1, 0], ["[boot]", "_printk"], ["root", "function"], [1, 2], [5, 3])
    >>> partition(tree, hot_spots()).spots_ns["console"]
    3
    """
    spot_of = {function: spot.key for spot in spots for function in spot.functions}
    named = {function: plain for function in set(tree.functions) if (plain := plain_name(function)) in spot_of}
    found = Partition({**dict.fromkeys(spot_of.values(), 0), REST: 0, IDLE: 0})
    totals = list(tree.self_ns)
    for place in range(len(totals) - 1, 0, -1):
        if (above := tree.parents[place]) >= 0:
            totals[above] += totals[place]
    owners: list[str | None] = []
    chains: list[frozenset[str]] = []
    nothing: frozenset[str] = frozenset()
    for parent, function, kind, calls, own_ns, total_ns in zip(
        tree.parents, tree.functions, tree.kinds, tree.calls, tree.self_ns, totals, strict=True
    ):
        if not total_ns and not calls:  # nothing below it ran in this part of the boot
            owners.append(None)
            chains.append(nothing)
            continue
        owner = owners[parent] if parent >= 0 else None
        chain = chains[parent] if parent >= 0 else nothing
        if (name := named.get(function)) is not None:
            share = found.functions.setdefault(name, FunctionShare())
            share.calls += calls
            if name not in chain:
                share.total_ns += total_ns
                chain = chain | {name}
            owner = name
        owners.append(owner)
        chains.append(chain)
        if own_ns:
            part = IDLE if kind == "idle" else REST if owner is None else spot_of[owner]
            found.spots_ns[part] += own_ns
            if owner is not None:
                found.functions[owner].own_ns += own_ns
    return found

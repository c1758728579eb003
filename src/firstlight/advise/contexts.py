"""The calling-context tree in depth-first order: the subtree of a context is one stretch, and its sum a difference."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

import polars as pl

from firstlight.analysis.ledger.costs import machine_nodes, plain_name
from firstlight.bundle.boot import Boot

Stretch = tuple[int, int]
"""Places in the order, from the first to the one after the last."""


class Contexts:
    """The tree of a boot with the time of each context on the critical path.

    On the one processor of an exact boot, everything that executes holds the boot, except what executes while the
    critical path sleeps until a timer or device. The tree has no instants: of such time each phase gives all its
    contexts the same share, and :attr:`is_exact` is false.
    """

    def __init__(self, boot: Boot, goal_ns: int | None, asleep: Sequence[Stretch]) -> None:
        """:param goal_ns: later execution does not count.

        :param asleep: where the path sleeps and others may execute, in nanoseconds.
        """
        calls = boot.calls()
        self._functions: list[str] = calls["function"].to_list()
        self._parents: list[int | None] = calls["parent"].to_list()
        self._calls: list[int] = calls["calls"].to_list()
        self._place, self._end = _line(self._parents)
        held, self.is_exact = _held(boot, calls, goal_ns, asleep)
        order = [0] * len(held)
        for node, place in enumerate(self._place):
            order[place] = node
        self._order = order
        self._sums = [0.0, *accumulate(held[node] for node in order)]
        self._by_name: dict[str, list[int]] = {}
        names = {function: plain_name(function) for function in set(self._functions)}
        for node, function in enumerate(self._functions):
            self._by_name.setdefault(names[function], []).append(node)
        self._machine: dict[str, tuple[list[int], list[float]]] = {}
        owned: dict[str, list[int]] = {}
        for node, id in machine_nodes(boot).items():
            owned.setdefault(id, []).append(node)
        for id, nodes in owned.items():
            places = sorted(nodes, key=self._place.__getitem__)
            sums = [0.0, *accumulate(held[node] for node in places)]
            self._machine[id] = ([self._place[node] for node in places], sums)

    def below(
        self, functions: Iterable[str], under: str | None = None, outside: Collection[str] = ()
    ) -> tuple[tuple[Stretch, ...], int]:
        """The stretches of functions with their callees, and the number of calls from outside.

        :param under: only below this function.
        :param outside: not where one of these functions is a caller.
        """
        nodes = [node for name in functions for node in self._named(name)]
        if under is not None or outside:
            nodes = [node for node in nodes if self._fits(node, under, outside)]
        found = merged((self._place[node], self._end[node]) for node in nodes)
        first = {low for low, _ in found}
        return found, sum(self._calls[node] for node in nodes if self._place[node] in first)

    def alone(
        self, functions: Iterable[str], under: str | None = None, outside: Collection[str] = ()
    ) -> tuple[tuple[Stretch, ...], int]:
        """As :meth:`below`, of the functions without their callees."""
        nodes = [node for name in functions for node in self._named(name) if self._fits(node, under, outside)]
        places = ((self._place[node], self._place[node] + 1) for node in nodes)
        return merged(places), sum(self._calls[node] for node in nodes)

    def _named(self, name: str) -> list[int]:
        """The contexts of a function, or of all functions with the prefix before an asterisk."""
        if not name.endswith("*"):
            return self._by_name.get(name, [])
        return [node for each, nodes in self._by_name.items() if each.startswith(name[:-1]) for node in nodes]

    def _fits(self, node: int, under: str | None, outside: Collection[str]) -> bool:
        callers = set()
        above = self._parents[node]
        while above is not None:
            callers.add(plain_name(self._functions[above]))
            above = self._parents[above]
        return (under is None or under in callers) and callers.isdisjoint(outside)

    def nodes(self, stretches: Iterable[Stretch]) -> list[int]:
        """The nodes of stretches, numbered as in `calls`."""
        return [node for low, high in stretches for node in self._order[low:high]]

    def stack(self, stretch: Stretch) -> list[str]:
        """The functions of a stretch's first context, from it to the root."""
        found: list[str] = []
        node: int | None = self._order[stretch[0]]
        while node is not None:
            found.append(plain_name(self._functions[node]))
            node = self._parents[node]
        return found

    def ns(self, stretches: Iterable[Stretch]) -> int:
        """The time of the contexts of stretches on the critical path."""
        return round(sum(self._sums[high] - self._sums[low] for low, high in stretches))

    def machine_ns(self, stretches: Iterable[Stretch], but: Collection[str] = ()) -> int:
        """The emulated machine's own part of it.

        :param but: costs of the machine, by id, that do not count.
        """
        total = 0.0
        for low, high in stretches:
            for id, (places, sums) in self._machine.items():
                if id not in but:
                    total += sums[bisect_left(places, high)] - sums[bisect_left(places, low)]
        return round(total)


def merged(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Stretches without overlaps, in their order.

    >>> merged([(5, 9), (1, 3), (6, 7), (3, 4)])
    ((1, 4), (5, 9))
    """
    found: list[Stretch] = []
    for low, high in sorted(stretches):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        elif high > low:
            found.append((low, high))
    return tuple(found)


def common(one: Iterable[Stretch], other: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """The intersection of two lists of stretches without overlaps.

    >>> common([(1, 5), (8, 9)], [(3, 10)])
    ((3, 5), (8, 9))
    """
    found = []
    ends = sorted(other)
    place = 0
    for low, high in sorted(one):
        while place < len(ends) and ends[place][1] <= low:
            place += 1
        at = place
        while at < len(ends) and ends[at][0] < high:
            found.append((max(low, ends[at][0]), min(high, ends[at][1])))
            at += 1
    return tuple(found)


def inside(some: Iterable[Stretch], others: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """The stretches that lie in one of the others and are shorter than it.

    >>> inside([(1, 2), (4, 6), (9, 12)], [(1, 2), (3, 8), (10, 12)])
    ((4, 6),)
    """
    every = list(others)
    return tuple(
        (low, high)
        for low, high in some
        if any(start <= low and high <= end and (low, high) != (start, end) for start, end in every)
    )


def without(stretches: Iterable[Stretch], taken: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """The parts of stretches that do not lie in others.

    >>> without([(1, 9)], [(2, 3), (5, 6)])
    ((1, 2), (3, 5), (6, 9))
    """
    taken = merged(taken)
    ends = [end for _, end in taken]
    found = []
    for low, high in stretches:
        at = low
        for start, end in taken[bisect_right(ends, low) :]:
            if start >= high:
                break
            if start > at:
                found.append((at, start))
            at = max(at, end)
        if at < high:
            found.append((at, high))
    return tuple(found)


def _line(parents: list[int | None]) -> tuple[list[int], list[int]]:
    """For each node its place in the order, and the place after its subtree."""
    size = [1] * len(parents)
    for node in range(len(parents) - 1, -1, -1):
        if (parent := parents[node]) is not None:
            size[parent] += size[node]
    place = [0] * len(parents)
    free = [0] * len(parents)
    top = 0
    for node, parent in enumerate(parents):
        if parent is None:
            place[node], top = top, top + size[node]
        else:
            place[node] = free[parent]
            free[parent] += size[node]
        free[node] = place[node] + 1
    return place, [start + length for start, length in zip(place, size, strict=True)]


def _held(boot: Boot, calls: pl.DataFrame, goal: int | None, free: Sequence[Stretch]) -> tuple[list[float], bool]:
    """The self time of each context on the path, and whether that is exact."""
    phases = boot.phases().select("phase", "start_ns", "end_ns", "idle_ns").iter_rows()
    shares: dict[str, float] = {}
    lengths: dict[str, tuple[int, int]] = {}
    for phase, start, end, idle in phases:
        busy = end - start - (idle or 0)
        last = end if goal is None else min(end, goal)
        lost = sum(max(0, min(last, high) - max(start, low)) for low, high in free) + max(0, end - max(start, last))
        before = lengths.get(phase, (0, 0))
        lengths[phase] = (before[0] + busy, before[1] + min(lost, busy))
    for phase, (busy, lost) in lengths.items():
        shares[phase] = 1 - lost / busy if busy else 1
    own = calls["self_ns"].fill_null(0).to_list()
    if all(share == 1 for share in shares.values()):
        return own, True
    parts = boot.phase_calls().select("node", "phase", "self_ns")
    weighed = (
        parts.with_columns(pl.col("phase").cast(pl.String).replace_strict(shares, default=1.0).alias("share"))
        .group_by("node")
        .agg((pl.col("self_ns") * pl.col("share")).sum().alias("ns"))
    )
    held = [0.0] * len(own)
    for node, ns in weighed.iter_rows():
        held[node] = ns or 0.0
    return held, False

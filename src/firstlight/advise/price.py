"""What a finding holds on the critical path: contexts of the kernel, processes, waits, parts of the path."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce

from firstlight.advise.contexts import Stretch, common, merged, without
from firstlight.advise.observed import Observed


@dataclass(frozen=True)
class Held:
    """What evidence points at. What lies in two of these counts once, by the one that locates it best."""

    contexts: tuple[Stretch, ...] = ()
    """Stretches of the calling-context tree."""
    processes: frozenset[int] = frozenset()
    """Processes, by their numbers."""
    waits: tuple[Stretch, ...] = ()
    """Intervals in which the path sleeps, in nanoseconds."""
    parts: tuple[Stretch, ...] = ()
    """Intervals of the path itself, in nanoseconds."""

    def __or__(self, other: Held) -> Held:
        return Held(
            merged([*self.contexts, *other.contexts]),
            self.processes | other.processes,
            merged([*self.waits, *other.waits]),
            merged([*self.parts, *other.parts]),
        )

    @property
    def is_nothing(self) -> bool:
        """Whether it points at no time at all."""
        return not (self.contexts or self.processes or self.waits or self.parts)


NOTHING = Held()


def together(held: Iterable[Held]) -> Held:
    """Several as one."""
    return reduce(Held.__or__, held, NOTHING)


@dataclass(frozen=True)
class Cost:
    """What a cause costs in one boot."""

    ns: int
    """What it holds on the critical path."""
    waits_ns: int
    """Of it, what the path slept."""
    machine_ns: int
    """Of it, what is the emulated machine's own."""
    is_exact: bool
    """Whether it is the very time of the record, and no share of it."""

    @property
    def system_ns(self) -> int:
        """What of it is the system's."""
        return self.ns - self.machine_ns


def price(observed: Observed, held: Held, own: Collection[str] = ()) -> Cost:
    """What evidence holds on the critical path.

    Contexts of the kernel locate time best, then processes, then parts of the path: the worse one counts only where
    there is no better one. Waits are always counted: nobody executes in them.

    :param own: costs of the emulated machine, by id, that are the cause's.
    """
    contexts = observed.contexts
    waits = sum(high - low for low, high in _waits(observed, held))
    if contexts is not None and held.contexts:
        executed = contexts.ns(held.contexts)
        machine = contexts.machine_ns(held.contexts, own)
        return Cost(executed + waits, waits, machine, contexts.is_exact)
    if held.processes and observed.thread_runs:
        return Cost(_executed(observed, held.processes) + waits, waits, 0, True)
    if held.parts:
        parts = merged([*held.parts, *held.waits])
        return Cost(sum(high - low for low, high in parts), waits, 0, observed.boot.manifest.mode == "exact")
    return Cost(waits, waits, 0, True)


def shared_ns(observed: Observed, one: Held, other: Held) -> int:
    """What two findings both hold, as far as both are located in the same way."""
    total = 0
    if observed.contexts is not None:
        total += observed.contexts.ns(common(one.contexts, other.contexts))
    waits = common(_waits(observed, one), _waits(observed, other))
    total += sum(high - low for low, high in waits)
    if not one.contexts and not other.contexts and (both := one.processes & other.processes):
        total += _executed(observed, both)
    parts = common(without(one.parts, waits), without(other.parts, waits))
    return total + sum(high - low for low, high in parts)


def _waits(observed: Observed, held: Held) -> tuple[Stretch, ...]:
    return common(merged(held.waits), merged(observed.free))


def _executed(observed: Observed, processes: Collection[int]) -> int:
    """What processes executed before the goal, without what they did while the path slept."""
    goal = observed.goal_ns
    runs = [
        (start, end if goal is None else min(end, goal))
        for thread, process in observed.thread_process.items()
        if process in processes
        for start, end in observed.thread_runs.get(thread, ())
        if goal is None or start < goal
    ]
    free = observed.asleep
    starts = [start for start, _ in free]
    total = 0
    for start, end in runs:
        total += end - start
        place = max(0, bisect_right(starts, start) - 1)
        while place < len(free) and free[place][0] < end:
            total -= max(0, min(end, free[place][1]) - max(start, free[place][0]))
            place += 1
    return total

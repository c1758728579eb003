"""The cost of a finding on the critical path: contexts of the kernel, processes, waits, parts of the path."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from firstlight.advise.contexts import Stretch, common, merged, without
from firstlight.advise.observed import Observed
from firstlight.recipe.mode import RecordMode


@dataclass(frozen=True)
class Held:
    """What evidence locates. Time in two of these counts once, by the one that locates it best."""

    contexts: tuple[Stretch, ...] = ()
    """Stretches of the calling-context tree."""
    processes: frozenset[int] = frozenset()
    """Processes, by their numbers."""
    waits: tuple[Stretch, ...] = ()
    """Intervals in which the path sleeps, in nanoseconds."""
    parts: tuple[Stretch, ...] = ()
    """Intervals of the path itself, in nanoseconds."""
    portions: tuple[Portion, ...] = ()
    """Contexts of which only a part counts."""
    turns: tuple[Turn, ...] = ()
    """Execution of threads between two of their system calls."""

    def __or__(self, other: Held) -> Held:
        return Held(
            merged([*self.contexts, *other.contexts]),
            self.processes | other.processes,
            merged([*self.waits, *other.waits]),
            merged([*self.parts, *other.parts]),
            tuple(dict.fromkeys((*self.portions, *other.portions))),
            tuple(dict.fromkeys((*self.turns, *other.turns))),
        )

    @property
    def is_nothing(self) -> bool:
        """Whether it locates no time at all."""
        return self == Held()


@dataclass(frozen=True)
class Portion:
    """Contexts of which only a part counts, such as delays beyond a true setting."""

    contexts: tuple[Stretch, ...]
    """Stretches of the calling-context tree."""
    part: float
    """From 0 to 1."""


@dataclass(frozen=True)
class Turn:
    """Execution of a thread in some intervals, such as while it handles a message."""

    thread: int
    intervals: tuple[Stretch, ...]
    """In nanoseconds, without overlaps, in order of time."""


NOTHING = Held()


def together(held: Iterable[Held]) -> Held:
    """Several as one."""
    return reduce(Held.__or__, held, NOTHING)


@dataclass(frozen=True)
class Cost:
    """The cost of a cause in one boot."""

    ns: int
    """Its time on the critical path."""
    waits_ns: int
    """The part of it that the path slept."""
    machine_ns: int
    """The part of it that is the emulated machine's own."""
    is_exact: bool
    """Whether it is the time of the record itself, not a share of it."""

    @property
    def system_ns(self) -> int:
        """The system's part of it."""
        return self.ns - self.machine_ns


def price(observed: Observed, held: Held, own: Collection[str] = ()) -> Cost:
    """The cost of evidence on the critical path.

    Contexts of the kernel locate time best, then turns, then processes, then parts of the path: the worse one counts
    only where there is no better one. Waits are always counted: no thread executes in them.

    :param own: costs of the emulated machine, by id, that are the cause's.
    """
    contexts = observed.contexts
    waits = sum(high - low for low, high in _waits(observed, held))
    if contexts is not None and (held.contexts or held.portions):
        executed = contexts.ns(held.contexts)
        machine = contexts.machine_ns(held.contexts, own)
        for stretches, part in _portions(held):
            executed += round(contexts.ns(stretches) * part)
            machine += round(contexts.machine_ns(stretches, own) * part)
        return Cost(executed + waits, waits, machine, contexts.is_exact and not held.portions)
    if held.turns and observed.thread_runs:
        return Cost(_taken(observed, _turns(held)) + waits, waits, 0, True)
    if held.processes and observed.thread_runs:
        return Cost(_taken(observed, _executed(observed, held.processes)) + waits, waits, 0, True)
    if held.parts:
        parts = merged([*held.parts, *held.waits])
        return Cost(sum(high - low for low, high in parts), waits, 0, observed.boot.manifest.mode == RecordMode.EXACT)
    return Cost(waits, waits, 0, observed.boot.manifest.mode != RecordMode.IMPORTED or bool(observed.thread_runs))


def _portions(held: Held) -> Iterator[tuple[tuple[Stretch, ...], float]]:
    """Contexts that count in part: a context in several counts once, by the first."""
    taken = list(held.contexts)
    for portion in held.portions:
        yield without(portion.contexts, taken), portion.part
        taken += portion.contexts


def shared_ns(observed: Observed, one: Held, other: Held) -> int:
    """The time in both of two findings, as far as both are located in the same way."""
    total = 0
    if observed.contexts is not None:
        for low, part in _weighed(one):
            for high, other_part in _weighed(other):
                total += round(observed.contexts.ns(common(low, high)) * min(part, other_part))
    waits = common(_waits(observed, one), _waits(observed, other))
    total += sum(high - low for low, high in waits)
    if not one.contexts and not other.contexts:
        total += _taken(observed, _both(_executing(observed, one), _executing(observed, other)))
    parts = common(without(one.parts, waits), without(other.parts, waits))
    return total + sum(high - low for low, high in parts)


def _weighed(held: Held) -> list[tuple[tuple[Stretch, ...], float]]:
    """All contexts that count, entirely or in part."""
    return [(held.contexts, 1.0), *_portions(held)]


def _waits(observed: Observed, held: Held) -> tuple[Stretch, ...]:
    return common(merged(held.waits), merged(observed.free))


Intervals = dict[int, tuple[Stretch, ...]]
"""Intervals of threads, by the thread's number."""


def _executing(observed: Observed, held: Held) -> Intervals:
    """The intervals of threads whose execution counts."""
    return _turns(held) if held.turns else _executed(observed, held.processes)


def _turns(held: Held) -> Intervals:
    found: Intervals = {}
    for turn in held.turns:
        found[turn.thread] = merged((*found.get(turn.thread, ()), *turn.intervals))
    return found


def _executed(observed: Observed, processes: Collection[int]) -> Intervals:
    """The runs of the threads of processes."""
    return {
        thread: merged(observed.thread_runs.get(thread, ()))
        for thread, process in observed.thread_process.items()
        if process in processes
    }


def _both(one: Intervals, other: Intervals) -> Intervals:
    return {thread: common(one[thread], other[thread]) for thread in one.keys() & other.keys()}


def _taken(observed: Observed, intervals: Intervals) -> int:
    """Execution of threads in intervals before the goal, without that during sleeps of the path."""
    goal = observed.goal_ns
    total = 0
    for thread, wanted in intervals.items():
        runs = common(merged(observed.thread_runs.get(thread, ())), wanted)
        if goal is not None:
            runs = common(runs, ((0, goal),))
        total += sum(high - low for low, high in without(runs, observed.asleep))
    return total

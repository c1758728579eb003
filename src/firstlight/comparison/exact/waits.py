"""Idle time by who waited: the program on the critical path through threads while nothing ran."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from firstlight.analysis.path.critical import find_path
from firstlight.analysis.path.processor import BEFORE_TASKS, Processor
from firstlight.analysis.processes.identity import NAMELESS, process_names_of
from firstlight.analysis.processes.processes import service_of
from firstlight.bundle.boot import Boot

#: How long after idle time what it ended with has to run.
_SOON_NS = 1_000_000
#: The scope of the first process says nothing about what waits.
_FIRST_SCOPE = "init.scope"


class Waiting(NamedTuple):
    """A program that waits, and the service that it belongs to."""

    program: str
    service: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The service, where it has one of its own, and the program.

        >>> Waiting("sleep", "sleepy.service").names, Waiting("systemd", "init.scope").names
        (('sleepy.service', 'sleep'), ('systemd',))
        """
        return (self.program,) if self.service in (None, _FIRST_SCOPE) else (str(self.service), self.program)


class Waits:
    """The idle time of two boots by who waited on the critical path, and what for."""

    def __init__(self, a: Boot, b: Boot) -> None:
        self._boots = (a, b)

    @cached_property
    def _sides(self) -> tuple[dict[tuple[Waiting, str], int], dict[tuple[Waiting, str], int]] | None:
        a, b = (_idle_by_wait(boot) for boot in self._boots)
        return None if a is None or b is None else (a, b)

    @cached_property
    def changes(self) -> dict[Waiting, int]:
        """How much longer each waited in B, in nanoseconds; what did not change is not there.

        Where no wake-ups were recorded: by the user program that ran first after each idle time.
        """
        one, other = (_by_next(boot) for boot in self._boots) if self._sides is None else map(_by_who, self._sides)
        changes = {who: other.get(who, 0) - one.get(who, 0) for who in sorted(one.keys() | other.keys(), key=str)}
        return {who: ns for who, ns in changes.items() if ns}

    def one_sided_ns(self, change_ns: int) -> int:
        """How much of a change of idle time is of programs that waited in one boot alone, and did not run in the other.

        The rest may be time that other work left.

        :returns: nanoseconds with the sign of the change, no more than it.
        """
        if self._sides is None or not change_ns:
            return 0
        one, other = map(_by_who, self._sides)
        more, fewer, boot = (other, one, self._boots[0]) if change_ns > 0 else (one, other, self._boots[1])
        ran = _programs(boot)
        alone = sum(ns for who, ns in more.items() if who not in fewer and who not in ran)
        return min(alone, change_ns) if change_ns > 0 else -min(alone, -change_ns)

    def reason_of(self, who: Waiting) -> str | None:
        """What most of the changed idle time of a program waited for; none where it is not recorded."""
        if self._sides is None:
            return None
        one, other = self._sides
        changes = {
            reason: abs(other.get((who, reason), 0) - one.get((who, reason), 0))
            for waiting, reason in one.keys() | other.keys()
            if waiting == who and reason
        }
        return max(changes, key=lambda reason: (changes[reason], reason), default=None)


def _by_who(side: Mapping[tuple[Waiting, str], int]) -> dict[Waiting, int]:
    sums: dict[Waiting, int] = {}
    for (who, _), ns in side.items():
        sums[who] = sums.get(who, 0) + ns
    return sums


def _idle_by_wait(boot: Boot) -> dict[tuple[Waiting, str], int] | None:
    """By who waited and what for; none where no wake-ups were recorded."""
    threads = find_path(boot).threads
    if threads is None:
        return None
    called = process_names_of(boot)
    processes = dict(boot.threads().select("thread", "process").drop_nulls().iter_rows())
    found: dict[tuple[Waiting, str], int] = {}
    for place, row in enumerate(threads.rows):
        if row["kind"] != "idle":
            continue
        sleeper = threads.sleeper(place)
        key = (Waiting(BEFORE_TASKS), "")
        if sleeper is not None:
            thread, reason = sleeper
            named = threads.programs.at(thread, row["start_ns"])
            name = called.get(processes.get(thread, -1))
            # The first process belongs to the kernel until it runs a program.
            early = name is not None and named.name.startswith("[") and not name.program.startswith("[")
            program = named.name if name is None or name.program == NAMELESS or early else name.program
            key = (Waiting(program, named.service), reason)
        found[key] = found.get(key, 0) + row["end_ns"] - row["start_ns"]
    return found


def _programs(boot: Boot) -> set[Waiting]:
    """Every program with the service that it ran for."""
    services = dict(boot.table("processes").select("process", service_of("cgroup")).iter_rows())
    return {Waiting(name.program, services.get(process)) for process, name in process_names_of(boot).items()}


def _by_next(boot: Boot) -> dict[Waiting, int]:
    """Idle time by the user program that ran first after it; idle time that no such program followed is left out."""
    sums: dict[Waiting, int] = {}
    processor = Processor(boot)
    for start, end in processor.idle:
        after = next((part for part in processor.between(end, end + _SOON_NS) if part.kind == "user"), None)
        if after is not None:
            sums[Waiting(after.name)] = sums.get(Waiting(after.name), 0) + end - start
    return sums

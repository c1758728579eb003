"""What the processes of lvm2 did in one boot, by what each was asked to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from firstlight.study import MissingValue
from firstlight_studies.lvm_activation.trace import MONITOR, Program, Trace


@dataclass(frozen=True)
class Command:
    """All processes that were asked to do the same."""

    words: str
    """What of lvm2, and its first option."""
    count: int
    opened: int
    """Files that they opened, all together."""
    online: int
    """Of these lvm2's own notes of volumes that came (/run/lvm/pvs_online)."""
    udev_database: int
    """Of these udev's run-time database; and the most that one process did."""
    udev_database_most: int
    sysfs: int
    sysfs_most: int
    memory_most: int
    """Bytes: the most that one of them had for itself."""


@dataclass(frozen=True)
class Programs:
    """What the kernel noted of the processes of lvm2 in one boot."""

    commands: tuple[Command, ...]
    at_once: int
    memory: int
    """Bytes that they had for themselves, all together, at most."""

    @property
    def count(self) -> int:
        """All processes."""
        return sum(each.count for each in self.commands)

    @property
    def memory_most(self) -> int:
        """Bytes: the most that one of them had."""
        return max((each.memory_most for each in self.commands), default=0)

    @property
    def activating(self) -> tuple[Command, ...]:
        """All but that of lvm2-monitor.service, which is none of an event's and none of the static unit's."""
        return tuple(each for each in self.commands if each.words != MONITOR)

    def each(self, get: Callable[[Command], int]) -> float:
        """Something per process, of those that activate."""
        found = self.activating
        return sum(map(get, found)) / max(1, sum(each.count for each in found))

    def most(self, get: Callable[[Command], int]) -> int:
        """Something of the process that has most of it, of those that activate."""
        return max(map(get, self.activating), default=0)

    def text(self) -> str:
        """How many there were of what, for people."""
        return ", ".join(f"{each.count:,} × `{each.words}`" for each in self.commands)


def programs(trace: Trace | None) -> Programs | MissingValue:
    """What a trace says, or why it says nothing."""
    if trace is None:
        return MissingValue("the guest's kernel noted nothing")
    if not trace.complete:
        return MissingValue("the kernel's buffer for notes was too small")
    by_words: dict[str, list[Program]] = {}
    for program in trace.programs:
        by_words.setdefault(program.command, []).append(program)
    if "" in by_words:
        return MissingValue("the guest's kernel did not note what a process of lvm2 was asked to do")
    commands = (_command(words, found) for words, found in sorted(by_words.items()))
    return Programs(tuple(commands), trace.at_once, trace.memory)


def _command(words: str, found: Iterable[Program]) -> Command:
    alike = list(found)
    return Command(
        words=words,
        count=len(alike),
        opened=sum(each.opened for each in alike),
        online=sum(each.online for each in alike),
        udev_database=sum(each.udev_database for each in alike),
        udev_database_most=max(each.udev_database for each in alike),
        sysfs=sum(each.sysfs for each in alike),
        sysfs_most=max(each.sysfs for each in alike),
        memory_most=max(each.memory for each in alike),
    )

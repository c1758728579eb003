"""The search for the largest set of groups that a kernel can do without.

All groups go at first. Where that fails, the first group whose loss makes a kernel fail is found by bisection over the
order of the groups, it stays, and the rest goes on. Configurations cost seconds and builds cost minutes. So what the
rules of the configuration alone refuse is settled first, without a build.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

Groups = frozenset[str]
"""Groups that go, by their names."""


class Stage(StrEnum):
    """How far a kernel came."""

    CONFIGURATION = "configuration"
    """A feature is lost in its configuration."""
    BUILD = "build"
    """Its build failed."""
    BOOT = "boot"
    """It was booted."""


@dataclass(frozen=True)
class AttemptOutcome:
    """What came of a kernel without some groups."""

    stage: Stage
    time_ns: int | None
    """Of the goal; nothing where its mark never came."""
    why: str = ""
    """Why the kernel does not count."""

    @property
    def counts(self) -> bool:
        """Whether it was built, came up, and is healthy."""
        return self.stage is Stage.BOOT and self.time_ns is not None and not self.why


@dataclass
class Minimised:
    """What the search found."""

    without: Groups | None
    """The groups that go; nothing where no kernel counts."""
    tried: dict[Groups, AttemptOutcome]
    """Every kernel that was built, in the order of the search."""
    restored: dict[str, str]
    """Why a group stays, by its name."""
    complete: bool
    """Whether the budget sufficed."""
    trouble: str = ""
    """Why the kernel with all groups fails; nothing else can be tried then."""


class _SpentError(Exception):
    """The budget does not allow another build."""


@dataclass
class _Search:
    configures: Callable[[Groups], str]
    kernel: Callable[[Groups], AttemptOutcome]
    budget: int
    tried: dict[Groups, AttemptOutcome] = field(default_factory=dict)
    refused: dict[Groups, str] = field(default_factory=dict)

    def refusal(self, without: Groups) -> str:
        """Why the configuration without some groups loses a feature; empty when it does not."""
        if without not in self.refused:
            self.refused[without] = self.configures(without)
        return self.refused[without]

    def failure(self, without: Groups) -> str:
        """Why the kernel without some groups does not count; empty when it does.

        :raises _SpentError: when it would have to be built beyond the budget.
        """
        if why := self.refusal(without):
            return why
        if without not in self.tried:
            if len(self.tried) >= self.budget:
                raise _SpentError
            self.tried[without] = self.kernel(without)
        outcome = self.tried[without]
        return "" if outcome.counts else outcome.why or "it did not come up"


def minimise(
    groups: Sequence[str], configures: Callable[[Groups], str], kernel: Callable[[Groups], AttemptOutcome], budget: int
) -> Minimised:
    """Find the groups that a kernel can do without.

    :param groups: their names, the most harmless first.
    :param configures: why the configuration without some groups loses a feature; empty when it does not. Cheap.
    :param kernel: builds and boots the kernel without some groups. Expensive.
    :param budget: the number of builds; at least 1.

    >>> def boots(without):
    ...     return AttemptOutcome(Stage.BOOT, 100 - 10 * len(without), "no console" if "tty" in without else "")
    >>> found = minimise(["tpm", "tty", "xen"], lambda without: "", boots, 8)
    >>> sorted(found.without), found.restored
    (['tpm', 'xen'], {'tty': 'no console'})
    """
    run = _Search(configures, kernel, budget)
    restored: dict[str, str] = {}
    trouble = ""
    complete = True
    try:
        left, trouble = _settle(list(groups), run.refusal, restored)
        if not trouble:
            left, trouble = _settle(left, run.failure, restored)
        without = None if trouble else frozenset(left)
    except _SpentError:
        complete = False
        counted = [each for each, outcome in run.tried.items() if outcome.counts]
        without = max(counted, key=len) if counted else None
        left = list(groups) if without is None else [name for name in groups if name in without]
    for name in groups:
        if without is not None and name not in without and name not in restored:
            restored[name] = "the budget ended before it was decided"
    return Minimised(without, run.tried, restored, complete, trouble)


def _settle(
    groups: list[str], failure: Callable[[Groups], str], restored: dict[str, str]
) -> tuple[list[str], str]:  # fmt: skip
    """Give groups back until nothing fails; also why nothing else can be tried, where all of them do not help."""
    left = list(groups)
    # Without the first so many all is well; what was bisected need not be bisected again.
    well = 0
    while why := failure(frozenset(left)):
        if not left:
            return left, why
        low, high = well, len(left)
        while high - low > 1:
            middle = (low + high) // 2
            if other := failure(frozenset(left[:middle])):
                high, why = middle, other
            else:
                low = middle
        if high == 1 and well == 0 and (trouble := failure(frozenset())):
            # It is none of the groups: what all kernels share fails.
            return left, trouble
        restored[left.pop(high - 1)] = why
        well = high - 1
    return left, ""

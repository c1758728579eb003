"""Figures of a case: how many things were expected, and how many came out right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Figure(StrEnum):
    """What is scored."""

    BOOTS = "boots"
    """Records whose boots were split rightly."""
    USERSPACE = "userspace"
    """Boots whose first instruction of userspace is within 1 %, within stated bounds, or unknown."""
    USERSPACE_KNOWN = "userspace known"
    """Boots whose record has the kernel's line of it, and which have the instant."""
    USERSPACE_SURE = "userspace to 1 %"
    """Boots whose record has the kernel's line of it, and shows the instant to 1 %."""
    INITCALLS = "initcalls"
    """Initcalls with both messages that were found, and whose grade keeps what it promises."""
    GRADED = "initcalls with a figure"
    """Initcalls with both messages that are graded better than doubtful."""
    PROBES = "probes"
    DEFERRALS = "deferrals"
    MARKS = "marks"
    GAPS = "gaps"
    """The five longest silences of the record."""
    LENGTH = "length"
    """Boots whose total lies between the span of the kernel's messages and that of all lines by the host's clock."""
    MESSAGES = "messages"
    """Messages that the record shows undamaged, with their text and time."""


@dataclass
class Tally:
    """Right ones of expected ones, for each figure; and what was wrong, in words."""

    right: Counter[Figure] = field(default_factory=Counter)
    expected: Counter[Figure] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def count(self, figure: Figure, outcomes: Iterable[tuple[bool, str]]) -> None:
        """Count outcomes: whether right, and what to print of one that is not."""
        for is_right, words in outcomes:
            self.expected[figure] += 1
            self.right[figure] += is_right
            if not is_right:
                self.faults.append(f"{figure}: {words}")

    def add(self, other: Tally) -> None:
        """Add the counts of another case."""
        self.right.update(other.right)
        self.expected.update(other.expected)
        self.faults += other.faults

    def shares(self) -> Mapping[Figure, float]:
        """The share of right ones, for each figure of which any was expected.

        >>> tally = Tally()
        >>> tally.count(Figure.MARKS, [(True, ""), (False, "user_start is missing")])
        >>> dict(tally.shares()), tally.faults
        ({<Figure.MARKS: 'marks'>: 0.5}, ['marks: user_start is missing'])
        """
        return {name: self.right[name] / self.expected[name] for name in Figure if self.expected[name]}

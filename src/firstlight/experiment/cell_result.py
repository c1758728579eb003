"""The boots of one cell of an experiment, what they measured, and which do not count and why."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from firstlight.analysis.mark_interval import IntervalMeasurement


@dataclass(frozen=True)
class OneBoot:
    """One boot of a cell."""

    repeat: int
    path: Path
    measured: IntervalMeasurement | None
    """`None`: it is not there, or does not count."""
    excluded: str | None
    """Why it does not count."""
    recorded: bool = True
    """Whether it was booted at all."""


@dataclass(frozen=True)
class CellResult:
    """One cell of an experiment."""

    name: str
    directory: str
    levels: dict[str, str]
    key: str
    boots: list[OneBoot]
    problem: str | None = None

    @property
    def counted(self) -> list[IntervalMeasurement]:
        """What the boots measured that count."""
        return [boot.measured for boot in self.boots if boot.measured is not None]

    @property
    def time(self) -> Fraction | None:
        """The mean time in nanoseconds, exactly; of one boot its time."""
        return mean([each.time_ns for each in self.counted])

    @property
    def instructions(self) -> Fraction | None:
        """The mean count of instructions, exactly."""
        return mean([each.instructions for each in self.counted])

    @property
    def idle(self) -> Fraction | None:
        """The mean idle time in nanoseconds, exactly."""
        return mean([each.idle_ns for each in self.counted])

    @property
    def why_not(self) -> str | None:
        """Why there is no figure; `None` when there is one."""
        if self.counted:
            return None
        if self.problem is not None:
            return self.problem
        reasons = [boot.excluded for boot in self.boots if boot.excluded is not None]
        return reasons[0] if reasons else "not booted yet"


def mean(figures: list[int | None]) -> Fraction | None:
    """The mean of whole figures as a fraction; `None` when there are none, or one is unknown.

    >>> mean([1, 2]), mean([3]), mean([])
    (Fraction(3, 2), Fraction(3, 1), None)
    """
    known = [figure for figure in figures if figure is not None]
    return Fraction(sum(known), len(known)) if known and len(known) == len(figures) else None

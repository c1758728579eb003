"""A tuning: what was tried, kept and rejected, as stored in its directory."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from pydantic import Field, ValidationError

from firstlight.advise.entry import Layer
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.result import Health, HealthOutcome
from firstlight.advise.tuning.goal import Goal
from firstlight.advise.tuning.kconfig.result import KernelSearch
from firstlight.advise.tuning.remedy import Remedy
from firstlight.advise.tuning.search import SearchStep
from firstlight.advise.tuning.shares import RemedyShares
from firstlight.atomic import atomic_write
from firstlight.errors import MISSING_INPUT, FirstlightError
from firstlight.frozen import FrozenModel

FILE = "tuning.json"
VERSION = 1


class TriedChoice(FrozenModel):
    """One measurement."""

    remedies: tuple[str, ...]
    step: SearchStep
    time_ns: int | None
    why: str = ""
    """Why it does not count."""

    @property
    def counts(self) -> bool:
        """Whether it came up, reached the goal and is healthy."""
        return self.time_ns is not None and not self.why


class PhaseChange(FrozenModel):
    """One phase before and after."""

    phase: str
    before_ns: int
    after_ns: int


class CheckResult(FrozenModel):
    """One health check of the result."""

    id: CheckId
    title: str
    outcome: HealthOutcome
    detail: str
    differences: tuple[str, ...]


class Tuning(FrozenModel):
    """The result of a tuning; the same on every run."""

    version: int = VERSION
    recipe: str
    """The recipe's key: what was tuned."""
    command: str
    """The command that records the tuned boot without its remedies."""
    goal: Goal
    allow: tuple[Layer, ...]
    budget: int
    complete: bool
    """Whether the budget sufficed."""
    remedies: tuple[Remedy, ...]
    """The tried remedies."""
    not_applicable: dict[str, str] = Field(default_factory=dict)
    """Why a remedy was not tried, by its name."""
    trials: tuple[TriedChoice, ...]
    kept: tuple[str, ...]
    rejected: dict[str, str]
    shares: RemedyShares | None
    phases: tuple[PhaseChange, ...]
    health: tuple[CheckResult, ...]
    kernel: KernelSearch | None = None
    """What the search for a kernel tried, where there was one."""

    def time(self, choice: Collection[str]) -> int | None:
        """The time of a choice, if it was measured and counts."""
        wanted = set(choice)
        found = next((each for each in self.trials if set(each.remedies) == wanted), None)
        return found.time_ns if found is not None and found.counts else None

    @property
    def before_ns(self) -> int | None:
        """The time of the baseline."""
        return self.time(())

    @property
    def after_ns(self) -> int | None:
        """The time with the kept remedies."""
        return self.time(self.kept)

    def remedy(self, name: str) -> Remedy:
        """A remedy by its name."""
        return next(each for each in self.remedies if each.id == name)

    def risk(self, choice: Collection[str]) -> int:
        """The sum of the risks of some remedies: 1 for each low one, 2 medium, 3 high."""
        return sum(self.remedy(name).risk.weight for name in choice)

    def pareto(self) -> list[TriedChoice]:
        """The choices that no other one beats in time, number of remedies and risk together; the fastest first."""
        counted = [each for each in self.trials if each.counts and each.time_ns is not None]
        figures = [((each.time_ns or 0), len(each.remedies), self.risk(each.remedies)) for each in counted]
        best = [
            each
            for each, mine in zip(counted, figures, strict=True)
            if not any(all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in figures)
        ]
        return sorted(best, key=lambda each: (each.time_ns or 0, len(each.remedies), each.remedies))


def checks_of(health: Health) -> tuple[CheckResult, ...]:
    """Health checks as they are stored."""
    return tuple(
        CheckResult(
            id=check.id,
            title=check.title,
            outcome=check.outcome,
            detail=check.detail,
            differences=tuple(each.text for each in check.differences),
        )
        for check in health.checks
    )


def write_tuning(tuning: Tuning, directory: Path) -> None:
    """Store a tuning in its directory.

    :raises FirstlightError: when it cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"cannot make the directory: {error.strerror}", where=str(directory)) from error
    with atomic_write(directory / FILE) as file:
        file.write_text(json.dumps(tuning.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")


def read_tuning(directory: Path) -> Tuning:
    """Read a tuning from its directory.

    :raises FirstlightError: when there is none, or it is damaged.
    """
    path = directory / FILE
    try:
        return Tuning.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FirstlightError(
            "there is no tuning here", where=str(directory), hint="`firstlight tune RECIPE -o DIR` makes one",
            exit_code=MISSING_INPUT,
        ) from error  # fmt: skip
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise FirstlightError("the tuning is damaged", where=str(path), hint="run `firstlight tune` again") from error

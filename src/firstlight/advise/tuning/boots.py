"""Measures choices of remedies by booting them: cached, in parallel, checked for health."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from firstlight.advise.health.health import check_health
from firstlight.advise.health.result import HealthDifference
from firstlight.advise.tuning.apply import apply_remedies
from firstlight.advise.tuning.goal import Goal, goal_time
from firstlight.advise.tuning.remedy import Remedy
from firstlight.advise.tuning.search import Choice, Measured
from firstlight.bundle.boot import Boot
from firstlight.bundle.command_line import UNREAD
from firstlight.bundle.open import open
from firstlight.errors import FirstlightError
from firstlight.experiment import boot_cache
from firstlight.experiment.parallel import side_by_side
from firstlight.experiment.plan import Build
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.run.resolve import resolve
from firstlight.quantities import time_text
from firstlight.recipe.options import RecordOptions

_TIMEOUT_FACTOR = 4
"""A boot with remedies may take so many times the virtual time of the baseline before it counts as failed."""
_LEAST_TIMEOUT_S = 20.0
_WALL_S = 60.0
"""Without a profile nothing sees the virtual time. Such a boot may take so long on the host, ..."""
_WALL_S_PER_VIRTUAL_S = 45.0
"""... and so much more for each second of the baseline's virtual time: five times what an instruction takes at most."""
_LONGEST = 160


@dataclass
class Bench:
    """Boots choices of remedies of one recipe."""

    options: RecordOptions
    baseline: Path
    """The boot of the recipe itself."""
    goal: Goal
    remedies: Mapping[str, Remedy]
    folder: Path
    """Where relative paths of the remedies begin."""
    build: Build | None
    jobs: int
    progress: Progress
    known: dict[Choice, Measured] = field(default_factory=dict)
    """Measured before, by an earlier run."""
    kernel: Path | None = None
    """Another kernel than that of the baseline, for every choice."""
    stated: Sequence[str] = ()
    """Differences of health that this kernel states."""

    def measure(self, choices: Sequence[Choice]) -> list[Measured]:
        """Measure choices in parallel; a boot that fails is a result, too."""
        found: dict[Choice, Measured] = {}
        lock = threading.Lock()

        def one(choice: Choice) -> None:
            measured = self.known.get(choice) or self._measure(choice)
            with lock:
                found[choice] = measured
                self.progress.note(f"{_said(choice)}: {_result(measured)}")

        side_by_side(one, choices, self.jobs, threading.Event())
        self.known.update(found)
        return [found[choice] for choice in choices]

    def boot_of(self, choice: Choice, *, profile: bool = True) -> Path:
        """The boot of a choice, from the cache or booted again.

        :param profile: whether it has a profile; its virtual time is the same without, and it boots faster.
        :raises FirstlightError: when it cannot be booted.
        """
        if not choice and self.kernel is None:
            return self.baseline
        options = replace(self.options_of(choice), profile=profile)
        if not profile:
            options = replace(options, timeout_wall_s=min(options.timeout_wall_s, self._wall_timeout_s()))
        return boot_cache.obtain(options, resolve(options, SilentProgress()), SilentProgress())[0]

    def options_of(self, choice: Choice) -> RecordOptions:
        """The recipe with the remedies of a choice.

        :raises FirstlightError: when they cannot be applied.
        """
        chosen = [self.remedies[name] for name in self.remedies if name in choice]
        recipe = self.options if self.kernel is None else replace(self.options, kernel=self.kernel)
        options = apply_remedies(recipe, chosen, self.folder, self.build, SilentProgress())
        return (
            options
            if self.options.timeout_virtual_s is None
            else replace(options, timeout_virtual_s=min(self.options.timeout_virtual_s, self._timeout_s()))
        )

    def expected(self, choice: Choice) -> list[str]:
        """The differences of health that the remedies of a choice state."""
        return [*self.stated, *(pattern for name in choice for pattern in self.remedies[name].expects)]

    def _timeout_s(self) -> float:
        return max(_LEAST_TIMEOUT_S, float(_TIMEOUT_FACTOR * self._whole_seconds()))

    def _wall_timeout_s(self) -> float:
        return _WALL_S + _WALL_S_PER_VIRTUAL_S * self._whole_seconds()

    def _whole_seconds(self) -> int:
        """The virtual time of the baseline, rounded up to seconds."""
        return -(-(open(self.baseline).manifest.totals.virtual_ns or 0) // 10**9)

    def _measure(self, choice: Choice) -> Measured:
        try:
            # Only the end of a boot needs no profile.
            return self._evaluate(open(self.boot_of(choice, profile=self.goal is not Goal.READY)), choice)
        except FirstlightError as error:
            return Measured(None, _short(error.message))

    def _evaluate(self, boot: Boot, choice: Choice) -> Measured:
        time = goal_time(boot, self.goal)
        if isinstance(time, str):
            return Measured(None, time)
        if not choice and self.kernel is None:
            return Measured(time)
        unread = boot.fact_values().get(UNREAD)
        before = open(self.baseline)
        if unread and (new := [word for word in unread.split() if word not in before.fact_values().get(UNREAD, "")]):
            return Measured(time, _short(f"the kernel does not know `{new[0]}`"))
        health = check_health(boot, before, self.expected(choice))
        if health.failed:
            check = health.failed[0]
            worst = next((each for each in check.differences if not each.expected), HealthDifference("", None, None))
            return Measured(time, _short(f"unhealthy: {check.id} {worst.text}"))
        return Measured(time)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _said(choice: Choice) -> str:
    if not choice:
        return "baseline"
    return "+".join(sorted(choice)) if len(choice) < 3 else f"{len(choice)} remedies"


def _result(measured: Measured) -> str:
    if measured.time_ns is None:
        return measured.why
    return time_text(measured.time_ns) + (f", {measured.why}" if measured.why else "")

"""The rules of a gate: soft limits, hard limits, and a budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from firstlight.analysis.processes.sums import UserspaceKind
from firstlight.bundle.older import phase_among
from firstlight.errors import BundleError, UsageError
from firstlight.frozen import FrozenModel
from firstlight.quantities import time_text
from firstlight.suggest import unknown_name
from firstlight.toml import Duration, Percent, read_toml

#: Without rules the total of noisy boots may grow by so many percent; that of an exact boot by its noise band.
DEFAULT_NOISY_SOFT = 2.0

#: The row of a budget for every phase that has no allowance of its own.
OTHERS = "[other phases]"


class GateLimits(FrozenModel):
    """What one quantity may not exceed."""

    soft: Percent | None = Field(None, description="percent above the baseline")
    hard: Duration | None = Field(None, description="nanoseconds, independent of the baseline")
    floor: Duration = Field(0, description="a smaller growth never counts against the soft limit")

    @model_validator(mode="before")
    @classmethod
    def _is_a_table(cls, value: object) -> object:
        if isinstance(value, Mapping | cls):
            return value
        raise ValueError('write limits as a table, such as { soft = "1 %" } or { hard = "1.7 s" }')


class Budget(FrozenModel):
    """What the whole may take, and each phase of it."""

    goal: Duration = Field(description="the whole boot")
    phases: dict[str, Duration] = Field(default_factory=dict, description="an allowance for each phase named")

    @model_validator(mode="after")
    def _sums(self) -> Budget:
        spent = sum(self.phases.values())
        if spent > self.goal:
            over = time_text(spent - self.goal)
            raise ValueError(f"the allowances come to {time_text(spent)}, {over} more than the goal")
        return self

    def for_phases(self, known: Collection[str]) -> Budget:
        """The budget for boots with these phases: names of earlier schema versions are the present ones."""
        return self.model_copy(update={"phases": {phase_among(name, known): ns for name, ns in self.phases.items()}})

    @property
    def others(self) -> int:
        """What is left for the phases without an allowance, in nanoseconds: allowances add up to the goal."""
        return self.goal - sum(self.phases.values())


class HealthRule(FrozenModel):
    """What must hold beside the times."""

    new_warnings: Literal["tell", "fail"] = Field("tell", description="warnings of the kernel that the baseline lacks")
    failed_units: Literal["tell", "fail"] = Field("fail", description="units of systemd that the baseline has not")


class Rules(FrozenModel):
    """All rules of a gate.

    >>> Rules.model_validate({"total": {"soft": "1 %", "hard": "1.7 s"}}).total.hard
    1700000000
    """

    total: GateLimits = Field(default_factory=GateLimits)
    every_phase: GateLimits = Field(default_factory=GateLimits, description="for phases that have no rule of their own")
    phase: dict[str, GateLimits] = Field(default_factory=dict)
    every_process: GateLimits = Field(default_factory=GateLimits, description="for all processes of each program")
    process: dict[str, GateLimits] = Field(default_factory=dict, description="by program")
    every_service: GateLimits = Field(default_factory=GateLimits, description="for the processes of each unit")
    service: dict[str, GateLimits] = Field(default_factory=dict)
    every_system_call: GateLimits = Field(default_factory=GateLimits, description="for the kernel's part of each call")
    system_call: dict[str, GateLimits] = Field(default_factory=dict)
    every_package: GateLimits = Field(default_factory=GateLimits, description="for the programs of each package")
    package: dict[str, GateLimits] = Field(default_factory=dict)
    every_user_function: GateLimits = Field(
        default_factory=GateLimits, description="for each function of user mode, of boots with `--user-functions`"
    )
    user_function: dict[str, GateLimits] = Field(default_factory=dict)
    budget: Budget | None = None
    health: HealthRule = Field(default_factory=HealthRule)

    @model_validator(mode="after")
    def _floors(self) -> Rules:
        """A floor belongs to a soft limit, which only the total has without a rule."""
        for name in type(self).model_fields:
            rule = getattr(self, name)
            limits = {name: rule} if isinstance(rule, GateLimits) else rule if isinstance(rule, dict) else {}
            for key, each in limits.items():
                if name != "total" and each.floor and each.soft is None:
                    where = name if key == name else f"{name}.{key}"
                    raise ValueError(f'`{where}`: a floor without a soft limit checks nothing; add `soft = "1 %"`')
        return self

    def for_phase(self, phase: str) -> GateLimits:
        """The limits of a phase."""
        return self.phase.get(phase, self.every_phase)

    def for_userspace(self, kind: UserspaceKind) -> tuple[GateLimits, dict[str, GateLimits]]:
        """The limits of every name of a kind, and those of named ones.

        >>> rules = Rules.model_validate({"process": {"systemd-udevd": {"soft": "2 %"}}})
        >>> [*rules.for_userspace(UserspaceKind.PROCESS)[1]]
        ['systemd-udevd']
        """
        every: GateLimits = getattr(self, f"every_{kind}")
        named: dict[str, GateLimits] = getattr(self, str(kind))
        return every, named

    def for_phases(self, known: Collection[str], where: str) -> Rules:
        """The rules for boots with these phases: names of earlier schema versions are the present ones.

        :raises UsageError: naming a phase that there is not, and the nearest.

        >>> rules = Rules.model_validate({"phase": {"user_land": {"soft": "1 %"}}})
        >>> [*rules.for_phases(["kernel", "userspace"], "gate.toml").phase]
        ['userspace']
        """
        found = self.model_copy(
            update={
                "phase": {phase_among(name, known): limits for name, limits in self.phase.items()},
                "budget": None if self.budget is None else self.budget.for_phases(known),
            }
        )
        found._check_phases(known, where)
        return found

    def _check_phases(self, known: Collection[str], where: str) -> None:
        for phase in (*self.phase, *(self.budget.phases if self.budget else ())):
            try:
                unknown_name("phase", phase, known, where, listed=None)
            except BundleError as error:
                raise UsageError(error.message, where=where, hint=error.hint) from error


def read_rules(path: Path | None) -> Rules:
    """Read the rules of a gate; without a file there is one: the total's soft limit.

    :raises UsageError: when the file cannot be read or says what is unknown.
    """
    return Rules() if path is None else read_toml(path, Rules)

"""An experiment as the user writes it down: `docs/reference/formats/experiment.md` is its specification."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from firstlight.analysis.processes.sums import UserspaceKind
from firstlight.experiment.change import PlanSection, RecipeChange
from firstlight.experiment.factor import Factor
from firstlight.experiment.plan_parser import checked, parse_toml, read_text
from firstlight.experiment.requirement import HealthRequirement
from firstlight.recipe.mode import PlanMode, RecordMode
from firstlight.schema.aliases import MARK_ALIASES
from firstlight.schema.marks import Mark

#: An experiment has no more cells.
MOST_CELLS = 1024

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_+][A-Za-z0-9_+. -]{0,39}$")]
"""Of an arm: it names a directory, too."""


class Base(RecipeChange):
    """The recipe that all boots of an experiment share."""

    shift: int = Field(default=0, ge=0, le=10, description="one instruction takes 2^N ns")
    ready: str | None = Field(default=None, description="a console line that ends the boot")
    profile: bool = Field(default=True, description="profile every function")
    timeout_wall: float = Field(default=600.0, gt=0, description="give up after these seconds of the host")
    timeout_virtual: float = Field(default=300.0, ge=0, description="and of the guest; 0: never")
    qemu: str | None = Field(default=None, description="the QEMU to use")


class ArmSpec(RecipeChange):
    """One side of the comparison."""

    name: Name = Field(description="how it is called in tables, and its directory")


class Design(PlanSection):
    """Which combinations of levels are booted."""

    kind: Literal["full", "fractional", "plackett-burman", "one-at-a-time"] = Field(
        default="full", description="full, fractional, plackett-burman or one-at-a-time"
    )
    resolution: int = Field(default=4, ge=3, le=6, description="of a fractional design")
    fold_over: bool = Field(default=True, description="of a Plackett-Burman design: with its mirror image")


MarkName = Annotated[str, AfterValidator(lambda mark: MARK_ALIASES.get(mark, mark))]
"""A mark, which may have the name of an earlier schema version."""


def _check_order(first: str | None, last: str | None) -> None:
    """Refuse two marks of which every boot has the last first."""
    if last is not None and last in (first, Mark.POWER_ON):
        raise ValueError(f"`{last}` is never after `{first or 'the first mark'}`")


class Measure(PlanSection):
    """Between which two marks a boot is measured."""

    first: MarkName | None = Field(default=None, alias="from", description="a mark; default: the first one")
    last: MarkName | None = Field(default=None, alias="to", description="a mark; default: the last one")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        _check_order(self.first, self.last)
        return self


class Stage(PlanSection):
    """One row of the table of stages."""

    name: str = Field(min_length=1, description="the row's name")
    first: MarkName | None = Field(default=None, alias="from", description="a mark")
    last: MarkName | None = Field(default=None, alias="to", description="a mark")
    function: str | None = Field(default=None, description="the total of a function instead")
    initcall: str | None = Field(default=None, description="the duration of an initcall instead")
    process: str | None = Field(default=None, description="what all processes of a program executed instead")
    service: str | None = Field(default=None, description="what the processes of a unit executed instead")
    system_call: str | None = Field(default=None, description="what the kernel executed for a system call instead")
    file: str | None = Field(default=None, description="what it executed for system calls on a path instead")
    package: str | None = Field(default=None, description="what the programs of a package executed instead")
    user_function: str | None = Field(default=None, description="what a function of user mode executed instead")
    of: str | None = Field(default=None, description="a row above: this one is shown as a share of it")

    @model_validator(mode="after")
    def _one(self) -> Self:
        marks = self.first is not None and self.last is not None
        if (self.first is None) != (self.last is None):
            raise ValueError("`from` and `to` go together")
        _check_order(self.first, self.last)
        userspace = [name for kind in UserspaceKind if (name := getattr(self, kind)) is not None]
        if sum((marks, self.function is not None, self.initcall is not None)) + len(userspace) != 1:
            others = ", ".join(f"`{kind.replace('_', '-')}`" for kind in UserspaceKind)
            raise ValueError(f"give one of `from` and `to`, `function`, `initcall`, {others}")
        return self

    @property
    def of_userspace(self) -> tuple[UserspaceKind, str] | None:
        """The kind and the name of what it is of, if that is in user mode."""
        return next(((kind, str(name)) for kind in UserspaceKind if (name := getattr(self, kind)) is not None), None)


class Build(PlanSection):
    """How a kernel is built for a fragment of configuration."""

    command: str = Field(min_length=1, description="run by a shell in `tree`")
    tree: str = Field(description="the kernel's source")
    output: str = Field(default="bzImage", description="the kernel, below the directory that it was built into")
    timeout: float = Field(default=7200, gt=0, description="seconds")


class ExperimentPlan(PlanSection):
    """The whole of it."""

    title: str = Field(default="", description="for people")
    mode: PlanMode = Field(default=RecordMode.EXACT, description="how boots are recorded")
    board: str | None = Field(default=None, description="boot this board instead of QEMU: a board file, or labgrid's")
    warm_up: int | None = Field(default=None, ge=0, le=100, description="of a board: first boots that do not count")
    repeats: int | None = Field(default=None, ge=1, le=1000, description="boots of each cell")
    seed: int | None = Field(
        default=None, ge=0, description="of the random order; default: a random one, which is recorded"
    )
    canary: bool = Field(default=True, description="exact mode: boot the first cell twice, to see that it is exact")
    base: Base = Field(default_factory=Base, description="the recipe that all share")
    arms: list[ArmSpec] = Field(default_factory=list, alias="arm", description="arms, the first one is the baseline")
    factors: list[Factor] = Field(default_factory=list, alias="factor", description="or factors")
    design: Annotated[Design, BeforeValidator(lambda value: {"kind": value} if isinstance(value, str) else value)] = (
        Field(default_factory=Design, description="which combinations are booted")
    )
    measure: Measure = Field(default_factory=Measure, description="between which marks")
    stages: list[Stage] = Field(default_factory=list, alias="stage", description="rows of the table of stages")
    health: HealthRequirement = Field(default_factory=HealthRequirement, description="what must hold in every boot")
    build: Build | None = Field(default=None, description="how a kernel is built")

    @field_validator("arms", "factors", "stages")
    @classmethod
    def _each_once(cls, parts: list[Any]) -> list[Any]:
        if len(parts) > MOST_CELLS:
            raise ValueError(f"there are {len(parts):,}, {MOST_CELLS:,} are the most")
        names = set()
        for part in parts:
            if part.name in names:
                raise ValueError(f"`{part.name}` exists twice")
            names.add(part.name)
        return parts

    @model_validator(mode="before")
    @classmethod
    def _of_board(cls, data: Any) -> Any:
        """A board has one mode."""
        if isinstance(data, dict) and data.get("board") is not None:
            if data.get("mode", RecordMode.LIVE) != RecordMode.LIVE:
                raise ValueError("boots of a board vary: leave out `mode`")
            return {**data, "mode": RecordMode.LIVE}
        return data

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.board is None and self.warm_up is not None:
            raise ValueError("`warm-up` needs a `board`")
        if self.arms and self.factors:
            raise ValueError("a plan has arms or factors, not both")
        if not self.arms and not self.factors:
            raise ValueError("nothing to compare: give `[[arm]]` or `[[factor]]` tables")
        if len(self.arms) == 1:
            raise ValueError("one arm is not enough: give at least two")
        if self.design.kind in ("fractional", "plackett-burman"):
            for factor in self.factors:
                if len(factor.levels) != 2:
                    raise ValueError(
                        f"a {self.design.kind} design takes factors of two levels; `{factor.name}` has "
                        f"{len(factor.levels)}"
                    )
        names = [stage.name for stage in self.stages]
        for place, stage in enumerate(self.stages):
            if stage.of is not None and stage.of not in names[:place]:
                raise ValueError(f"stage `{stage.name}` is of `{stage.of}`, which is not a stage above it")
        return self

    @property
    def warm_up_boots(self) -> int:
        """How many boots of a board come before those that count: the first ones of a cold board differ."""
        return 0 if self.board is None else 1 if self.warm_up is None else self.warm_up

    @property
    def boots_per_cell(self) -> int:
        """How often each cell is booted: once where boots are exact, else in ten blocks, unless the plan says."""
        return self.repeats if self.repeats is not None else (1 if self.mode == RecordMode.EXACT else 10)


def read_plan(path: Path) -> ExperimentPlan:
    """Read and check a plan.

    :raises PlanError: naming the file, the line, what is wrong there, and the nearest known key.
    """
    return parse_plan(read_text(path), str(path))


def parse_plan(text: str, where: str) -> ExperimentPlan:
    """Read a plan's text.

    :param where: the file, for messages.
    :raises PlanError: as :func:`read_plan`.

    >>> plan = parse_plan('arm = [{name = "a"}, {name = "b", append = "quiet"}]', "x.toml")
    >>> plan.arms[1].append, plan.boots_per_cell
    ('quiet', 1)
    """
    return checked(parse_toml(text, where), ExperimentPlan, text, where)

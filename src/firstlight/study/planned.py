"""Studies that are data: a plan of arms and figures, claims, and tables of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field as ModelField
from pydantic import model_validator

from firstlight.analysis.mark_interval import measure as measure_interval
from firstlight.bundle.boot import Boot
from firstlight.bundle.key import key_of_boot
from firstlight.errors import FirstlightError, LabError, UsageError
from firstlight.frozen import FrozenModel
from firstlight.quantities import Kind, joined
from firstlight.recipe.isa import DEFAULT, architecture_named
from firstlight.recipe.options import RecordOptions
from firstlight.schema.marks import Mark
from firstlight.study.band import noise_band
from firstlight.study.catalogue import Study
from firstlight.study.claims import CLAIMS, claims_of
from firstlight.study.made_of import PLAN
from firstlight.study.outcome import Outcome
from firstlight.study.runner import Lab, StudyArm
from firstlight.study.table import Chart, Field, MissingValue, Series, Table, Value
from firstlight.study.verdicts import Figure, check_texts, derived, relative
from firstlight.toml import parse_checked

BAND_FIGURES = ("band", "band-share")
"""Figures that every planned study has: the width of the noise band, and its share of the baseline."""
_SHARES: tuple[Kind, ...] = ("share", "percent", "share_change", "number")
_UNITS: dict[Kind, tuple[Kind, ...]] = {"time": ("time", "change"), "count": ("count", "count_change", "number")}
"""The units in which a measure can be stated, and its difference."""


class PlannedArm(FrozenModel):
    """One configuration."""

    kernel: Literal["lab", "stock"] = "stock"
    rootfs: Literal["minimal", "debian", "debian-storage"] = "minimal"
    append: str = ModelField("", description="parameters of the kernel's command line")
    memory: str | None = None
    cpu: str | None = None
    root_as: str | None = ModelField(None, description="the kernel mounts a root of this kind by itself")
    guest_commands: tuple[str, ...] = ()


class PlannedMeasure(FrozenModel):
    """A figure of one boot: between two marks, or the total time of a function."""

    first: Mark | None = None
    last: Mark | None = None
    function: str | None = None
    calls: bool = ModelField(False, description="the calls of the function instead of its time")

    @model_validator(mode="after")
    def _one_way(self) -> PlannedMeasure:
        marks = [mark is not None for mark in (self.first, self.last)]
        if any(marks) if self.function is not None else not all(marks):
            raise ValueError("a measure has either `first` and `last`, or `function`")
        if self.calls and self.function is None:
            raise ValueError("`calls` is of a `function`; the time between marks has none")
        if self.first is not None and self.last in (self.first, Mark.POWER_ON):
            raise ValueError(f"`{self.last}` is never after `{self.first}`")
        return self

    @property
    def kind(self) -> Kind:
        """What its values are."""
        return "count" if self.calls else "time"

    def checked(self, values: dict[str, int | MissingValue]) -> dict[str, int | MissingValue]:
        """The figures of all arms; a function that no boot has is not known to take no time: its name may be wrong."""
        if self.function is None or any(value != 0 for value in values.values()):
            return values
        return dict.fromkeys(values, MissingValue(f"no boot has the function `{self.function}`"))

    def of(self, boot: Boot) -> int | MissingValue:
        """The figure, in nanoseconds or calls."""
        try:
            if self.function is None:
                return measure_interval(boot, self.first, self.last).time_ns
            rows = boot.functions().filter(pl.col("function") == self.function)
        except FirstlightError as error:
            return MissingValue(error.message)
        return int(rows["count" if self.calls else "total_ns"].sum())


class PlannedFigure(FrozenModel):
    """A figure of the study: a measure of one arm, or its difference from that of another."""

    measure: str
    arm: str
    minus: str | None = None
    relative: bool = ModelField(False, description="the difference as a share of the other arm")


class StudyPlan(FrozenModel):
    """What a study boots and computes."""

    name: str = ModelField(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    question: str
    baseline: str = ModelField(description="the arm that is perturbed for the noise band")
    architectures: tuple[str, ...] = ModelField(
        (DEFAULT.distribution_name,), description="of guests, that the study covers: `--arch` takes them"
    )
    arm: dict[str, PlannedArm] = ModelField(min_length=1)
    measure: dict[str, PlannedMeasure] = ModelField(min_length=1, description="the first is also the noise band's")
    figure: dict[str, PlannedFigure] = ModelField(default_factory=dict)

    @model_validator(mode="after")
    def _names_known(self) -> StudyPlan:
        arms = {self.baseline, *(name for each in self.figure.values() for name in (each.arm, each.minus) if name)}
        for what, names, known in (
            ("arm", arms, self.arm), ("measure", {each.measure for each in self.figure.values()}, self.measure),
        ):  # fmt: skip
            if unknown := sorted(names - known.keys()):
                raise ValueError(f"there is no {what} `{unknown[0]}`")
        if nowhere := [name for name in self.architectures if architecture_named(name) is None]:
            raise ValueError(f"there is no architecture `{nowhere[0]}`")
        return self

    @model_validator(mode="after")
    def _arms_differ(self) -> StudyPlan:
        """A difference of equal arms is zero by definition: no boot decides it."""
        for name, figure in self.figure.items():
            if figure.minus is not None and self.arm[figure.arm] == self.arm[figure.minus]:
                equal = (
                    f"the arms `{figure.arm}` and `{figure.minus}` have the same boot"
                    if figure.arm != figure.minus
                    else (f"`{figure.arm}` is compared with itself")
                )
                raise ValueError(f"figure `{name}`: {equal}, so it is always 0")
        return self

    @property
    def units(self) -> dict[str, tuple[Kind, ...]]:
        """The units that each figure can be stated in."""
        first, *_ = self.measure.values()
        figures = {
            name: _SHARES if each.relative else _UNITS[self.measure[each.measure].kind]
            for name, each in self.figure.items()
        }
        return figures | dict(zip(BAND_FIGURES, (_UNITS[first.kind], _SHARES), strict=True))

    @property
    def images(self) -> tuple[str, ...]:
        """Of the lab, that its arms boot."""
        lab = ["kernel"] if any(arm.kernel == "lab" for arm in self.arm.values()) else []
        return (*lab, *dict.fromkeys(arm.rootfs for arm in self.arm.values() if arm.rootfs != "minimal"))


@dataclass(frozen=True)
class PlannedStudy(Study):
    """A study whose package has a plan instead of code."""

    @cached_property
    def plan(self) -> StudyPlan:
        """What it boots.

        :raises FirstlightError: when the plan is wrong.
        """
        return read_plan(self.module)

    @property
    def package(self) -> str:
        """Where its claims and the tables of others are."""
        return self.module

    def check_claims(self) -> None:
        """Check that every claim names figures and units of the plan."""
        super().check_claims()
        _check_claims(self.plan, self.package)

    def run(self, lab: Lab) -> Outcome:
        """Boot the arms of the plan, and evaluate the claims."""
        plan = self.plan
        arms = {name: StudyArm(name, _options(lab, arm)) for name, arm in plan.arm.items()}
        boots = lab.boot_all(arms.values())
        if all(isinstance(boot, MissingValue) for boot in boots.values()) and not lab.missing:
            raise LabError("not one arm could be booted")
        values = {
            measure: {arm: derived(each.of, boot) for arm, boot in boots.items()}
            for measure, each in plan.measure.items()
        }
        for measure, each in plan.measure.items():
            values[measure] = each.checked(values[measure])
        first = next(iter(plan.measure))
        band = noise_band(lab, arms[plan.baseline], boots[plan.baseline], plan.measure[first].of)
        keys = {arm: key_of_boot(boot.manifest) for arm, boot in boots.items() if isinstance(boot, Boot)}
        figures: dict[str, Figure] = {name: _figure(each, values, keys) for name, each in plan.figure.items()}
        return self.outcome(
            lab,
            recipe=(),
            tables=(_table(plan, values), band.table()),
            figures={**figures, **dict(zip(BAND_FIGURES, (band.width_ns, band.relative), strict=True))},
            charts=(_chart(plan, first, values[first]),),
        )


def planned_study(package: str) -> PlannedStudy:
    """The study of a package that has a plan, for its entry point.

    :param package: its name; `plan.toml`, `claims.toml` and, if there is one, `historical.toml` are in it.
    :raises FirstlightError: when the plan is wrong.

    Example: ``STUDY = planned_study(__name__)``.
    """
    plan = read_plan(package)
    return PlannedStudy(plan.name, plan.title, plan.question, plan.images, package, architectures=plan.architectures)


def read_plan(package: str) -> StudyPlan:
    """The plan of a package.

    :raises FirstlightError: naming what is wrong.
    """
    file = resources.files(package).joinpath(PLAN)
    return parse_checked(file.read_text(encoding="utf-8"), StudyPlan, f"{package}/{PLAN}")


def _check_claims(plan: StudyPlan, package: str) -> None:
    """Check before anything boots that the plan has every figure that a claim names, in the claim's unit.

    :raises UsageError: naming the claim and the figure.
    """
    units = plan.units
    claims = claims_of(package)
    for claim in claims:
        for name in filter(None, (claim.figure, claim.band)):
            if name not in units:
                raise UsageError(
                    f"the claim `{claim.id}` names the figure `{name}`, which `{PLAN}` does not define",
                    where=f"{package}/{CLAIMS}", hint=f"it has {joined(list(units), 8)}",
                )  # fmt: skip
            if claim.unit not in units[name]:
                raise UsageError(
                    f"the claim `{claim.id}` has the unit `{claim.unit}`, which its figure `{name}` does not have",
                    where=f"{package}/{CLAIMS}", hint=f"give {joined(units[name], 8, ' or ')}",
                )  # fmt: skip
    check_texts(claims, units)


def _options(lab: Lab, arm: PlannedArm) -> RecordOptions | MissingValue:
    kernel = lab.image("kernel") if arm.kernel == "lab" or not lab.stock else None
    rootfs = None if arm.rootfs == "minimal" else lab.image(arm.rootfs)
    for made in (kernel, rootfs):
        if isinstance(made, MissingValue):
            return made
    assert not isinstance(kernel, MissingValue)
    return RecordOptions(
        Path("arm.boot"), kernel=kernel, rootfs=None if rootfs is None else str(rootfs), append=arm.append,
        memory=arm.memory, cpu=arm.cpu, root_as=arm.root_as, guest_commands=arm.guest_commands,
    )  # fmt: skip


def _figure(figure: PlannedFigure, values: dict[str, dict[str, int | MissingValue]], keys: Mapping[str, str]) -> Figure:
    """What it is; missing where both of its arms have the same inputs, because that difference is not a result.

    :param keys: of the boots, by arm.
    """
    own = values[figure.measure][figure.arm]
    if figure.minus is None:
        return own
    if figure.arm in keys and keys[figure.arm] == keys.get(figure.minus):
        return MissingValue(f"the arms `{figure.arm}` and `{figure.minus}` have the same inputs: they are one boot")
    other = values[figure.measure][figure.minus]
    return relative(own, other) if figure.relative else derived(lambda one, two: one - two, own, other)


def _table(plan: StudyPlan, values: dict[str, dict[str, int | MissingValue]]) -> Table:
    fields = (Field("Arm"), *(Field(name, each.kind) for name, each in plan.measure.items()))
    rows: list[tuple[Value, ...]] = [(arm, *(values[name][arm] for name in plan.measure)) for arm in plan.arm]
    return Table("arms", "Measures by arm", fields, tuple(rows))


def _chart(plan: StudyPlan, name: str, values: dict[str, int | MissingValue]) -> Chart:
    points = tuple((arm, value) for arm, value in values.items() if isinstance(value, int))
    return Chart("arms", plan.title, "bars", "arm", name, plan.measure[name].kind, (Series(name, points),))

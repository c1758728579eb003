"""A plan of scaling: `docs/reference/commands/scale.md` is its specification."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from firstlight.experiment.change import PlanSection, RecipeChange
from firstlight.experiment.plan import Base, ExperimentPlan, Measure, Name
from firstlight.experiment.plan_parser import PlanError, checked, parse_toml
from firstlight.experiment.scaling.template import substitute_all
from firstlight.recipe.mode import PlanMode, RecordMode
from firstlight.stats.scaling.analysis import LEAST_SIZES

Size = Annotated[int, Field(ge=0, le=1_000_000)]


class Geometric(PlanSection):
    """Sizes of which each is a multiple of the one before."""

    first: int = Field(alias="from", ge=1, le=1_000_000, description="the smallest")
    last: int = Field(alias="to", ge=1, le=1_000_000, description="the largest")
    factor: float = Field(default=2.0, ge=1.05, le=100, description="each over the one before")
    zero: bool = Field(default=False, description="size 0, too")

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.last < self.first:
            raise ValueError("`to` is smaller than `from`")
        return self

    def sizes(self) -> list[int]:
        """All of them, each once.

        >>> Geometric(first=1, last=10, factor=2.0).sizes()
        [1, 2, 4, 8, 10]
        """
        found = [0] if self.zero else []
        size = float(self.first)
        while size < self.last:
            found.append(round(size))
            size *= self.factor
        return sorted({*found, self.last})


def _sizes_given(given: object) -> str | None:
    """How a plan has its sizes; in brackets, because it is no key of the plan."""
    if isinstance(given, list):
        return "[list]"
    return "[table]" if isinstance(given, (dict, Geometric)) else None


Sizes = Annotated[
    Annotated[list[Size], Tag("[list]")] | Annotated[Geometric, Tag("[table]")],
    Discriminator(
        _sizes_given,
        custom_error_type="sizes",
        custom_error_message="give a list of whole numbers, or a table with `from` and `to`",
    ),
]


class Configuration(RecipeChange):
    """One of several ways to do the same, each with a law of its own."""

    name: Name = Field(description="how it is called in tables")
    each: dict[str, Any] | None = Field(default=None, description="instead of the plan's `[each]`")


class Each(PlanSection):
    """What is added once for each of the size; `{i}` counts from 0."""

    append: str = Field(default="", description="parameters of the kernel's command line")
    qemu_options: list[str] = Field(default_factory=list, description="arguments of QEMU")
    guest_command: str = Field(default="", description="lines for the guest's shell")
    files: dict[str, Any] = Field(default_factory=dict, description="files of the guest, by path")


class ScalePlan(PlanSection):
    """The whole of it; texts of the recipe may hold `{n}`."""

    title: str = Field(default="", description="for people")
    variable: str = Field(default="n", pattern=r"^[a-z]{1,20}$", description="what the size is called in texts")
    unit: str = Field(default="", max_length=40, description="what a size counts, for people")
    sizes: Sizes = Field(description="numbers, or {from, to, factor, zero}")
    mode: PlanMode = Field(default=RecordMode.EXACT, description="how boots are recorded")
    repeats: int = Field(default=1, ge=1, le=100, description="boots of each size, in live mode")
    seed: int | None = Field(default=None, ge=0, description="of the random order in live mode")
    canary: bool = Field(default=True, description="exact mode: boot the first size twice, to see that it is exact")
    parts: Literal[
        "phases",
        "functions",
        "initcalls",
        "processes",
        "services",
        "system_calls",
        "files",
        "packages",
        "user_functions",
    ] = Field(default="phases", description="what the cost is split into")
    base: dict[str, Any] = Field(default_factory=dict, description="the recipe, as of an experiment")
    each: dict[str, Any] = Field(default_factory=dict, description="added once for each of the size")
    configurations: list[dict[str, Any]] = Field(default_factory=list, alias="configuration")
    measure: Measure = Field(default_factory=Measure, description="between which marks")
    predict: list[Size] = Field(default_factory=list, description="sizes whose cost is to be predicted")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.variable == "i":
            raise ValueError("`i` counts within `[each]`: call the size something else")
        if len(set(self.all_sizes())) < LEAST_SIZES:
            raise ValueError(f"give at least {LEAST_SIZES} different sizes, better 8, each twice the one before")
        if self.mode == RecordMode.LIVE and self.repeats == 1:
            raise ValueError("in live mode every size is booted several times: give `repeats`")
        if self.mode == RecordMode.EXACT and self.repeats > 1:
            raise ValueError("an exact boot is the same every time: leave `repeats` out")
        if self.parts not in ("phases", "initcalls") and (self.measure.first or self.measure.last):
            what = self.parts.replace("_", " ")
            raise ValueError(f"{what} are counted over the entire boot: leave `[measure]` out, or ask for `phases`")
        return self

    def all_sizes(self) -> list[int]:
        """The sizes, ascending."""
        return self.sizes.sizes() if isinstance(self.sizes, Geometric) else sorted(set(self.sizes))

    def names(self) -> list[str]:
        """The configurations; one without a name where the plan has none."""
        return [str(each.get("name", "")) for each in self.configurations] or [""]


def parse_scale_plan(text: str, where: str) -> ScalePlan:
    """Read the text of a plan of scaling. Every size is put in once, to report mistakes before anything boots.

    :param where: the file, for messages.
    :raises PlanError: when it cannot be read or has an unknown key; the hint names the nearest.
    """
    plan = checked(parse_toml(text, where), ScalePlan, text, where)
    for number, name in enumerate(plan.names()):
        for size in plan.all_sizes():
            expand(plan, number, name, size, text, where)
    return plan


def expand(plan: ScalePlan, number: int, name: str, size: int, text: str, where: str) -> RecipeChange:
    """What one configuration changes at one size, with the size put in.

    :param number: of the configuration.
    :raises PlanError: when a text or a field cannot be.
    """
    values = {plan.variable: size}
    try:
        base = substitute_all(plan.base, values)
        given = plan.configurations[number] if plan.configurations else {}
        repeated = given.get("each", plan.each)
        own = substitute_all({key: value for key, value in given.items() if key != "each"}, values)
        once = [substitute_all(repeated, {**values, "i": each}) for each in range(size if repeated else 0)]
    except ValueError as error:
        raise PlanError(str(error), where=where) from error
    checked(base, Base, text, where, "base")
    if own:
        checked(own, Configuration, text, where, "configuration")
    parts = [checked(each, Each, text, where, "each") for each in once]
    checked(repeated, Each, text, where, "each")
    change = {key: value for key, value in own.items() if key != "name"}
    words = [str(change.get("append", "")), *(each.append for each in parts)]
    change["append"] = " ".join(filter(None, words))
    change["qemu-options"] = [
        *change.get("qemu-options", []),
        *(word for each in parts for word in each.qemu_options),
    ]
    commands = [str(change.get("guest-command", "")), *(each.guest_command for each in parts)]
    change["guest-command"] = "\n".join(filter(None, commands))
    change["files"] = {
        **change.get("files", {}),
        **{path: file for each in parts for path, file in each.files.items()},
    }
    return checked(change, RecipeChange, text, where, "each")


def experiment_of(plan: ScalePlan, sizes: dict[str, list[int]], text: str, where: str) -> ExperimentPlan:
    """The experiment that boots sizes of configurations: every one is an arm, and its base has no size in it.

    :param sizes: by the name of the configuration.
    """
    arms = []
    for number, name in enumerate(plan.names()):
        for size in sizes.get(name, []):
            base = checked(substitute_all(plan.base, {plan.variable: size}), Base, text, where, "base")
            change = expand(plan, number, name, size, text, where)
            arms.append({"name": arm_name(plan, name, size), **_merged(base, change)})
    shared = {key: value for key, value in plan.base.items() if key in _SHARED}
    data = {
        "title": plan.title,
        "mode": plan.mode,
        "repeats": None if plan.mode == RecordMode.EXACT else plan.repeats,
        "seed": plan.seed,
        "canary": plan.canary,
        "base": shared,
        "arm": arms,
        "measure": plan.measure.model_dump(by_alias=True),
    }
    return checked(data, ExperimentPlan, text, where)


#: Of the base what no arm may change, and holds no size.
_SHARED = ("shift", "ready", "profile", "timeout-wall", "timeout-virtual", "qemu")


def arm_name(plan: ScalePlan, name: str, size: int) -> str:
    """The arm of a configuration at a size."""
    return f"{name} {plan.variable} {size}".strip()


def _merged(base: Base, change: RecipeChange) -> dict[str, Any]:
    from firstlight.experiment.change import combine

    merged = combine(RecipeChange(**{name: getattr(base, name) for name in RecipeChange.model_fields}), change)
    return merged.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)

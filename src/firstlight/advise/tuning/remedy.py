"""Remedies that the lab can apply: each is a difference of recipes, so undoing it is leaving it out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from firstlight.advise.entry import Layer
from firstlight.advise.health.check_id import DifferencePattern
from firstlight.errors import UsageError
from firstlight.experiment.change import FileChange, Kconfig, PlanSection, RecipeChange, combine
from firstlight.experiment.plan import Build
from firstlight.experiment.plan_parser import PlanError, checked, parse_toml, read_text
from firstlight.quantities import parse_size, size_text
from firstlight.suggest import nearest

_SHIPPED = "remedies.toml"


class Risk(StrEnum):
    """How much a remedy takes away."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def weight(self) -> int:
        """For sums over several remedies."""
        return list(Risk).index(self)


#: What a remedy of a layer may change; files belong to the root file system or the initramfs.
_ALLOWED = {
    Layer.CMDLINE: {"append"},
    Layer.KCONFIG: {"kconfig"},
    Layer.INITRAMFS: {"initramfs_files", "initrd"},
    Layer.ROOTFS: {"files", "rootfs"},
    Layer.MACHINE: {"cpu", "machine", "memory", "qemu_options", "kernel"},
}


def _key(name: str) -> str:
    """A field of a change as a file of remedies spells it.

    >>> _key("guest_command")
    'guest-command'
    """
    return RecipeChange.model_fields[name].alias or name


class Remedy(PlanSection):
    """One remedy."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{0,40}$", description="its name")
    title: str = Field(description="what it does")
    layer: Annotated[Layer, BeforeValidator(Layer)] = Field(description="where it changes the recipe")
    change: RecipeChange = Field(default_factory=RecipeChange, description="the difference of recipes")
    mask: list[str] = Field(default_factory=list, description="units of systemd that are masked")
    no_generators: list[str] = Field(default_factory=list, description="generators of systemd that do not run")
    risk: Annotated[Risk, BeforeValidator(Risk)] = Field(description="how much it takes away")
    takes_away: str = Field(description="what it takes away, in one sentence")
    functions: list[str] = Field(
        default_factory=list, description="it applies if the baseline called one of these for a millisecond or longer"
    )
    systemd: bool = Field(default=False, description="it applies to systems with systemd only")
    facts: dict[str, str] = Field(
        default_factory=dict, description="it applies if these facts of the baseline match these patterns as a whole"
    )
    waits: list[str] = Field(default_factory=list, description="waits that it shares with other remedies, by name")
    expects: list[DifferencePattern] = Field(
        default_factory=list, description="differences of health that it states, as patterns of `CHECK SUBJECT`"
    )

    @field_validator("facts")
    @classmethod
    def _patterns(cls, facts: dict[str, str]) -> dict[str, str]:
        for name, pattern in facts.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"`{pattern}` of `{name}` is not a regular expression: {error}") from error
        return facts

    @field_validator("mask", "no_generators")
    @classmethod
    def _names(cls, names: list[str]) -> list[str]:
        for name in names:
            if "/" in name or not name.strip("."):
                raise ValueError(f"`{name}` is not the name of a unit or generator")
        return names

    @model_validator(mode="after")
    def _fits(self) -> Self:
        given = self.change.given()
        if wrong := sorted(given - _ALLOWED[self.layer]):
            keys = ", ".join(f"`{_key(name)}`" for name in sorted(_ALLOWED[self.layer]))
            raise ValueError(f"`{_key(wrong[0])}` does not belong to the layer `{self.layer}`, which changes {keys}")
        if (self.mask or self.no_generators) and self.layer is not Layer.ROOTFS:
            raise ValueError("`mask` and `no-generators` belong to the layer `rootfs`")
        if not given and not self.mask and not self.no_generators:
            raise ValueError("it changes nothing")
        return self

    def unfit(self, facts: Mapping[str, str]) -> str:
        """Why a boot with some facts gives no reason for the remedy, or forbids it; empty when it may be tried.

        A remedy that makes the memory smaller has to leave a quarter of it free of what the baseline uses.

        :param facts: of the baseline, by their names.

        >>> known = {each.id: each for each in read_remedies().remedy}
        >>> known["no-apic-timer"].unfit({"cpu.count": "8"})
        '`cpu.count` is 8, not 1'
        >>> facts = {"memory.total_bytes": str(1000 << 20), "memory.available_bytes": str(600 << 20)}
        >>> known["memory-512m"].unfit(facts)
        'the baseline uses 400 MiB of memory, and a quarter of 512 MiB must stay free'
        """
        for name, pattern in self.facts.items():
            if (value := facts.get(name)) is None:
                return f"the baseline does not say `{name}`"
            if re.fullmatch(pattern, value) is None:
                return f"`{name}` is {value}, not {pattern}"
        return "" if self.change.memory is None else _too_small(self.change.memory, facts)

    @property
    def names(self) -> set[str]:
        """What excludes it: its name, and each parameter of the kernel's command line that it adds.

        >>> known = {each.id: each for each in read_remedies().remedy}
        >>> sorted(known["expedited-rcu"].names)
        ['expedited-rcu', 'rcupdate.rcu_expedited']
        """
        return {self.id, *(word.partition("=")[0] for word in self.change.append.split())}

    @property
    def difference(self) -> RecipeChange:
        """The difference of recipes with masks and generators as files."""
        places = [f"/etc/systemd/system/{name}" for name in self.mask]
        places += [f"/etc/systemd/system-generators/{name}" for name in self.no_generators]
        if not places:
            return self.change
        files = {**self.change.files, **{place: FileChange(link="/dev/null") for place in places}}
        return self.change.model_copy(update={"files": files})


def _too_small(wanted: str, facts: Mapping[str, str]) -> str:
    """Why a boot cannot do with a size of memory."""
    size = parse_size(wanted, option="memory")
    known = [facts.get(name) for name in ("memory.total_bytes", "memory.available_bytes")]
    total, available = (int(each) if each is not None and each.isdecimal() else None for each in known)
    if total is None or available is None:
        return "the baseline does not state how much memory it uses"
    if total <= size:
        return f"the baseline has no more than {size_text(size)} of memory"
    if (used := total - available) > size * 3 // 4:
        return f"the baseline uses {size_text(used)} of memory, and a quarter of {size_text(size)} must stay free"
    return ""


class RemedyFile(PlanSection):
    """A file of remedies."""

    build: Build | None = Field(default=None, description="how a kernel is built, for remedies of the layer `kconfig`")
    remedy: list[Remedy] = Field(default_factory=list, description="the remedies")


def read_remedies(paths: list[Path] | tuple[Path, ...] = ()) -> RemedyFile:
    """The remedies of the user's files, then those that Firstlight ships.

    :raises PlanError: when a file is damaged, or two remedies have one name.

    >>> [remedy.id for remedy in read_remedies().remedy][0]
    'no-crypto-tests'
    """
    shipped = resources.files("firstlight.advise.tuning").joinpath(_SHIPPED).read_text(encoding="utf-8")
    texts = [(_SHIPPED, shipped), *((str(path), read_text(path)) for path in paths)]
    files = [(where, checked(parse_toml(text, where), RemedyFile, text, where)) for where, text in texts]
    seen: set[str] = set()
    for where, file in files:
        for remedy in file.remedy:
            if remedy.id in seen:
                raise PlanError(f"there are two remedies `{remedy.id}`", where=where, hint="give one another `id`")
            seen.add(remedy.id)
    (_, ours), *theirs = files
    return RemedyFile(
        build=next((file.build for _, file in reversed(files) if file.build), None),
        remedy=[*(remedy for _, file in theirs for remedy in file.remedy), *ours.remedy],
    )


def check_excluded(names: Collection[str], remedies: Collection[Remedy]) -> None:
    """Check that each name excludes a remedy.

    :raises UsageError: when one is of no remedy, with the nearest one.

    >>> check_excluded(["quiet", "initcall_blacklist"], read_remedies().remedy)
    """
    known = {name for remedy in remedies for name in remedy.names}
    for name in names:
        if name not in known:
            message = f"no remedy is called `{name}` or adds such a parameter{nearest(name, sorted(known))}"
            raise UsageError(message, where="--without", hint="give a remedy, or a parameter that one adds")


def combined(remedies: list[Remedy]) -> RecipeChange:
    """The difference of recipes that several remedies make together; fragments of kernel configuration add up.

    >>> both = combined([each for each in read_remedies().remedy if each.id in ("no-crypto-tests", "no-timer-check")])
    >>> both.append
    'cryptomgr.notests no_timer_check'
    """
    whole = RecipeChange()
    lines: list[str] = []
    for remedy in remedies:
        difference = remedy.difference
        if difference.kconfig is not None and difference.kconfig.text is not None:
            lines.append(difference.kconfig.text.rstrip("\n"))
        whole = combine(whole, difference)
    if len(lines) > 1:
        whole = whole.model_copy(update={"kconfig": Kconfig(text="\n".join(lines) + "\n")})
    return whole

"""Features of a kernel that a tuning keeps, as predicates over the built configuration and the boot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from importlib import resources
from typing import Annotated

from pydantic import BeforeValidator, Field

from firstlight.errors import UsageError
from firstlight.experiment.change import PlanSection
from firstlight.experiment.plan_parser import checked, parse_toml

_SHIPPED = "features.toml"


class Role(StrEnum):
    """When a feature is kept."""

    BASE = "base"
    """Always: a recording needs it."""
    DEFAULT = "default"
    """Unless the smallest kernel is asked for."""
    ASKED = "asked"
    """When the user names it."""


class Feature(PlanSection):
    """A feature of a kernel."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{0,40}$", description="its name")
    title: str = Field(description="what it is")
    role: Annotated[Role, BeforeValidator(Role)] = Field(default=Role.ASKED, description="when it is kept")
    set: list[str] = Field(default_factory=list, description="options that have to be built in")
    keep: list[str] = Field(default_factory=list, description="patterns of options that stay as they are")
    strict: bool = Field(default=False, description="what `keep` names has to be set where the distribution sets it")
    functions: list[str] = Field(default_factory=list, description="functions that the boot calls")

    def keeps(self, option: str) -> bool:
        """Whether an option stays as the distribution has it."""
        return option in self.set or any(fnmatchcase(option, pattern) for pattern in self.keep)

    def lost(self, config: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
        """The options that a configuration lacks.

        :param before: the distribution's configuration.

        >>> Feature(id="a", title="", set=["EXT4_FS"]).lost({"EXT4_FS": "n"}, {})
        ['EXT4_FS']
        """
        wanted = list(self.set)
        if self.strict:
            wanted += [name for name, value in before.items() if value == "y" and self.keeps(name)]
        return [name for name in dict.fromkeys(wanted) if config.get(name, "n") != "y"]


class FeatureFile(PlanSection):
    """A file of features."""

    feature: list[Feature] = Field(default_factory=list, description="the features")


def read_features() -> list[Feature]:
    """The features that Firstlight knows.

    >>> [each.id for each in read_features() if each.role is Role.BASE]
    ['recording']
    """
    text = resources.files(__package__).joinpath(_SHIPPED).read_text(encoding="utf-8")
    return checked(parse_toml(text, _SHIPPED), FeatureFile, text, _SHIPPED).feature


def kept_features(names: Collection[str], smallest: bool) -> list[Feature]:
    """The features that a tuning keeps.

    :param names: those that the user asks for.
    :param smallest: only these and what a recording needs.
    :raises UsageError: when there is none of a name.

    >>> [each.id for each in kept_features(["ext4"], smallest=True)]
    ['recording', 'ext4']
    """
    known = read_features()
    ids = [each.id for each in known]
    if unknown := [name for name in names if name not in ids]:
        raise UsageError(f"there is no feature `{unknown[0]}`", where="--keep", hint=f"known: {', '.join(ids)}")
    roles = {Role.BASE} if smallest else {Role.BASE, Role.DEFAULT}
    return [each for each in known if each.role in roles or each.id in names]


def lost_feature(features: Sequence[Feature], config: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Which feature a configuration lacks, and the option; empty when none.

    :param before: the distribution's configuration.
    """
    for feature in features:
        if missing := feature.lost(config, before):
            return f"the feature `{feature.id}` is lost: `CONFIG_{missing[0]}` is not set"
    return ""


def unused_feature(features: Sequence[Feature], called: Collection[str]) -> str:
    """Which feature a boot did not start, and the function it did not call; empty when none.

    :param called: the functions of the boot.

    >>> unused_feature([Feature(id="ext4", title="", functions=["ext4_init_fs"])], ["start_kernel"])
    'the feature `ext4` does not start: the boot never calls `ext4_init_fs`'
    """
    for feature in features:
        if missing := [name for name in feature.functions if name not in called]:
            return f"the feature `{feature.id}` does not start: the boot never calls `{missing[0]}`"
    return ""

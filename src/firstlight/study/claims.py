"""Claims of a study, as data: what was concluded, which figure decides it, and what would refute it."""

from __future__ import annotations

from enum import StrEnum
from importlib import resources
from typing import Annotated, Literal

from pydantic import Field, model_validator

from firstlight.errors import FirstlightError
from firstlight.frozen import FrozenModel
from firstlight.quantities import Kind
from firstlight.recipe.machine_feature import MachineFeature
from firstlight.study.outcome import Verdict
from firstlight.toml import parse_checked

CLAIMS = "claims.toml"
"""The file of a study's package."""


class Dependency(StrEnum):
    """What a figure of a boot may depend on."""

    KERNEL = "kernel"
    USERSPACE = "userspace"
    MEMORY = "memory"
    UART = "UART"
    RTC = "RTC"
    PIT = "PIT"
    PROCESSORS = "processors"
    CACHES = "caches"
    STORAGE = "storage"
    FIRMWARE = "firmware"


UNTIMED = frozenset(
    {Dependency.UART, Dependency.RTC, Dependency.PIT, Dependency.PROCESSORS, Dependency.CACHES, Dependency.STORAGE,
     Dependency.FIRMWARE}
)  # fmt: skip
"""What the emulated machine of exact mode has, but does not time as hardware does: one processor without caches, ports,
timers and storage that answer at once, and a firmware that finds everything loaded."""

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Expectation = Literal["at least", "at most", "between", "yes", "count"]


class Claim(FrozenModel):
    """A conclusion that figures can decide."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    statement: str = Field(min_length=1)
    figure: str = Field(min_length=1, description="the name of the measured figure that decides")
    unit: Kind = "number"
    expect: Expectation = Field(description="`count` states a figure and gives no verdict")
    limit: Finite | tuple[Finite, Finite] | None = Field(None, description="where the direction begins, in the unit")
    then: str = Field("", description="the figure of the source, as text")
    value: Finite | None = Field(None, description="the figure of the source, in the unit")
    tolerance: Finite | None = Field(None, ge=0, description="the claim holds within this share of `value`")
    band: str | None = Field(None, description="the figure of the noise band; a difference inside counts as zero")
    depends: tuple[Dependency, ...] = Field(min_length=1, description="what the figure depends on")
    decided_by: tuple[Dependency, ...] = Field((), description="those of `depends` that decide the verdict")
    needs: tuple[MachineFeature, ...] = Field(
        (), description="what a guest has to have; on an architecture without one of them the claim does not apply"
    )
    refuted_by: str = Field(min_length=1, description="the measurement that would refute it")
    now: str = Field("", description="the text of the figure here; `{figure:unit}` stands for a figure")
    why: str | dict[Verdict, str] = Field("", description="the reason, or one for each verdict")

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        wanted = {"at least": float, "at most": float, "between": tuple}.get(self.expect)
        if wanted is not None and not isinstance(self.limit, wanted):
            form = "two numbers: `[LOWER, UPPER]`" if wanted is tuple else "one number"
            raise ValueError(f"`{self.id}`: `{self.expect}` needs a `limit` of {form}")
        if wanted is None and self.limit is not None:
            raise ValueError(f"`{self.id}`: `{self.expect}` has no `limit`")
        if isinstance(self.limit, tuple) and self.limit[0] > self.limit[1]:
            raise ValueError(
                f"`{self.id}`: nothing lies between {self.limit[0]:g} and {self.limit[1]:g}; give the lower limit first"
            )
        if (self.value is None) != (self.tolerance is None):
            raise ValueError(f"`{self.id}`: `value` and `tolerance` belong together")
        if missing := set(self.decided_by) - set(self.depends):
            raise ValueError(f"`{self.id}`: `decided_by` names `{min(missing)}`, but `depends` does not")
        return self


class _Claims(FrozenModel):
    claim: tuple[Claim, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _named_once(self) -> _Claims:
        names = [each.id for each in self.claim]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two claims have the id `{twice}`")
        return self


def parse_claims(text: str, where: str) -> tuple[Claim, ...]:
    """Read claims from TOML.

    :param text: `[[claim]]` tables; :class:`Claim` has the keys.
    :param where: the file, for messages.
    :raises UsageError: naming what is wrong.

    >>> text = '[[claim]]\\nid = "a"\\nstatement = "b"\\nfigure = "c"\\nexpect = "yes"\\n'
    >>> parse_claims(text + 'depends = ["kernel"]\\nrefuted_by = "d"', "claims.toml")[0].unit
    'number'
    """
    return parse_checked(text, _Claims, where).claim


def claims_of(package: str) -> tuple[Claim, ...]:
    """The claims of a study's package.

    :raises FirstlightError: when the package has none, or one is wrong.
    """
    file = resources.files(package).joinpath(CLAIMS)
    where = f"{package}/{CLAIMS}"
    try:
        return parse_claims(file.read_text(encoding="utf-8"), where)
    except FileNotFoundError:
        hint = "`firstlight study new NAME` writes an example"
        raise FirstlightError("the study has no claims", where=where, hint=hint) from None

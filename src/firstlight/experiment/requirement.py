"""What must hold in every boot of an experiment, for it to count."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from firstlight.experiment.change import PlanSection


class Condition(PlanSection):
    """What a fact has to be; a plain text in a plan is `equals`, true and false are `exists`."""

    equals: str | None = Field(default=None, description="exactly this")
    matches: str | None = Field(default=None, description="a regular expression that is found in it")
    at_most: int | None = Field(default=None, description="a whole number, not above this")
    at_least: int | None = Field(default=None, description="a whole number, not below this")
    exists: bool | None = Field(default=None, description="it is there, or is not")
    same: bool | None = Field(default=None, description="as in the boot of the baseline")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give one of `equals`, `matches`, `at-most`, `at-least`, `exists`, `same`")
        if self.matches is not None:
            try:
                re.compile(self.matches)
            except re.error as error:
                raise ValueError(f"`{self.matches}` is not a regular expression: {error}") from error
        return self


def _condition(value: Any) -> Any:
    if isinstance(value, bool):
        return {"exists": value}
    if isinstance(value, (str, int)):
        return {"equals": str(value)}
    return value


class HealthRequirement(PlanSection):
    """A boot that breaks any of it is excluded, with the reason."""

    facts: dict[str, Annotated[Condition, BeforeValidator(_condition)]] = Field(
        default_factory=dict, description="facts by name; `*` in a name stands for anything"
    )
    marks: list[str] = Field(default_factory=list, description="marks that were reached")
    units: list[str] = Field(default_factory=list, description="units of systemd that did not fail")

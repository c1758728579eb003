"""What a study found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from firstlight.recipe.isa import DEFAULT
from firstlight.study.table import Chart, Table


class Verdict(StrEnum):
    """What became of a conclusion."""

    HOLDS = "holds"
    DIRECTION = "holds in direction"
    NO_LONGER = "no longer holds"
    INCONCLUSIVE = "inconclusive"
    """The noise band reaches over the limit: the figure may lie on either side of it."""
    MACHINE = "decided by the machine here"
    """By something that the emulated machine does not time as hardware does."""
    NOT_TESTABLE = "not testable here"
    COUNTED = "counted, no verdict"
    """The absence of evidence is not evidence of absence."""
    NOT_APPLICABLE = "does not apply"
    """It is about something that a guest of this architecture does not have."""


@dataclass(frozen=True)
class Finding:
    """A conclusion that was drawn then, and what became of it."""

    claim: str
    """The statement of then."""
    then: str
    """Its figure then."""
    now: str
    """The figure measured here; for what cannot be tested: why not."""
    verdict: Verdict
    why: str = ""
    """What has changed since, or what keeps it true."""
    id: str = ""
    """Of its claim."""
    depends: tuple[str, ...] = ()
    """What the figure depends on."""
    refuted_by: str = ""
    """The measurement that would refute it."""


@dataclass(frozen=True)
class MissingArm:
    """An arm that could not be booted, or a part that could not be measured."""

    what: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """A study, as it was run: the same inputs give the same outcome, to the last nanosecond.

    There is no date in it, no path and no figure of the host.
    """

    study: str
    title: str
    question: str
    quick: bool
    recipe: tuple[str, ...]
    """How to repeat it, in sentences and commands; versions of what was booted."""
    tables: tuple[Table, ...]
    """What was measured."""
    historical: tuple[Table, ...]
    """What was measured then, by others, on other machines; never mixed with ours."""
    findings: tuple[Finding, ...]
    charts: tuple[Chart, ...] = ()
    missing: tuple[MissingArm, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What a reader has to know to take the figures for what they are."""
    architecture: str = DEFAULT.distribution_name
    """Of the guests, as the distribution calls it."""
    made_of: Mapping[str, str] = field(default_factory=dict)
    """The digests of its plan and claims, and the options of the run."""

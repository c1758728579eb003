"""What a study found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from firstlight.study.table import Chart, Table

Verdict = Literal["holds", "no longer holds", "not testable here"]


@dataclass(frozen=True)
class Finding:
    """A conclusion that was drawn then, and what became of it."""

    claim: str
    """What was said then."""
    then: str
    """Its figure then."""
    now: str
    """The figure measured here; for what cannot be tested: why not."""
    verdict: Verdict
    why: str = ""
    """What has changed since, or what keeps it true."""


def verdict(holds: bool | None) -> Verdict:
    """What became of a conclusion; `None` is one that cannot be tested.

    >>> verdict(True), verdict(False), verdict(None)
    ('holds', 'no longer holds', 'not testable here')
    """
    return "not testable here" if holds is None else "holds" if holds else "no longer holds"


def untestable(claim: str, then: str, now: str, why: str = "") -> Finding:
    """A conclusion that could not be tested, `now` saying what stopped it."""
    return Finding(claim, then, now, verdict(None), why)


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

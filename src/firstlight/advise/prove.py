"""Trials of the advice: boots with a remedy, and whether the gain is the expected one."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from firstlight.advise.apply import with_remedy
from firstlight.advise.entry import Layer
from firstlight.advise.findings import Finding
from firstlight.advise.observed import Observed
from firstlight.analysis.path.critical import find_path
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError
from firstlight.experiment.try_change import attempt
from firstlight.lab.host.progress import Progress
from firstlight.recipe.mode import RecordMode

#: A gain within this part of the expected one proves the finding.
NEAR = 0.1


class Proof(StrEnum):
    """The result of a trial of a finding."""

    PROVED = "proved"
    """The gain is the expected one, within a tenth."""
    PARTLY = "partly proved"
    """The remedy gains, but not the expected amount."""
    REFUTED = "refuted"
    """The remedy gains nothing, or makes the boot slower."""
    UNTRIED = "not tried"
    """The lab cannot apply the remedy, or the boot failed with it."""


@dataclass(frozen=True)
class Tried:
    """One finding with the boot that had its remedy."""

    finding: Finding
    proof: Proof
    gain_ns: int | None
    """The gain in time at the goal; negative is later."""
    why: str = ""
    """Why it was not tried."""
    boot: Path | None = None
    """The bundle of the boot with the remedy."""


@dataclass(frozen=True)
class Reason:
    """Why no remedy can be tried in a boot, and what to do instead."""

    why: str
    hint: str


def cannot_prove(boot: Boot) -> Reason | None:
    """Why no finding of a boot can be proved; none where its recipe can be booted with a remedy.

    >>> import firstlight
    >>> cannot_prove(firstlight.open(bundle)) is None
    True
    """
    manifest = boot.manifest
    if manifest.mode == RecordMode.IMPORTED:
        hint = "start the system with the remedy, import its log, and compare both boots with `firstlight compare`"
        return Reason("an imported boot has no recipe, so Firstlight cannot boot it with a remedy", hint)
    if manifest.mode != RecordMode.EXACT:
        hint = "write an experiment with `repeats`, and `firstlight experiment run` it"
        return Reason(f"one boot in {manifest.mode} mode does not show what a remedy gains", hint)
    if manifest.failure is not None:
        return Reason(f"this boot failed ({manifest.failure.reason})", "record one that comes up")
    return None


def prove(
    boot: Boot, findings: Sequence[Finding], to: str | None = None, progress: Progress | None = None,
    *, trust: bool = False,
) -> list[Tried]:  # fmt: skip
    """Boot the recipe of a boot with the remedy of each finding, alone.

    :param to: the mark or unit until which the gain counts.
    :param trust: use the inputs that a bundle names although it was not recorded here.
    """
    if (reason := cannot_prove(boot)) is not None:
        return [Tried(finding, Proof.UNTRIED, None, reason.why) for finding in findings]
    tried = []
    with tempfile.TemporaryDirectory(prefix="firstlight-remedy-") as folder:
        for number, finding in enumerate(findings):
            place = Path(folder) / str(number)
            place.mkdir()
            tried.append(_prove(boot, finding, to, progress, place, trust))
    return tried


def _prove(boot: Boot, finding: Finding, to: str | None, progress: Progress | None, folder: Path, trust: bool) -> Tried:
    remedy = finding.remedy
    if not remedy.is_applicable:
        return Tried(finding, Proof.UNTRIED, None, f"by hand: {remedy.by_hand}")
    if remedy.layer is Layer.KCONFIG:
        return Tried(finding, Proof.UNTRIED, None, "it needs a kernel to be built: `firstlight experiment`")
    facts = Observed(boot).facts
    try:
        if progress is not None:
            progress.step(f"trying {finding.entry.id}")
        made = attempt(
            boot.directory, lambda options: with_remedy(options, remedy, facts, folder), progress, trust=trust
        )
    except FirstlightError as error:
        return Tried(finding, Proof.UNTRIED, None, str(error))
    before, after = find_path(open_boot(made.baseline), to), find_path(open_boot(made.changed), to)
    gain = (before.goal_ns - before.first_ns) - (after.goal_ns - after.first_ns)
    return Tried(finding, proof_of(finding.gain_ns, gain), gain, boot=made.changed)


def proof_of(expected_ns: int, gain_ns: int) -> Proof:
    """Compare a gain with the expected one.

    >>> proof_of(100, 95), proof_of(100, 20), proof_of(100, -3)
    (<Proof.PROVED: 'proved'>, <Proof.PARTLY: 'partly proved'>, <Proof.REFUTED: 'refuted'>)
    """
    if gain_ns <= 0:
        return Proof.REFUTED
    return Proof.PROVED if abs(gain_ns - expected_ns) <= NEAR * expected_ns else Proof.PARTLY

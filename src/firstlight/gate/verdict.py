"""Boots against a baseline and rules: every check, and what the gate says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.comparison.boot_figures import Sample, take_sample
from firstlight.comparison.known_bands import KnownBand
from firstlight.comparison.open_many import check_one_recipe
from firstlight.comparison.sides.input_changes import OBSERVERS, other_choices
from firstlight.comparison.testbed import TOLD, Testbed, combined, describe_testbed, differences
from firstlight.errors import FirstlightError, UsageError
from firstlight.escape import printable
from firstlight.gate.baseline import Baseline
from firstlight.gate.checks import Check, Outcome, adjusted
from firstlight.gate.noise_band import band_of_baseline, widths
from firstlight.gate.phase_evidence import PhaseEvidence
from firstlight.gate.rules import Rules
from firstlight.gate.time_checks import time_checks
from firstlight.gate.userspace_checks import userspace_checks
from firstlight.quantities import counted, time_text
from firstlight.recipe.choices import Choices
from firstlight.recipe.mode import RecordMode

#: The exit code of each verdict; an inconclusive one fails only where that is asked for.
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "improvement": 0, "inconclusive": 5, "regression": 3, "unhealthy": 4}

#: What booting again has to confirm.
ALARMS: tuple[Outcome, ...] = ("regression", "improvement")

#: From the verdict that overrules all others to the one that any overrules.
_ORDER: tuple[Outcome, ...] = ("unhealthy", "regression", "inconclusive", "improvement", "pass")


@dataclass(frozen=True)
class Confirmation:
    """What booting again said of an alarm."""

    confirmed: bool | None
    """None: it could not be tried."""
    text: str
    held: tuple[str, ...] = ()
    """Of boots that vary, the rules whose alarms it confirmed."""


@dataclass(frozen=True)
class GateResult:
    """What a gate found."""

    verdict: Outcome
    exact: bool
    baseline: Baseline
    testbed: Testbed
    samples: tuple[Sample, ...]
    checks: tuple[Check, ...]
    flags: tuple[str, ...]
    """What the user should know, though it decides nothing."""
    confirmation: Confirmation | None = None
    noise_band: str | None = None
    """By which noise band exact boots were evaluated, and where it is from."""

    @property
    def came_up(self) -> list[Sample]:
        """The boots whose figures are measured ones."""
        return [sample for sample in self.samples if sample.healthy]

    def exit_code(self, *, strict: bool) -> int:
        """The exit code of the command."""
        return 0 if self.verdict == "inconclusive" and not strict else EXIT_CODES[self.verdict]


def evaluate(
    baseline: Baseline,
    boots: Sequence[Boot],
    rules: Rules,
    band: KnownBand | None = None,
    *,
    where: str,
    fail_within_band: bool = False,
    other_testbed: bool = False,
) -> GateResult:
    """Judge boots by a baseline and rules. Of boots that vary, :func:`confirmed` decides what alarms count.

    :param band: the noise band of exact boots; by default the one of the baseline's recipe, else a shipped one.
    :param where: what the rules were read from, for messages.
    :param fail_within_band: a growth beyond a limit of the rules is a regression within the noise band, too.
    :param other_testbed: compare although the baseline is from another testbed, and report it.
    :raises UsageError: when the boots are not of one recipe, or a rule names a phase that there is not.
    :raises FirstlightError: when the baseline is from another testbed.
    """
    if not boots:
        raise UsageError("a gate needs a boot")
    beds = [describe_testbed(boot) for boot in boots]
    samples = [take_sample(boot) for boot in boots]
    health = [check for sample in samples if (check := _unhealthy(sample, sample.boot))]
    health += [check for sample in baseline.samples if (check := _unhealthy(sample, f"baseline {sample.boot}"))]
    good = [(boot, bed, sample) for boot, bed, sample in zip(boots, beds, samples, strict=True) if sample.healthy]
    if not good or not all(sample.healthy for sample in baseline.samples):
        return GateResult("unhealthy", baseline.method == "exact", baseline, beds[0], tuple(samples), tuple(health), ())
    flags: list[str] = []
    testbed = good[0][1]
    for boot, bed, sample in good:
        _check_one_arm(good[0][0], testbed, boot, bed)
        testbed = combined(testbed, bed)
        _check_testbed(baseline, boot, bed, flags, other_testbed=other_testbed)
        flags += [f"{sample.boot}: incomplete: {reason}" for reason in sample.missing[:3]]
    flags += [
        f"the baseline's {sample.boot}: incomplete: {reason}: evidence that only one side has looks like a change"
        for sample in baseline.samples[:3] for reason in sample.missing[:3]
    ]  # fmt: skip
    flags += _refusals(baseline, [sample for _, _, sample in good])
    flags += _unstated_machine(baseline, testbed)
    exact = baseline.method == "exact" and good[0][1].mode == RecordMode.EXACT
    measured = [sample for _, _, sample in good]
    checks = [*health, *_health(baseline.samples[0], measured, rules, flags)]
    if exact and any(sample.tables != measured[0].tables for sample in measured):
        raise FirstlightError("exact boots of one recipe that are not equal", where=str(good[0][0].directory),
                              hint="`firstlight verify` shows the differences")  # fmt: skip
    evidence = PhaseEvidence(baseline.samples, measured)
    flags += evidence.one_sided()
    release = good[0][0].fact_values().get("kernel.release")
    known = (band or band_of_baseline(baseline, release)) if exact else None
    moved = {} if known is None else widths(known)
    present = rules.for_phases(evidence.phases, where)
    times = time_checks(evidence, present, moved, exact=exact, fail_within_band=fail_within_band)
    times += userspace_checks(
        baseline.samples, measured, rules, where, exact=exact, band=None if known is None else known.band,
        fail_within_band=fail_within_band,
    )  # fmt: skip
    if known is not None and known.doubt_ns:
        times = [_doubted(check, known.doubt_ns) for check in times]
    checks += times if exact else adjusted(times)
    chosen = good[0][0].manifest.chosen
    same = exact and baseline.samples[0].inputs == measured[0].inputs and baseline.recipe == chosen
    if same and all(check.change_ns in (None, 0) for check in checks):
        flags.append("all inputs are equal to the baseline's: nothing was changed")
    if others := _other_inputs(baseline, measured[0], chosen):
        flags.append(f"the recipe differs from the baseline's: {', '.join(others)}")
    if not exact:
        again = "; `--confirm` boots both in turn" if baseline.recipe and chosen else ""
        flags.append(
            f"{counted(len(measured), 'boot')}, taken apart from the baseline's {len(baseline.samples)}: a drift of "
            f"the testbed in between counts as a change{again}"
        )
    return GateResult(
        verdict_of(checks), exact, baseline, testbed, tuple(samples), tuple(checks), tuple(flags),
        noise_band=None if known is None else known.text,
    )  # fmt: skip


def _other_inputs(baseline: Baseline, sample: Sample, chosen: Choices | None) -> list[str]:
    """In what the boots differ from the baseline's; nothing where either was imported: nobody recorded its inputs."""
    if baseline.recipe is None or chosen is None:
        return []
    before, after = baseline.samples[0].inputs, sample.inputs
    files = sorted(name for name in (before.keys() | after.keys()) - OBSERVERS if before.get(name) != after.get(name))
    return [*(f"`{name}`" for name in files), *other_choices(baseline.recipe, chosen)]


def verdict_of(checks: Sequence[Check]) -> Outcome:
    """The verdict of several checks: the gravest of their outcomes.

    >>> verdict_of([Check("soft", "total", "improvement", ""), Check("hard", "total", "regression", "")])
    'regression'
    """
    outcomes = {check.outcome for check in checks}
    return next((outcome for outcome in _ORDER if outcome in outcomes), "pass")


def confirmed(result: GateResult, confirmation: Confirmation | None) -> GateResult:
    """The result after its alarms were booted again, or were not.

    An exact alarm stands unless the second boot differs. Boots that vary were not taken in turn with the baseline's, so
    that a drift of the testbed looks like a change: of their soft limits only a confirmed alarm counts. Hard limits and
    budgets do not depend on the baseline, and stand unless fresh boots keep them.

    :param confirmation: what booting again said; none where it was not done.
    """
    tried = confirmation is not None and confirmation.confirmed is not None
    if result.exact:
        refuted = confirmation is not None and confirmation.confirmed is False
        verdict: Outcome = "inconclusive" if refuted else result.verdict
        return replace(result, verdict=verdict, confirmation=confirmation)
    held = () if confirmation is None else confirmation.held
    checks = tuple(
        _open(check, tried=tried)
        if check.outcome in ALARMS and check.name not in held and (tried or check.kind == "soft")
        else check
        for check in result.checks
    )
    return replace(result, verdict=verdict_of(checks), checks=checks, confirmation=confirmation)


def _doubted(check: Check, doubt_ns: int) -> Check:
    """A change that may be an accident, because no noise band is of such a kernel, settles nothing."""
    settled = check.kind == "soft" and check.outcome in ("improvement", "regression")
    if not settled or abs(check.change_ns or 0) > doubt_ns:
        return check
    why = f"no noise band is of this series of kernels, so up to {time_text(doubt_ns)} may be an accident"
    return replace(check, outcome="inconclusive", text=f"{check.text}; {why} (`firstlight calibrate` makes one)")


def _open(check: Check, *, tried: bool) -> Check:
    """An alarm of boots that vary, which is not settled."""
    why = "fresh pairs do not confirm it" if tried else "not confirmed by boots in turn with the baseline"
    return replace(check, outcome="inconclusive", text=f"{check.text}; {why}")


def _unhealthy(sample: Sample, name: str) -> Check | None:
    """That the figures of a boot are not measured ones: it did not come up, or its recording is not reliable."""
    return None if sample.healthy else Check("health", name, "unhealthy", sample.unhealthy_text)


def _refusals(baseline: Baseline, measured: Sequence[Sample]) -> list[str]:
    """What is not checked because a recording is not reliable in it."""
    return [
        f"{name}: {refused} are not checked, because its recording is not reliable: {sample.unreliable[concern]}"
        for concern, refused in (
            (Concern.FUNCTIONS, "functions"), (Concern.INITCALLS, "phases that an initcall level begins or ends")
        )
        for name, sample in [*((f"the baseline's {sample.boot}", sample) for sample in baseline.samples),
                             *((sample.boot, sample) for sample in measured)]
        if concern in sample.unreliable
    ]  # fmt: skip


def _check_one_arm(first: Boot, testbed: Testbed, boot: Boot, bed: Testbed) -> None:
    if found := differences(testbed, bed):
        raise UsageError(f"not the testbed of the first boot: {'; '.join(found.values())}", where=str(boot.directory))
    check_one_recipe(first, boot, "a gate checks boots of one recipe: run it once for each recipe")


def _unstated_machine(baseline: Baseline, testbed: Testbed) -> list[str]:
    """That only one side's records state their machine."""
    if testbed.mode != RecordMode.IMPORTED or (testbed.machine is None) == (baseline.testbed.machine is None):
        return []
    known, side = (baseline.testbed, "boots") if testbed.machine is None else (testbed, "baseline")
    stated = f"the machine of the other side is `{printable(known.machine or '', 80)}`"
    return [f"the records of the {side} do not state their machine, and {stated}: whether both are one is unknown"]


def _check_testbed(baseline: Baseline, boot: Boot, bed: Testbed, flags: list[str], *, other_testbed: bool) -> None:
    found = differences(baseline.testbed, bed)
    texts = [text for name, text in found.items() if name in TOLD or other_testbed]
    refused = [text for name, text in found.items() if name not in TOLD]
    if refused and not other_testbed:
        raise FirstlightError(
            f"the baseline `{baseline.name}` is from another testbed: {'; '.join(refused)}",
            where=str(boot.directory),
            hint="save a boot of this testbed as the baseline; `--other-testbed` compares anyway and reports it",
        )
    flags += [f"{boot.directory.name}: not the testbed of the baseline: {text}" for text in texts]


def _health(before: Sample, measured: Sequence[Sample], rules: Rules, flags: list[str]) -> list[Check]:
    warnings = _unknown("kernel warnings", [sample.warnings is None for sample in (before, *measured)])
    units = _unknown("systemd units", [sample.failed_units is None for sample in (before, *measured)])
    found = []
    if warnings is None and before.warnings is not None:
        after = max(sample.warnings or 0 for sample in measured)
        text = f"{after} warnings of the kernel, the baseline has {before.warnings}"
        warnings = Check("health", "kernel warnings", "unhealthy" if after > before.warnings else "pass", text)
    if units is None and before.failed_units is not None:
        failed = sorted({unit for sample in measured for unit in sample.failed_units or ()} - {*before.failed_units})
        text = (
            f"failed units that did not fail in the baseline: {', '.join(failed)}" if failed else "no unit failed anew"
        )
        units = Check("health", "systemd units", "unhealthy" if failed else "pass", text)
    for check, rule in ((warnings, rules.health.new_warnings), (units, rules.health.failed_units)):
        if check is not None and rule == "fail":
            found.append(check)
        elif check is not None and check.outcome == "unhealthy":
            flags.append(check.text)
    return found


def _unknown(what: str, unknown: Sequence[bool]) -> Check | None:
    """The check of what some boots do not report, though others do; nothing where all do, or none does.

    :param unknown: of each boot, the baseline's first.
    """
    if all(unknown) or not any(unknown):
        return None
    where = "the baseline does not report them" if unknown[0] else "a boot does not report them"
    return Check("health", what, "inconclusive", f"not checked: {where}")

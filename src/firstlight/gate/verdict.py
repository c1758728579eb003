"""Boots against a baseline and rules: every check, and what the gate says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.comparison.boot_figures import Sample, take_sample
from firstlight.comparison.common.input_changes import OBSERVERS, other_choices
from firstlight.comparison.open_many import check_one_recipe
from firstlight.comparison.testbed import TOLD, Testbed, describe_testbed, differences
from firstlight.errors import FirstlightError, UsageError
from firstlight.gate.baseline import Baseline
from firstlight.gate.checks import Check, Kind, Outcome, adjusted, limit_check, soft_check
from firstlight.gate.rules import OTHERS, Rules
from firstlight.quantities import joined
from firstlight.recipe.choices import Choices

#: The exit code of each verdict; an inconclusive one fails only where that is asked for.
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "improvement": 0, "inconclusive": 5, "regression": 3, "unhealthy": 4}

#: From the verdict that overrules all others to the one that any overrules.
_ORDER: tuple[Outcome, ...] = ("unhealthy", "regression", "inconclusive", "improvement", "pass")


@dataclass(frozen=True)
class Confirmation:
    """What booting again said of an alarm."""

    confirmed: bool | None
    """None: it could not be tried."""
    text: str


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
    """What a person should know, though it decides nothing."""
    confirmation: Confirmation | None = None

    @property
    def came_up(self) -> list[Sample]:
        """The boots whose figures are measured ones."""
        return [sample for sample in self.samples if sample.healthy]

    def exit_code(self, *, strict: bool) -> int:
        """The exit code of the command."""
        return 0 if self.verdict == "inconclusive" and not strict else EXIT_CODES[self.verdict]


def evaluate(
    baseline: Baseline, boots: Sequence[Boot], rules: Rules, *, where: str, other_testbed: bool = False
) -> GateResult:
    """Judge boots by a baseline and rules.

    :param where: what the rules were read from, for messages.
    :param other_testbed: compare although the baseline is from another testbed, and tell so.
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
    for boot, bed, sample in good:
        _check_one_arm(good[0], (boot, bed, sample))
        _check_testbed(baseline, boot, bed, flags, other_testbed=other_testbed)
        flags += [f"{sample.boot}: incomplete: {reason}" for reason in sample.missing[:3]]
    flags += [
        f"the baseline's {sample.boot}: incomplete: {reason}: evidence on one side only looks like a change"
        for sample in baseline.samples[:3] for reason in sample.missing[:3]
    ]  # fmt: skip
    flags += _refusals(baseline, [sample for _, _, sample in good])
    exact = baseline.method == "exact" and good[0][1].mode == "exact"
    measured = [sample for _, _, sample in good]
    checks = [*health, *_health(baseline.samples[0], measured, rules, flags)]
    if exact and any(sample.tables != measured[0].tables for sample in measured):
        raise FirstlightError("exact boots of one recipe, yet not equal", where=str(good[0][0].directory),
                              hint="`firstlight verify` says what differs")  # fmt: skip
    phases = {**dict.fromkeys(baseline.samples[0].phase_ns), **dict.fromkeys(measured[0].phase_ns)}
    rules = rules.for_phases([*phases], where)
    checks += _times(baseline, measured, rules, list(phases), exact=exact)
    chosen = good[0][0].manifest.chosen
    same = exact and baseline.samples[0].inputs == measured[0].inputs and baseline.recipe == chosen
    if same and all(check.change_ns in (None, 0) for check in checks):
        flags.append("every input is the baseline's: nothing was changed")
    if others := _other_inputs(baseline, measured[0], chosen):
        flags.append(f"another recipe than the baseline's: {', '.join(others)}")
    if not exact:
        again = "; `--confirm` boots both in turn" if baseline.recipe and chosen else ""
        flags.append(
            f"{len(measured)} boots, taken apart from the baseline's {len(baseline.samples)}: a drift of the testbed "
            f"in between counts as a change{again}"
        )
    return GateResult(verdict_of(checks), exact, baseline, good[0][1], tuple(samples), tuple(checks), tuple(flags))


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


def confirmed(result: GateResult, confirmation: Confirmation) -> GateResult:
    """The result after its alarm was tried again: one that did not hold is inconclusive."""
    verdict: Outcome = "inconclusive" if confirmation.confirmed is False else result.verdict
    return replace(result, verdict=verdict, confirmation=confirmation)


def _unhealthy(sample: Sample, name: str) -> Check | None:
    """That the figures of a boot are not measured ones: it did not come up, or its recording is not reliable."""
    return None if sample.healthy else Check("health", name, "unhealthy", sample.unhealthy_text)


def _refusals(baseline: Baseline, measured: Sequence[Sample]) -> list[str]:
    """What is not judged because a recording is not reliable in it."""
    return [
        f"{name}: {refused} are not judged, its recording is not reliable: {sample.unreliable[concern]}"
        for concern, refused in (
            (Concern.FUNCTIONS, "functions"), (Concern.INITCALLS, "phases that an initcall level begins or ends")
        )
        for name, sample in [*((f"the baseline's {sample.boot}", sample) for sample in baseline.samples),
                             *((sample.boot, sample) for sample in measured)]
        if concern in sample.unreliable
    ]  # fmt: skip


def _refused_phases(baseline: Baseline, measured: Sequence[Sample], phases: Sequence[str]) -> set[str]:
    """Phases that begin or end with an initcall level, where a recording lacks initcalls: their bounds may be wrong."""
    if not any(Concern.INITCALLS in sample.unreliable for sample in (*baseline.samples, *measured)):
        return set()
    level = [phase.startswith("initcall") for phase in phases]
    follows = [*level[1:], False]
    return {phase for phase, *bounds in zip(phases, level, follows, strict=True) if any(bounds)}


def _check_one_arm(first: tuple[Boot, Testbed, Sample], other: tuple[Boot, Testbed, Sample]) -> None:
    if found := differences(first[1], other[1]):
        raise UsageError(
            f"another testbed than the first boot's: {'; '.join(found.values())}", where=str(other[0].directory)
        )
    check_one_recipe(first[0], other[0], "a gate judges boots of one recipe: give each a gate of its own")


def _check_testbed(baseline: Baseline, boot: Boot, bed: Testbed, flags: list[str], *, other_testbed: bool) -> None:
    found = differences(baseline.testbed, bed)
    told = [text for name, text in found.items() if name in TOLD or other_testbed]
    refused = [text for name, text in found.items() if name not in TOLD]
    if refused and not other_testbed:
        raise FirstlightError(
            f"the baseline `{baseline.name}` is from another testbed: {'; '.join(refused)}",
            where=str(boot.directory),
            hint="save a boot of this testbed as the baseline; `--other-testbed` compares all the same, and says so",
        )
    flags += [f"{boot.directory.name}: another testbed than the baseline's: {text}" for text in told]


def _health(before: Sample, measured: Sequence[Sample], rules: Rules, flags: list[str]) -> list[Check]:
    checks = []
    after = max(measured, key=lambda sample: sample.warnings or 0)
    if before.warnings is not None and after.warnings is not None:
        more = after.warnings - before.warnings
        text = f"{after.warnings} warnings of the kernel, the baseline has {before.warnings}"
        if rules.health.new_warnings == "fail":
            checks.append(Check("health", "kernel warnings", "unhealthy" if more > 0 else "pass", text))
        elif more > 0:
            flags.append(text)
    if all(sample.failed_units is not None for sample in (before, *measured)):
        failed = sorted(
            {unit for sample in measured for unit in sample.failed_units or ()} - {*(before.failed_units or ())}
        )
        text = f"failed units that the baseline has not: {', '.join(failed)}" if failed else "no unit failed anew"
        if rules.health.failed_units == "fail":
            checks.append(Check("health", "systemd units", "unhealthy" if failed else "pass", text))
        elif failed:
            flags.append(text)
    return checks


def _times(
    baseline: Baseline, measured: Sequence[Sample], rules: Rules, phases: Sequence[str], *, exact: bool
) -> list[Check]:
    checks = []
    before = [sample.virtual_ns for sample in baseline.samples]
    after = [sample.virtual_ns for sample in measured]
    soft = rules.soft_total("exact" if exact else "noisy")
    if soft is not None:
        checks.append(soft_check("total", before, after, soft, rules.total.floor, exact=exact))
    if rules.total.hard is not None:
        checks.append(limit_check("hard", "total", after, rules.total.hard, exact=exact))
    refused = _refused_phases(baseline, measured, phases)
    for phase in phases:
        limits = rules.for_phase(phase)
        kinds: tuple[tuple[Kind, float | None], ...] = (("soft", limits.soft), ("hard", limits.hard))
        ruled = [kind for kind, limit in kinds if limit is not None]
        if phase in refused:
            checks += [_refused(kind, phase, named=phase in rules.phase) for kind in ruled]
            continue
        lacking = [sample.boot for sample in measured if phase not in sample.phase_ns]
        if lacking:
            checks += [_without_phase(kind, phase, lacking, named=phase in rules.phase) for kind in ruled]
            continue
        was, now = ([sample.phase_ns.get(phase, 0) for sample in arm] for arm in (baseline.samples, measured))
        if limits.soft is not None:
            checks.append(soft_check(phase, was, now, limits.soft, limits.floor, exact=exact))
        if limits.hard is not None:
            checks.append(limit_check("hard", phase, now, limits.hard, exact=exact))
    if rules.budget is not None:
        checks.append(limit_check("budget", "total", after, rules.budget.goal, exact=exact))
        for phase, allowance in rules.budget.phases.items():
            lacking = [sample.boot for sample in measured if phase not in sample.phase_ns]
            if lacking:
                checks.append(_without_phase("budget", phase, lacking, named=True))
                continue
            if phase in refused:
                checks.append(_refused("budget", phase, named=True))
                continue
            now = [sample.phase_ns.get(phase, 0) for sample in measured]
            checks.append(limit_check("budget", phase, now, allowance, exact=exact))
        others = [sum(ns for phase, ns in sample.phase_ns.items() if phase not in rules.budget.phases)
                  for sample in measured]  # fmt: skip
        # Where each phase that is refused has no allowance of its own, they all are among the others, whole.
        if refused & {*rules.budget.phases}:
            checks.append(_refused("budget", OTHERS, named=True))
        else:
            checks.append(limit_check("budget", OTHERS, others, rules.budget.others, exact=exact))
    return checks if exact else adjusted(checks)


def _refused(kind: Kind, phase: str, *, named: bool) -> Check:
    """What a broken invariant concerns is not judged: a phase that a rule names has to be, any other one need not."""
    text = "its bounds are not reliable: an invariant about initcalls does not hold"
    return Check(kind, phase, "unhealthy" if named else "inconclusive", text)


def _without_phase(kind: Kind, phase: str, boots: Sequence[str], *, named: bool) -> Check:
    """What was not there did not take 0 s: a phase that a rule names has to happen, any other one is undecided."""
    text = f"{joined([f'`{boot}`' for boot in boots], 1)} has no such phase: there is nothing to measure"
    return Check(kind, phase, "unhealthy" if named else "inconclusive", text)

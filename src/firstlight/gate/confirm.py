"""Booting again before an alarm is raised."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open
from firstlight.comparison.boot_figures import Sample, take_sample
from firstlight.errors import BundleError, FirstlightError
from firstlight.gate.checks import Check, limit_check, noisy_change
from firstlight.gate.rules import OTHERS
from firstlight.gate.verdict import ALARMS, Confirmation, GateResult
from firstlight.lab.host.progress import Progress
from firstlight.lab.run.options_from_manifest import check_untrusted, options_from_manifest
from firstlight.lab.run.record import record
from firstlight.quantities import time_text
from firstlight.recipe.options import RecordOptions, options_for


def confirm_alarm(
    result: GateResult, boots: Sequence[Boot], pairs: int, progress: Progress, *, trust: bool = False
) -> Confirmation:
    """Boot again: an exact boot once, noisy ones in fresh pairs with the baseline's recipe, in random order.

    :param boots: the checked boots.
    :param pairs: so many of each, where there is noise.
    :param trust: use what boots and a baseline name that were not recorded here.
    :raises FirstlightError: when what boots could not be run.
    """
    try:
        options = options_from_manifest(boots[0].manifest, Path("again.boot"), str(boots[0].directory), trust=trust)
    except BundleError as error:
        return Confirmation(None, f"it cannot be tried: {error.message}")
    with tempfile.TemporaryDirectory(prefix="firstlight-gate-") as directory:
        if result.exact:
            return _exact(result, options, Path(directory), progress)
        return _pairs(result, options, pairs, Path(directory), progress, trust=trust)


def _exact(result: GateResult, options: RecordOptions, directory: Path, progress: Progress) -> Confirmation:
    again = take_sample(open(_record(options, directory / "again.boot", progress)))
    first = next(sample for sample in result.samples if sample.healthy)
    changed = sorted(name for name in first.inputs if first.inputs[name] != again.inputs.get(name))
    if again.tables == first.tables:
        return Confirmation(True, "the same to the last instruction")
    inputs = f", with other inputs ({', '.join(changed)})" if changed else " of the same inputs"
    took = f"{time_text(again.virtual_ns)} instead of {time_text(first.virtual_ns)}"
    if changed:
        return Confirmation(None, f"it cannot be tried: the boot differs now{inputs}: {took}")
    return Confirmation(False, f"the boot differs{inputs}: {took}; it is not exact, so there is no result")


def _pairs(
    result: GateResult, options: RecordOptions, pairs: int, directory: Path, progress: Progress, *, trust: bool
) -> Confirmation:
    if result.baseline.recipe is None:
        return Confirmation(None, "it cannot be tried: the baseline has no recipe to boot")
    chosen = check_untrusted(result.baseline.recipe, result.baseline.name, trust=trust)
    former = options_for(chosen, Path("a.boot"))
    seed = random.SystemRandom().randrange(2**32)
    order = random.Random(seed)
    arms: dict[str, list[Boot]] = {"baseline": [], "measured": []}
    for number in range(pairs):
        progress.step(f"confirming: pair {number + 1} of {pairs}")
        names = ["baseline", "measured"]
        order.shuffle(names)
        for name in names:
            choices = former if name == "baseline" else options
            arms[name].append(open(_record(choices, directory / f"{name}-{number}.boot", progress)))
    before, after = ([take_sample(boot) for boot in arms[name]] for name in ("baseline", "measured"))
    return settle(result, before, after, f"{pairs} new pairs in random order (seed {seed})")


def settle(result: GateResult, before: Sequence[Sample], after: Sequence[Sample], head: str) -> Confirmation:
    """What fresh pairs say of the alarms of a gate.

    :param before: of the baseline's recipe, in the order of the pairs.
    :param after: of the checked boots.
    :param head: how they were booted, in words.
    """
    alarms = [check for check in result.checks if check.outcome in ALARMS and check.kind != "health"]
    allowances = {check.what for check in result.checks if check.kind == "budget"}
    again = [(check.name, *_again(check, before, after, allowances)) for check in alarms]
    held = [(name, text) for name, stands, text in again if stands]
    if held:
        text = f"{head}: {'; '.join(text for _, text in held)}"
        return Confirmation(True, text, tuple(name for name, _ in held))
    return Confirmation(False, f"{head}: no alarm is confirmed: {'; '.join(text for *_, text in again)}")


def _again(alarm: Check, before: Sequence[Sample], after: Sequence[Sample], allowances: set[str]) -> tuple[bool, str]:
    """Whether an alarm holds on fresh pairs, and the figure."""
    if alarm.kind != "soft" or alarm.baseline_ns is None or alarm.limit_ns is None:
        assert alarm.limit_ns is not None
        found = limit_check("hard", alarm.what, _times(after, alarm.what, allowances), alarm.limit_ns, exact=False)
        return found.outcome == "regression", f"{alarm.what}: {found.text}"
    was, now = (_times(arm, alarm.what, allowances) for arm in (before, after))
    if min(*was, *now) <= 0:
        return False, f"{alarm.what}: some boots spent no time there"
    change = noisy_change(was, now, paired=True)
    if change.low is None or change.high is None:
        return False, f"{alarm.what}: too few pairs"
    allowed = alarm.limit_ns / alarm.baseline_ns - 1 if alarm.baseline_ns else 0.0
    text = f"{alarm.what}: {change.percent:+.2f} %, interval {change.low:+.2f} to {change.high:+.2f} %"
    return change.settled(allowed) == alarm.outcome, text


def _times(samples: Sequence[Sample], what: str, allowances: set[str]) -> list[int]:
    if what == "total":
        return [sample.virtual_ns for sample in samples]
    if what == OTHERS:
        return [sum(ns for phase, ns in sample.phase_ns.items() if phase not in allowances) for sample in samples]
    return [sample.phase_ns.get(what, 0) for sample in samples]


def _record(options: RecordOptions, output: Path, progress: Progress) -> Path:
    try:
        return record(replace(options, output=output), progress)
    except FirstlightError as error:
        error.hint = error.hint or "the alarm could not be confirmed"
        raise

"""Booting again before an alarm is raised."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from firstlight.boot.boot import Boot
from firstlight.boot.manifest import Manifest
from firstlight.boot.open import open
from firstlight.compare.gate.baseline import Baseline
from firstlight.compare.gate.rules import Rules
from firstlight.compare.gate.sample import take_sample
from firstlight.compare.gate.verdict import Confirmation, GateResult, judge
from firstlight.errors import BundleError, FirstlightError
from firstlight.lab.options import RecordOptions
from firstlight.lab.progress import Progress
from firstlight.lab.record import record
from firstlight.lab.repeat import options_from_manifest


def confirm_alarm(
    result: GateResult, boots: Sequence[Boot], rules: Rules, where: str, pairs: int, progress: Progress
) -> Confirmation:
    """Boot again: an exact boot once, noisy ones in fresh pairs with the baseline's recipe, in random order.

    :param pairs: so many of each, where there is noise.
    :raises FirstlightError: when what boots could not be run.
    """
    try:
        options = options_from_manifest(boots[0].manifest, Path("again.boot"), str(boots[0].path))
    except BundleError as error:
        return Confirmation(None, f"it cannot be tried: {error.message}")
    with tempfile.TemporaryDirectory(prefix="firstlight-gate-") as directory:
        if result.exact:
            return _exact(result, options, Path(directory), progress)
        return _pairs(result, options, rules, where, pairs, Path(directory), progress)


def _exact(result: GateResult, options: RecordOptions, directory: Path, progress: Progress) -> Confirmation:
    again = take_sample(open(_record(options, directory / "again.boot", progress)))
    first = next(sample for sample in result.samples if sample.healthy)
    changed = sorted(name for name in first.inputs if first.inputs[name] != again.inputs.get(name))
    if again.tables == first.tables:
        return Confirmation(True, "the same to the last instruction")
    inputs = f", of other inputs ({', '.join(changed)})" if changed else " of the same inputs"
    took = f"{again.virtual_ns:,} ns instead of {first.virtual_ns:,} ns"
    if changed:
        return Confirmation(None, f"it cannot be tried: what boots here now is another boot{inputs}: {took}")
    return Confirmation(False, f"another boot{inputs}: {took}; it is not exact, and nothing can be said")


def _pairs(
    result: GateResult,
    options: RecordOptions,
    rules: Rules,
    where: str,
    pairs: int,
    directory: Path,
    progress: Progress,
) -> Confirmation:
    chosen = result.baseline.recipe
    if not chosen:
        return Confirmation(None, "it cannot be tried: the baseline has no recipe to boot")
    former = options_from_manifest(_manifest_of(result.baseline, result), Path("a.boot"), result.baseline.name)
    seed = random.SystemRandom().randrange(2**32)
    order = random.Random(seed)
    arms: dict[str, list[Boot]] = {"baseline": [], "measured": []}
    for number in range(pairs):
        progress.step(f"confirming: pair {number + 1} of {pairs}")
        names = ["baseline", "measured"]
        order.shuffle(names)
        for name in names:
            recipe = former if name == "baseline" else options
            arms[name].append(open(_record(recipe, directory / f"{name}-{number}.boot", progress)))
    fresh = result.baseline.model_copy(update={"samples": [take_sample(boot) for boot in arms["baseline"]]})
    again = judge(fresh, arms["measured"], rules, where=where)
    total = next((check for check in again.checks if check.what == "total"), None)
    figures = ""
    if total is not None and total.low_percent is not None and total.high_percent is not None:
        figures = f"; the total changed by {total.low_percent:+.2f} to {total.high_percent:+.2f} %"
    return Confirmation(
        again.verdict == "regression", f"{pairs} fresh pairs in random order (seed {seed}): {again.verdict}{figures}"
    )


def _manifest_of(baseline: Baseline, result: GateResult) -> Manifest:
    """A manifest that holds what the baseline's recipe chose; nothing else of it is read."""
    return Manifest.model_construct(recipe={"chosen": baseline.recipe, "files": {}}, mode=result.testbed.mode)


def _record(options: RecordOptions, output: Path, progress: Progress) -> Path:
    try:
        return record(replace(options, output=output), progress)
    except FirstlightError as error:
        error.hint = error.hint or "the alarm could not be confirmed"
        raise

"""What boots that vary say of cells and factors: estimates with intervals, over the blocks in which they were booted.

Every block holds each cell once, so that each gives one figure for a cell's change or a factor's effect, whatever the
machine drifted from block to block. These figures are independent, and what is estimated from them is one sample's
location, on logarithms of times. Of the comparisons Holm's method adjusts p among cells and among main effects, that of
Benjamini and Hochberg among interactions.

Source: experiments.md 7.4 to 7.6; the estimates and tests are those of `firstlight.comparison.noisy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from firstlight.experiment.cell_result import CellResult
from firstlight.experiment.effects import Value, interactions, main_effects
from firstlight.experiment.results import Results
from firstlight.recipe.mode import RecordMode
from firstlight.stats.estimate import paired
from firstlight.stats.multiple_testing import benjamini_hochberg, holm
from firstlight.stats.sample_size import robust_sigma
from firstlight.stats.significance import paired_p
from firstlight.stats.verdict import VerdictThresholds, decide

Key = TypeVar("Key")
Adjust = Callable[[Sequence[float | None]], list[float | None]]

_SOFT = math.log1p(0.01)
"""A difference within 1 % either way counts as none."""


@dataclass(frozen=True)
class EffectEstimate:
    """A change in percent, over blocks."""

    percent: float
    interval_percent: tuple[float, float] | None
    blocks: int
    p: float
    """Adjusted for the others that are tested beside it."""
    method: str
    word: str
    """regression, improvement, equivalent or inconclusive."""
    reason: str
    advice: str
    """How many more blocks it takes, in words that follow the reason; empty where nothing is open."""


def varies(results: Results) -> bool:
    """Whether boots of one recipe differ, so that only statistics distinguishes them."""
    if results.plan.mode != RecordMode.EXACT:
        return True
    return any(len({each.time_ns for each in cell.counted}) > 1 for cell in results.cells)


def estimate_cells(results: Results) -> dict[str, EffectEstimate]:
    """Every cell against the first one, in the blocks where both count."""
    baseline = {boot.repeat: boot.measured for boot in results.cells[0].boots if boot.measured is not None}
    ratios: dict[str, list[float]] = {}
    for cell in results.cells[1:]:
        values = [
            math.log(boot.measured.time_ns / baseline[boot.repeat].time_ns)
            for boot in cell.boots
            if boot.measured is not None and boot.repeat in baseline
        ]
        if values:
            ratios[cell.name] = values
    return _estimates(ratios, results.state.seed, holm)


def estimate_effects(results: Results) -> dict[tuple[str, str], EffectEstimate]:
    """Every main effect, by factor and level; a block in which a cell does not count says nothing."""
    return _estimates(block_effects(results), results.state.seed, holm)


def block_effects(results: Results) -> dict[tuple[str, str], list[float]]:
    """Every main effect in each block in which all cells count, on logarithms of times, by factor and level."""
    found: dict[tuple[str, str], list[float]] = {}
    for repeat in _repeats(results):
        for each in main_effects(results, _logarithm(repeat)):
            if each.effect is not None and each.pairs == each.possible:
                found.setdefault((each.factor, each.level), []).append(float(each.effect))
    return found


def estimate_interactions(results: Results) -> dict[tuple[tuple[str, str], tuple[str, str]], EffectEstimate]:
    """Every interaction of two factors, by factors and levels."""
    found: dict[tuple[tuple[str, str], tuple[str, str]], list[float]] = {}
    for repeat in _repeats(results):
        for each in interactions(results, _logarithm(repeat)):
            if each.effect is not None:
                found.setdefault((each.factors, each.levels), []).append(float(each.effect))
    return _estimates(found, results.state.seed, benjamini_hochberg)


def _repeats(results: Results) -> list[int]:
    return sorted({boot.repeat for cell in results.cells for boot in cell.boots})


def _logarithm(repeat: int) -> Value:
    """The logarithm of a cell's time in one block."""

    def value(cell: CellResult) -> Fraction | None:
        for boot in cell.boots:
            if boot.repeat == repeat and boot.measured is not None:
                return Fraction(math.log(boot.measured.time_ns))
        return None

    return value


def _estimates(samples: dict[Key, list[float]], seed: int, adjust: Adjust) -> dict[Key, EffectEstimate]:
    tested = [paired_p(values, seed) for values in samples.values()]
    adjusted = adjust([each.p for each in tested])
    estimates = {}
    for (key, values), test, p in zip(samples.items(), tested, adjusted, strict=True):
        found = paired(values)
        sure = 1.0 if p is None else p
        verdict = decide(found, sure, len(values), robust_sigma(values), VerdictThresholds(soft=_SOFT))
        estimates[key] = EffectEstimate(
            found.percent, found.interval_percent, len(values), sure, test.method, verdict.word, verdict.reason,
            verdict.advice("blocks"),
        )  # fmt: skip
    return estimates

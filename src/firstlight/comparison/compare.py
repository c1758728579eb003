"""One arm against the baseline: exact or noisy is decided before anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.comparison.known_bands import band_for, given
from firstlight.comparison.sides.arms import BootSet, CompareError
from firstlight.comparison.sides.input_changes import recipe_changes
from firstlight.comparison.sides.machines import machine_flags
from firstlight.comparison.sides.method import method_of
from firstlight.comparison.sides.preconditions import Flag
from firstlight.recipe.mode import RecordMode

if TYPE_CHECKING:
    from firstlight.comparison.noise_band import Band
    from firstlight.comparison.statistical.comparison import NoisyComparison
    from firstlight.comparison.statistical.pairing import How
    from firstlight.comparison.statistical.quantiles import Statistic
    from firstlight.comparison.statistical.testbed_noise import Calibration

Comparison: TypeAlias = "ExactDifference | NoisyComparison"


def compare_arms(
    a: BootSet,
    b: BootSet,
    *,
    soft_percent: float = 1.0,
    seed: int = 1,
    describing: bool = False,
    pairing: How = "auto",
    bin_ns: int | None = None,
    statistics: Sequence[Statistic] = (),
    look: int | None = None,
    band: Band | Calibration | None = None,
) -> Comparison:
    """Compare two arms: exactly, or by statistics where their boots vary.

    The other arguments are those of :func:`firstlight.comparison.statistical.comparison.compare_noisy`.

    :param a: the baseline.
    :param band: the limits of changes: of exact boots a noise band (see
        :mod:`firstlight.comparison.robustness`), of others the calibration of their testbed.
    :raises CompareError: when they cannot be compared, when the boots of an arm are not of one recipe, when arms are
        noisy and one of them is a single boot, or when the band is of the other sort of boots.
    """
    for arm in (a, b):
        _check_one_recipe(arm)
    if not is_noisy(a, b):
        if band is not None and band.kind != "noise_band":
            message = "this calibration is for boots that vary, but these boots are compared exactly"
            hint = "`firstlight calibrate a.boot -o band.json` makes a band for them"
            raise CompareError(message, where=b.name, hint=hint)
        return compare_exact(a, b, band)
    # Statistics take long to load, and exact boots need none.
    from firstlight.comparison.statistical.comparison import compare_noisy

    if band is not None and band.kind != "testbed":
        message = "a noise band is for exact boots, but these boots vary"
        hint = "`firstlight calibrate DIR -o testbed.json` measures the noise of their testbed"
        raise CompareError(message, where=b.name, hint=hint)
    return compare_noisy(
        a, b, soft_percent=soft_percent, seed=seed, describing=describing, pairing=pairing, bin_ns=bin_ns,
        statistics=statistics, look=look, calibration=band,
    )  # fmt: skip


def is_settled(found: Comparison) -> bool:
    """Whether a comparison settles anything: an exact one does, a noisy one when no verdict is inconclusive."""
    if isinstance(found, ExactDifference):
        return all(flag.kind not in ("one_boot", "unstable") for flag in found.flags)
    words = [found.verdict.word, *(each.word for each in found.quantiles)]
    return "inconclusive" not in words


def compare_exact(a: BootSet, b: BootSet, band: Band | None = None) -> ExactDifference:
    """The exact difference of two arms, of which one boot each stands for all.

    Arms whose boots are not exact can be described where each is one boot: what differs between these two boots is as
    exact as anything, and a flag says that it is not a finding.

    :param band: the noise band of A; by default the one that :func:`band_for` finds.
    :raises CompareError: when an arm's boots are exact recordings and not equal, when arms are noisy and only one of
        them has several boots, when imported boots of one arm are of several machines, or when the figures of the two
        do not mean the same.

    >>> from firstlight.comparison.sides.arms import read_arm
    >>> arm = read_arm(bundle)
    >>> compare_exact(arm, arm).flags
    ()
    """
    for arm in (a, b):
        if arm.mode == RecordMode.EXACT and not arm.is_equal:
            report = method_of(arm.boots)
            why = "; ".join(report.reasons)
            message = f"its {len(arm.boots)} boots are exact recordings but not equal; they are {report.method}: {why}"
            hint = "`firstlight verify` shows where a repeated boot differs"
            raise CompareError(message, where=arm.name, hint=hint)
    first = a.boots[0]
    tolerance = None
    if a.mode == RecordMode.EXACT:
        known = band_for(first) if band is None else given(band, first.manifest, str(first.directory))
        tolerance = known.tolerance
    difference = exact_difference(first, b.boots[0], tolerance)
    flags = [
        Flag("excluded", f"`{each.path.name}` is left out: {each.reason}") for arm in (a, b) for each in arm.excluded
    ]
    flags += machine_flags(a, b)
    if not (a.is_exact and b.is_exact):
        single = next((arm for arm in (a, b) if len(arm.boots) == 1), None)
        if single is None or len(a.boots) != len(b.boots):
            where = (single or a).name
            message = f"one boot per arm is not enough in {a.mode} mode: boots differ without any change"
            raise CompareError(message, where=where, hint="record at least 6 boots per side, in turns")
        text = f"one boot per side in {a.mode} mode: these are differences of two boots, not effects of a change"
        flags.append(Flag("one_boot", text))
    return replace(difference, flags=(*flags, *difference.flags))


def is_noisy(a: BootSet, b: BootSet) -> bool:
    """Whether two arms have to be compared by statistics: several boots a side, which are not exact."""
    return not (a.is_exact and b.is_exact) and min(len(a.boots), len(b.boots)) > 1 and a.mode != RecordMode.EXACT


def _check_one_recipe(arm: BootSet) -> None:
    """Nobody recorded the inputs of what was imported; all else says what it was made of."""
    first = arm.boots[0]
    for boot in arm.boots[1:] if arm.mode != RecordMode.IMPORTED else ():
        if changed := recipe_changes(first.manifest, boot.manifest):
            inputs = ", ".join(f"`{change.name}`" for change in changed[:5])
            names = f"`{first.directory.name}` and `{boot.directory.name}`"
            message = f"the boots of an arm must have the same recipe: {names} differ in {inputs}"
            raise CompareError(message, where=arm.name, hint="put them into arms of their own")

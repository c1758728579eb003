"""One arm against the baseline: exact or noisy is decided before anything else."""

from __future__ import annotations

from firstlight.compare.arms import Arm, CompareError
from firstlight.compare.comparable import Flag
from firstlight.compare.exact.difference import ExactDifference, exact_difference


def compare_exact(a: Arm, b: Arm) -> ExactDifference:
    """The exact difference of two arms, of which one boot each stands for all.

    Arms whose boots are not exact can be described where each is one boot: what differs between these two boots is as
    exact as anything, and a flag says that it is no finding.

    :raises CompareError: when an arm's boots are exact recordings and not equal, when arms are noisy and only one of
        them has several boots, or when the figures of the two do not mean the same.

    >>> from firstlight.compare.arms import read_arm
    >>> arm = read_arm(bundle)
    >>> compare_exact(arm, arm).flags
    ()
    """
    for arm in (a, b):
        if arm.mode == "exact" and not arm.is_equal:
            message = f"its {len(arm.boots)} boots are exact recordings and not equal: the arm is unstable"
            hint = "`firstlight verify` says where a boot is not the same again"
            raise CompareError(message, where=arm.name, hint=hint)
    difference = exact_difference(a.boots[0], b.boots[0])
    flags = [
        Flag("excluded", f"`{each.path.name}` does not take part: {each.reason}")
        for arm in (a, b)
        for each in arm.excluded
    ]
    if not (a.is_exact and b.is_exact):
        single = next((arm for arm in (a, b) if len(arm.boots) == 1), None)
        if single is None or len(a.boots) != len(b.boots):
            where = (single or a).name
            message = f"an arm of one boot says nothing in {a.mode} mode: boots differ without any change"
            raise CompareError(message, where=where, hint="record at least 6 boots a side, in turn")
        text = f"one boot a side in {a.mode} mode: this is how these two boots differ, not what a change did"
        flags.append(Flag("one_boot", text))
    return ExactDifference(difference.a, difference.b, (*flags, *difference.flags), difference.inputs)


def is_noisy(a: Arm, b: Arm) -> bool:
    """Whether two arms have to be compared by statistics: several boots a side, which are not exact."""
    return not (a.is_exact and b.is_exact) and min(len(a.boots), len(b.boots)) > 1 and a.mode != "exact"

"""Whether imported boots are of the machines that a comparison takes them for."""

from __future__ import annotations

from firstlight.comparison.sides.arms import BootSet, CompareError
from firstlight.comparison.sides.preconditions import Flag
from firstlight.comparison.testbed import STATED, Testbed, combined, describe_testbed, differences
from firstlight.recipe.mode import RecordMode


def machine_flags(a: BootSet, b: BootSet) -> list[Flag]:
    """Say that the boots of two arms are of different machines, as far as their records state it.

    What was recorded by Firstlight names its machine among the inputs that differ.

    :raises CompareError: when the boots of one arm are of several machines.

    >>> from firstlight.comparison.sides.arms import read_arm
    >>> machine_flags(read_arm(bundle), read_arm(bundle))
    []
    """
    if RecordMode.IMPORTED not in (a.mode, b.mode) or a.mode != b.mode:
        return []
    differs = _machine_differences(_one_machine(a), _one_machine(b))
    if not differs:
        return []
    text = f"the records of B are of another machine than those of A: {differs}; a change may be the machine's"
    return [Flag("machine", text)]


def _one_machine(arm: BootSet) -> Testbed:
    """What all boots of an arm together state of their machine."""
    first, *others = arm.boots
    known = describe_testbed(first)
    for boot in others:
        its = describe_testbed(boot)
        if differs := _machine_differences(known, its):
            message = f"the boots of an arm must be of one machine: of `{boot.directory.name}` {differs}"
            raise CompareError(message, where=arm.name, hint="put them into arms of their own")
        known = combined(known, its)
    return known


def _machine_differences(one: Testbed, other: Testbed) -> str:
    return "; ".join(text for name, text in differences(one, other).items() if name in STATED)

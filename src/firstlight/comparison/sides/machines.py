"""Whether imported boots are of the machines that a comparison takes them for."""

from __future__ import annotations

from firstlight.comparison.sides.arms import BootSet, CompareError
from firstlight.comparison.sides.preconditions import Flag
from firstlight.comparison.testbed import STATED, Testbed, combined, describe_testbed, differences
from firstlight.escape import printable
from firstlight.quantities import joined
from firstlight.recipe.mode import RecordMode

#: A note has no more kernels than this.
_MOST_KERNELS = 4


def machine_flags(a: BootSet, b: BootSet) -> list[Flag]:
    """What the records of imported boots say of their machines and kernels, where these are not the same.

    What was recorded by Firstlight names its machine and its kernel among the inputs that differ.

    :raises CompareError: when the boots of one arm are of several machines.

    >>> from firstlight.comparison.sides.arms import read_arm
    >>> machine_flags(read_arm(bundle), read_arm(bundle))
    []
    """
    if not a.mode == b.mode == RecordMode.IMPORTED:
        return []
    flags = [flag for arm in (a, b) for flag in _kernel_flags(arm)]
    if differs := _machine_differences(machine_of(a), machine_of(b)):
        text = f"the records of B are of another machine than those of A: {differs}; a change may be the machine's"
        flags.append(Flag("machine", text))
    return flags


def machine_of(arm: BootSet) -> Testbed:
    """What all boots of an arm together state of their machine.

    :raises CompareError: when they are of several machines.

    >>> from firstlight.comparison.sides.arms import read_arm
    >>> machine_of(read_arm(bundle)).machine
    'pc-i440fx-7.2'
    """
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


def _kernel_flags(arm: BootSet) -> list[Flag]:
    """That the records of one arm are of several kernels."""
    releases = {boot.fact_values().get("kernel.release") for boot in arm.boots} - {None}
    if len(releases) < 2:
        return []
    named = joined([printable(each, 40) for each in sorted(filter(None, releases))], _MOST_KERNELS)
    return [Flag("inputs", f"the boots of `{arm.name}` are of {len(releases)} kernels: {named}")]

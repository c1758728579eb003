"""The emulated machine of a boot, as it was: not as its model's name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstlight.bundle.boot import Boot

LEFT_OUT = "machine.features_left_out"
"""The fact that holds what the processor's model has and QEMU left out, separated by blanks."""


def features_left_out(boot: Boot) -> list[str]:
    """The features of the processor's model that QEMU cannot emulate, and that the guest did not see.

    >>> import firstlight
    >>> features_left_out(firstlight.open(bundle))
    []
    """
    return (boot.fact_values().get(LEFT_OUT) or "").split()


def cpu_text(boot: Boot) -> str | None:
    """The processor, with how much of its model QEMU left out.

    >>> import firstlight
    >>> cpu_text(firstlight.open(bundle))
    'Nehalem'
    """
    cpu, lacking = boot.manifest.recipe_text("cpu"), features_left_out(boot)
    if cpu is None or not lacking:
        return cpu
    return f"{cpu} without {len(lacking)} features that QEMU cannot emulate ({' '.join(lacking)})"

"""The emulated machine of a boot, as it was: not as its model's name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.recipe.recipe import Recipe

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
    """The processor, with how much of its model QEMU left out, and how many there are where there are several.

    >>> import firstlight
    >>> cpu_text(firstlight.open(bundle))
    'Nehalem'
    """
    cpu, lacking, cpus = boot.manifest.recipe_text("cpu"), features_left_out(boot), processors(boot)
    if cpu is None:
        return None
    several = "" if cpus == 1 else f"{cpus} of "
    without = f" without {len(lacking)} features that QEMU cannot emulate ({' '.join(lacking)})" if lacking else ""
    return f"{several}{cpu}{without}"


def processors(boot: Boot) -> int:
    """How many processors the emulated machine had; 1 where nothing says it.

    >>> import firstlight
    >>> processors(firstlight.open(bundle))
    1
    """
    recipe = boot.manifest.recipe
    return recipe.chosen.cpus if isinstance(recipe, Recipe) else 1

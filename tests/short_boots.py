"""Recipes whose kernel does not calibrate its local timer.

The loop of `pause` instructions of `setup_boot_APIC_clock` takes about half of the processor time of an emulated boot
(docs/design/exact-mode.md). What a test is about has to do with it only in the tests of the default recipe.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from firstlight.recipe.options import RecordOptions

#: The kernel's parameter, for a command line or a plan.
SHORT = "nolapic_timer"


def short(output: Path, append: str = "", **more: Any) -> RecordOptions:
    """Options of a recording of such a guest.

    :param append: further parameters of the kernel.
    :param more: other options of :class:`RecordOptions`.
    """
    return RecordOptions(output=output, append=f"{SHORT} {append}".rstrip(), **more)

"""Folded stacks, as Brendan Gregg's FlameGraph, inferno, speedscope and Perfetto read them."""

from __future__ import annotations

from pathlib import Path

from firstlight import _core
from firstlight.exporters.engine import Unit
from firstlight.exporters.result import Exported


def write_folded(bundle: Path, out: Path, unit: Unit = "time") -> Exported:
    """Write the self weight of each call path to *out*, one line each.

    :param unit: of the weights: ns of the boot's clock, or instructions.
    :raises BundleError: when the boot has no stacks, or none has the unit.
    :raises FirstlightError: when the file cannot be written.
    """
    exported = Exported()
    exported.weigh(_core.export_folded(str(bundle), str(out), unit), unit)
    return exported

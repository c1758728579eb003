"""Folded stacks, as Brendan Gregg's FlameGraph, inferno, speedscope and Perfetto read them."""

from __future__ import annotations

from pathlib import Path

from firstlight import _core
from firstlight.exporters.engine import Unit
from firstlight.exporters.result import Exported


def write_folded(bundle: Path, out: Path, unit: Unit = "time") -> Exported:
    """Write what each call path did by itself, one line each, to *out*.

    :param unit: what the weights are: ns of the boot's clock, or instructions.
    :raises BundleError: when the boot has no stacks, or none has the unit.
    :raises FirstlightError: when the file cannot be written.
    """
    exported = Exported()
    exported.weigh(_core.export_folded(str(bundle), str(out), unit), unit)
    return exported

"""Folded stacks by process: each below its creator, with its user functions and their calls."""

from __future__ import annotations

from pathlib import Path

from firstlight.analysis.processes.process_stacks import process_stacks
from firstlight.analysis.processes.processes import hint_for
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.escape import printable
from firstlight.exporters.engine import Unit
from firstlight.exporters.result import Exported
from firstlight.recipe.mode import RecordMode


def write_folded_processes(boot: Boot, out: Path, unit: Unit = "time") -> Exported:
    """Write the self weight of each process to *out*; the sum of the weights is the boot.

    :param unit: nanoseconds of the boot's clock, with idle time; or instructions.
    :raises BundleError: when the boot has no processes.
    """
    if boot.table("processes").is_empty() or boot.manifest.mode != RecordMode.EXACT:
        raise BundleError("this boot has no processes", where=str(boot.directory), hint=hint_for(boot))
    weights = ((stack.frames, stack.ns if unit == "time" else stack.instructions) for stack in process_stacks(boot))
    lines = [f"{';'.join(_frame(frame.name) for frame in frames)} {weight}\n" for frames, weight in weights if weight]
    out.write_text("".join(lines), encoding="utf-8", newline="\n")
    return Exported({"processes": boot.table("processes").height, "stacks": len(lines)})


def _frame(name: str) -> str:
    return printable(name.strip(), 200).replace(";", "\\x3b")

"""What a history stores of one boot."""

from __future__ import annotations

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.comparison.boot_figures import Sample
from firstlight.comparison.sides.stable_names import stable_name

#: The kind of measures that say how far the time of a phase may be off, because no record shows when it began or ended.
BOUNDS = "phase_bound"


def inputs_of(boot: Boot, sample: Sample) -> dict[str, str | None]:
    """The digests of the inputs, and the command line, which has none of its own."""
    command_line = boot.manifest.recipe_text("command_line")
    return sample.inputs if command_line is None else {**sample.inputs, "command_line": command_line}


def measures_of(boot: Boot, sample: Sample, number: int) -> pl.DataFrame:
    """The rows of a boot: its total, and its phases with their bounds, functions and userspace, in nanoseconds."""
    rows = [("total", "total", sample.virtual_ns), *(("phase", name, ns) for name, ns in sample.phase_ns.items())]
    rows += [(BOUNDS, name, far) for name in sample.phase_ns if (far := _off(sample, name))]
    calls = boot.calls()
    reliable = Concern.FUNCTIONS not in sample.unreliable
    if reliable and not calls.is_empty() and not calls["self_ns"].null_count():
        functions: dict[str, int] = {}
        for name, ns in calls.group_by("function").agg(pl.col("self_ns").sum()).iter_rows():
            functions[stable_name(name)] = functions.get(stable_name(name), 0) + ns
        rows += [("function", name, ns) for name, ns in sorted(functions.items()) if ns]
    for kind, names in sample.userspace.items():
        rows += [(str(kind), name, ns) for name, ns in names.items() if ns]
    return pl.DataFrame(
        [(number, *row) for row in rows],
        schema={"number": pl.Int32, "kind": pl.String, "name": pl.String, "ns": pl.Int64},
        orient="row",
    )


def _off(sample: Sample, phase: str) -> int:
    """How far the time of a phase may be off; one that nothing bounds is at most off by the whole boot."""
    far = sample.unsure_ns(phase)
    return sample.virtual_ns if far is None else far

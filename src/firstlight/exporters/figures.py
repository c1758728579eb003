"""The figures of a boot that other systems store: its total, phases and marks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import polars as pl

from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import BootState
from firstlight.schema.marks import Phase


@dataclass(frozen=True)
class Figures:
    """The figures of a boot. Times are nanoseconds of the boot's clock, from its first mark."""

    name: str
    """The bundle's, without `.boot`."""
    mode: str
    clock: str
    came_up: bool
    why_not: str | None
    """Why the boot failed."""
    recorded_at: datetime | None
    digest: str
    """Of the bundle's manifest: equal for equal boots only."""
    kernel: str | None
    first: str
    """The mark at which the total begins."""
    last: str
    total_ns: int
    instructions: int | None
    idle_ns: int | None
    phases: dict[str, int]
    """Their sum is the total; time outside of phases is `unknown`."""
    unfinished: frozenset[str]
    """Phases in which a failed boot stopped."""
    marks: dict[str, int]
    """The marks after the first, each at its first instant."""


def figures_of(boot: Boot) -> Figures:
    """Read the figures of a boot.

    :raises BundleError: when a table cannot be read.

    >>> import firstlight
    >>> figures = figures_of(firstlight.open(bundle))
    >>> figures.total_ns == sum(figures.phases.values()) == figures.marks["ready"]
    True
    """
    manifest, whole = boot.manifest, window(boot)
    phases: dict[str, int] = {}
    for phase, ns in boot.phases().select("phase", "duration_ns").drop_nulls().iter_rows():
        phases[phase] = phases.get(phase, 0) + ns
    if rest := whole.length_ns - sum(phases.values()):
        phases[Phase.UNKNOWN] = phases.get(Phase.UNKNOWN, 0) + rest
    marks: dict[str, int] = {}
    for mark, ns in boot.marks().filter(pl.col("time_ns").is_not_null()).select("mark", "time_ns").iter_rows():
        marks[mark] = min(ns - whole.first_ns, marks.get(mark, ns - whole.first_ns))
    marks.pop(whole.first, None)
    failed = manifest.failure
    open_ended = boot.phases().filter(~pl.col("ended"))["phase"]
    return Figures(
        name=boot.directory.resolve().name.removesuffix(".boot"),
        mode=manifest.mode,
        clock=manifest.clock.kind,
        came_up=manifest.status == BootState.COMPLETE and failed is None,
        why_not=None if failed is None else f"{failed.reason}: {failed.detail}",
        recorded_at=_instant(manifest.recorded_at),
        digest=manifest.file_digest,
        kernel=boot.fact_values().get("kernel.release"),
        first=whole.first,
        last=whole.last,
        total_ns=whole.length_ns,
        instructions=manifest.totals.instructions,
        idle_ns=manifest.totals.idle_ns,
        phases=phases,
        unfinished=frozenset() if failed is None else frozenset(open_ended),
        marks=marks,
    )


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def plain_names(names: dict[str, int], limit: int = 100) -> dict[str, int]:
    """The same figures with names of letters, digits, `_` and `-`; names that become equal get a number.

    >>> plain_names({"a b": 1, "a.b": 2, "ready": 3})
    {'a_b': 1, 'a_b-2': 2, 'ready': 3}
    """
    plain: dict[str, int] = {}
    for name, value in names.items():
        kept = (
            "".join(each if each.isascii() and (each.isalnum() or each == "-") else "_" for each in name)[:limit] or "_"
        )
        number, free = 1, kept
        while free in plain:
            number += 1
            free = f"{kept}-{number}"
        plain[free] = value
    return plain

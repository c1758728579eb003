"""What a gate keeps of one boot: enough to compare with, and to say where it came from."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from pydantic import Field

from firstlight.analysis.processes.sums import STORED, UserspaceKind, userspace_sums
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.folding import SHARED_NAME
from firstlight.bundle.manifest import BootState, Concern
from firstlight.bundle.older import HandOver
from firstlight.bundle.reliability import unreliable_text
from firstlight.cache import file_digest
from firstlight.errors import BundleError
from firstlight.frozen import FrozenModel
from firstlight.recipe.mode import RecordMode

#: So many functions are kept by name, those with the most self time; what the others took is a row of its own.
_FUNCTIONS = 100

#: The row for everything of the calling-context tree that is not kept by name.
OTHER_FUNCTIONS = "[all others]"

#: The row for time that no phase covers.
NO_PHASE = "[no phase]"


class PhaseFigures(FrozenModel):
    """One phase."""

    phase: str
    duration_ns: int
    instructions: int | None
    idle_ns: int | None
    unsure_ns: int | None = 0
    """How far the duration may be off because no record shows when a mark was reached; none without a bound."""


class Sample(FrozenModel):
    """One boot, as a baseline keeps it. Times are nanoseconds of the boot's clock."""

    boot: str
    recorded_at: str
    healthy: bool
    why_unhealthy: str | None
    manifest_sha256: str
    tables: dict[str, str]
    """Digest of every table."""
    inputs: dict[str, str | None]
    """Digest of every input."""
    virtual_ns: int
    """The whole boot, from its first mark to its last."""
    instructions: int | None
    idle_ns: int | None
    phases: list[PhaseFigures]
    functions: dict[str, int]
    """Self nanoseconds; with what is left over they add up to the whole. Empty without a profile."""
    userspace: dict[UserspaceKind, dict[str, int]] = Field(default_factory=dict)
    """Nanoseconds executed by process, service and system call; empty where processes were not followed."""
    warnings: int | None
    """Of the kernel."""
    failed_units: list[str] | None
    missing: list[str] = Field(default_factory=list)
    """What of its evidence it lacks, in words; empty where it is complete."""
    unreliable: dict[Concern, str] = Field(default_factory=dict)
    """What of its figures is not reliable, each with the broken invariants in words; empty where all hold."""

    @property
    def phase_ns(self) -> dict[str, int]:
        """The duration of every phase; they add up to the whole."""
        return {phase.phase: phase.duration_ns for phase in self.phases}

    def unsure_ns(self, phase: str) -> int | None:
        """How far the duration of a phase may be off; none where nothing bounds it."""
        return next((each.unsure_ns for each in self.phases if each.phase == phase), 0)

    def in_present_words(self) -> Sample:
        """The same with the present names of phases, of a boot that an earlier version took."""
        over = HandOver.of_phases(self.phase_ns)
        renamed = [row.model_copy(update={"phase": str(over.present(row.phase))}) for row in self.phases]
        return self.model_copy(update={"phases": _merged(renamed)})

    @property
    def unhealthy_text(self) -> str:
        """Why its figures are not measured ones, in words."""
        if Concern.EVERYTHING in self.unreliable:
            return f"its recording is not reliable: {self.unreliable[Concern.EVERYTHING]}"
        return f"the boot did not come up: {self.why_unhealthy}"


def take_sample(boot: Boot) -> Sample:
    """Take from a boot what a gate compares.

    :raises BundleError: when a table is damaged, or nothing shows how long the boot took.

    >>> import firstlight
    >>> sample = take_sample(firstlight.open(bundle))
    >>> sample.virtual_ns == sum(sample.phase_ns.values()) == sum(sample.functions.values())
    True
    """
    manifest = boot.manifest
    whole = window(boot)
    facts = boot.fact_values()
    warnings, units = facts.get("kernel.warnings"), facts.get("systemd.failed")
    failed = manifest.failure
    unreliable = {each: text for each in Concern if (text := unreliable_text(manifest, each)) is not None}
    why = None if failed is None else f"{failed.reason}: {failed.detail}"
    if whole.length_ns <= 0 and failed is None:
        hint = "a baseline needs a boot with at least two marks"
        raise BundleError("the duration of this boot is unknown", where=str(boot.directory), hint=hint)
    return Sample(
        boot=boot.directory.name,
        recorded_at=manifest.recorded_at,
        healthy=manifest.status == BootState.COMPLETE and Concern.EVERYTHING not in unreliable,
        why_unhealthy=why or unreliable.get(Concern.EVERYTHING),
        manifest_sha256=file_digest(boot.directory / "manifest.json"),
        tables=dict(sorted(manifest.table_digests.items())),
        inputs=dict(sorted(manifest.digests.items())),
        virtual_ns=whole.length_ns,
        instructions=manifest.totals.instructions,
        idle_ns=manifest.totals.idle_ns,
        phases=_phases(boot, whole.length_ns),
        functions={} if Concern.FUNCTIONS in unreliable else _functions(boot),
        userspace=_userspace(boot, unreliable),
        warnings=int(warnings) if warnings is not None and warnings.isdecimal() and len(warnings) < 10 else None,
        failed_units=None if units is None else units.split(),
        missing=missing_of(boot),
        unreliable=unreliable,
    )


def missing_of(boot: Boot) -> list[str]:
    """What of a boot's evidence is not there, in words, with the share that is, where that is known.

    >>> import firstlight
    >>> missing_of(firstlight.open(bundle))
    []
    """
    known = boot.manifest.completeness
    if known.complete and not known.missing:
        return []
    share = "" if known.share is None else f" (it has {known.share * 100:.1f} % of its records)"
    first, *others = known.missing or ["a part of its evidence"]
    return [first + share, *others]


def _phases(boot: Boot, whole_ns: int) -> list[PhaseFigures]:
    rows = [
        PhaseFigures(**{name: row[name] for name in ("phase", "duration_ns", "instructions", "idle_ns", "unsure_ns")})
        for row in boot.phases().iter_rows(named=True)
        if row["duration_ns"] is not None
    ]
    rest = whole_ns - sum(row.duration_ns for row in rows)
    if rest or not rows:
        rows.append(PhaseFigures(phase=NO_PHASE, duration_ns=rest, instructions=None, idle_ns=None))
    return _merged(rows)


def _merged(rows: list[PhaseFigures]) -> list[PhaseFigures]:
    """One row for each name."""
    merged: dict[str, PhaseFigures] = {}
    for row in rows:
        if (same := merged.get(row.phase)) is not None:
            unsure = None if row.unsure_ns is None or same.unsure_ns is None else row.unsure_ns + same.unsure_ns
            row = row.model_copy(update={"duration_ns": row.duration_ns + same.duration_ns, "unsure_ns": unsure})
        merged[row.phase] = row
    return list(merged.values())


def _userspace(boot: Boot, unreliable: Mapping[Concern, str]) -> dict[UserspaceKind, dict[str, int]]:
    if Concern.PROCESSES in unreliable or boot.table("processes").is_empty() or boot.manifest.mode != RecordMode.EXACT:
        return {}
    sums = {kind: userspace_sums(boot, kind) for kind in STORED}
    followed = {UserspaceKind.PACKAGE, UserspaceKind.USER_FUNCTION}
    return {kind: names for kind, names in sums.items() if names or kind not in followed}


def _functions(boot: Boot) -> dict[str, int]:
    calls = boot.calls()
    if calls.is_empty() or calls["self_ns"].null_count():
        return {}
    own = calls.group_by(pl.col("function").str.replace(SHARED_NAME, "")).agg(pl.col("self_ns").sum())
    ordered = own.sort("self_ns", "function", descending=[True, False])
    kept = ordered.head(_FUNCTIONS)
    named = {str(name): int(ns) for name, ns in kept.select("function", "self_ns").iter_rows()}
    rest = int(calls["self_ns"].sum()) - sum(named.values())
    return {**named, OTHER_FUNCTIONS: rest} if rest else named

"""Boots a bundle's recipe again and compares the two boots."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from firstlight.bundle.digests import check_digest
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError, UnhealthyBootError
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import resolve
from firstlight.lab.run.table_diff import TableDifference, first_difference
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import FailureReason


@dataclass(frozen=True)
class ChangedInput:
    """An input that is not the one that was recorded."""

    name: str
    recorded: str | None
    now: str | None


@dataclass(frozen=True)
class Verification:
    """Whether a recipe gave the same boot again."""

    inputs: tuple[ChangedInput, ...] = ()
    """Inputs that differ; nothing was booted then."""
    observers: tuple[ChangedInput, ...] = ()
    """What only watches the boot, or was asked to be another, and differs: the recipe was booted all the same."""
    differences: tuple[TableDifference, ...] = ()
    """Tables that differ, each with its first differing row."""
    outcome: str | None = None
    """How the boots ended, when they ended differently."""
    tables: dict[str, int] = field(default_factory=dict)
    """Every table that was compared, and its rows."""
    totals: dict[str, int | None] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Every table is the same, byte for byte."""
        return not self.inputs and not self.differences and self.outcome is None


def verify(
    bundle: Path,
    progress: Progress | None = None,
    *,
    qemu: Path | None = None,
    given: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> Verification:
    """Boot the recipe of a bundle again, into a bundle of its own that is removed, and compare every table.

    A plugin that was built anew only watches the boot: that it differs is reported, and is no reason to stop.

    :param bundle: the bundle's path.
    :param qemu: another QEMU than the recorded one; that its digest differs is then no reason to stop either.
    :param given: inputs that take the place of those that a stranger's bundle names, by the names of the choices.
    :param trust: use what a bundle names that was not recorded here.
    :raises FirstlightError: when a stranger's recipe asks for more than it may.
    :raises BundleError: when it is damaged, or no recording.
    :raises FirstlightError: when it is a live recording, which has no equal.
    :raises LabError: when an input is missing.
    """
    recorded = open_boot(bundle).manifest
    where = str(bundle)
    if recorded.mode == RecordMode.IMPORTED:
        raise FirstlightError(
            "an imported boot cannot be booted again: its records do not contain a recipe",
            where=where,
            hint="`firstlight record` makes boots that repeat exactly",
        )
    if recorded.mode != RecordMode.EXACT:
        raise FirstlightError(
            f"a boot in {recorded.mode} mode never repeats exactly", where=where, hint="record without `--live`"
        )
    failure = recorded.failure
    if failure is not None and failure.reason in (FailureReason.WALL_TIMEOUT, FailureReason.QEMU_DIED):
        raise FirstlightError(
            f"the host ended this boot ({failure.reason}), at a time that never repeats",
            where=where,
            hint="record it again",
        )
    _check_tables(bundle, recorded)
    with tempfile.TemporaryDirectory(prefix="firstlight-verify-") as directory:
        again = Path(directory) / "again.boot"
        options = options_from_manifest(recorded, again, where, trust=trust, given={**(given or {}), "qemu": qemu})
        changed = _changed_inputs(recorded, options, progress)
        watching = {"plugin", *({"qemu", "firmware"} if qemu is not None else ())}
        deciding = tuple(each for each in changed if each.name not in watching)
        observers = tuple(each for each in changed if each.name in watching)
        if deciding:
            return Verification(inputs=deciding, observers=observers)
        # A failed boot's bundle says how it ended, and is compared like any other.
        with suppress(UnhealthyBootError):
            record(options, progress)
        return replace(compare(bundle, again), observers=observers)


def _check_tables(bundle: Path, manifest: Manifest) -> None:
    # The manifest says what the tables were; what stands there now may be something else.
    for table, promised in manifest.tables.items():
        check_digest(bundle, table, promised.sha256)


def compare(bundle: Path, again: Path) -> Verification:
    """Compare two bundles, table by table.

    :raises BundleError: when one is damaged.
    """
    first, second = open_boot(bundle).manifest, open_boot(again).manifest
    for path, manifest in ((bundle, first), (again, second)):
        _check_tables(path, manifest)
    differences = []
    for table in sorted(first.tables.keys() | second.tables.keys()):
        one, other = first.tables.get(table), second.tables.get(table)
        if one is None or other is None or one.sha256 != other.sha256:
            difference = first_difference(bundle, again, table)
            if difference is not None:
                differences.append(difference)
    return Verification(
        differences=tuple(differences),
        outcome=_outcome(first, second),
        tables={name: table.rows for name, table in first.tables.items()},
        totals=first.totals.model_dump(),
    )


def _outcome(first: Manifest, second: Manifest) -> str | None:
    def ended(manifest: Manifest) -> str:
        return manifest.status if manifest.failure is None else f"failed ({manifest.failure.reason})"

    return None if ended(first) == ended(second) else f"it was {ended(first)}, now it is {ended(second)}"


def _changed_inputs(recorded: Manifest, options: RecordOptions, progress: Progress | None) -> tuple[ChangedInput, ...]:
    now = resolve(options, progress or SilentProgress()).digests
    return tuple(
        ChangedInput(name, digest, now.get(name))
        for name, digest in sorted(recorded.digests.items())
        if digest != now.get(name)
    )

"""The nuisance band: how far the figures of an exact boot move under changes that ought not to matter.

An exact difference can still be an accident of where things lie in memory, or of how long the command line is. The same
arm is booted under changes of that sort; what moves there by itself is no finding where it moves by no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from firstlight.boot.boot import Boot
from firstlight.boot.manifest import Manifest
from firstlight.boot.open import open as open_boot
from firstlight.boot.open import read_manifest
from firstlight.compare.arms import CompareError
from firstlight.compare.experiment import boots
from firstlight.compare.experiment.key import key_of_boot, key_of_inputs
from firstlight.compare.noisy.parts import BootParts, Key, parts_of
from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
from firstlight.lab.architecture import X86_64
from firstlight.lab.inputs import resolve
from firstlight.lab.machine import kernel_command_line
from firstlight.lab.options import RecordOptions
from firstlight.lab.progress import Progress, SilentProgress
from firstlight.lab.repeat import options_from_manifest
from firstlight.lab.sizes import parse_size

#: Fewer boots do not show how far figures move.
FEWEST = 8
#: The kernel takes a word with a dot for the option of a module, and passes one that it does not know to nobody.
_PADDING = "firstlight.padding="
_LEVELS = ("phases", "initcalls", "functions")
_MIB = 1 << 20


@dataclass(frozen=True)
class Nuisance:
    """A change that ought not to matter."""

    name: str
    options: RecordOptions


class Range(BaseModel):
    """How far one figure reached over all boots of the band."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: int
    high: int

    @property
    def width(self) -> int:
        """A change of no more than this is not robust."""
        return self.high - self.low


class BandRow(Range):
    """The same of one phase, initcall or function, in nanoseconds; 0 where it did not run."""

    name: str
    module: str
    kind: str


class BandBoot(BaseModel):
    """One boot of the band."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    change: str = Field(description="what was changed; empty for the boot as it was recorded")
    virtual_ns: int
    instructions: int | None
    idle_ns: int | None


class Band(BaseModel):
    """A nuisance band; kept as JSON, dated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["nuisance"] = "nuisance"
    schema_version: Literal[1] = 1
    made_at: str = Field(description="when")
    boot: str = Field(description="the boot that was changed")
    key: str = Field(description="digest of its recipe and inputs")
    kernel: str | None = Field(description="digest of its kernel")
    skipped: list[str] = Field(description="changes that could not be made, with the reason")
    boots: list[BandBoot] = Field(description="the boot itself, then one for each change")
    virtual_ns: Range = Field(description="of the whole")
    instructions: Range | None = Field(description="of the whole")
    idle_ns: Range | None = Field(description="of the whole")
    levels: dict[str, list[BandRow]] = Field(description="of every part that moved at all; what is not there did not")

    def check(self, baseline: Manifest, where: str) -> str | None:
        """Check that a boot may be judged by this band; returns a caution where it is of a similar boot.

        :raises CompareError: when the boot has another kernel: its functions lie elsewhere.
        """
        if baseline.digests.get("kernel") != self.kernel:
            hint = f"`firstlight calibrate {where} -o band.json` makes its own"
            raise CompareError("the nuisance band is of another kernel", where=where, hint=hint)
        if key_of_boot(baseline) != self.key:
            return f"the nuisance band is of `{self.boot}`, whose recipe is not that of the baseline"
        return None

    def widths(self, level: str) -> dict[Key, int]:
        """How far each part of a level moved by itself, in nanoseconds; what is not there did not."""
        return {(row.name, row.module, row.kind): row.width for row in self.levels.get(level, [])}


def make_band(bundle: Path, progress: Progress | None = None, *, trust: bool = False) -> Band:
    """Boot an exact boot's recipe under changes that ought not to matter, and see how far its figures move.

    Boots that were recorded before are taken from the cache.

    :param bundle: the boot; it has to be whole.
    :param trust: use what a boot names that was not recorded here.
    :raises FirstlightError: when it is not exact, or its inputs are others now.
    :raises UnhealthyBootError: when it, or the boot with a change, did not come up.
    :raises LabError: when an input is missing.

    Source: nuisance perturbation, the deterministic counterpart of an A/A test (Mytkowicz et al. 2009, Producing wrong
    data without doing anything obviously wrong).
    """
    progress = progress or SilentProgress()
    manifest, where = read_manifest(bundle), str(bundle)
    if manifest.mode != "exact":
        hint = "give a folder with boots of one recipe, or a live recording: `firstlight calibrate -h`"
        raise FirstlightError(f"a boot in {manifest.mode} mode has no nuisance band", where=where, hint=hint)
    if manifest.failure is not None:
        raise UnhealthyBootError("this boot failed: nothing can be learned from changing it", where=where)
    former = options_from_manifest(manifest, bundle, where, trust=trust)
    key = key_of_boot(manifest)
    if key_of_inputs(resolve(former, progress)) != key:
        message = "its inputs are not what it was recorded with: other boots would differ by more than a nuisance"
        raise FirstlightError(message, where=where, hint="record it again")
    changes, skipped = nuisances(former, manifest)
    figures, parts = [_figures("", manifest)], [parts_of(open_boot(bundle), _LEVELS)]
    for number, change in enumerate(changes, start=1):
        progress.step(f"{change.name} ({number} of {len(changes)})")
        boot = _boot(change, progress)
        figures.append(_figures(change.name, boot.manifest))
        parts.append(parts_of(boot, _LEVELS))
    return band_of(figures, parts, boot=where, manifest=manifest, skipped=skipped)


def nuisances(former: RecordOptions, manifest: Manifest) -> tuple[list[Nuisance], list[str]]:
    """The changes that ought not to matter to a recipe, and those that cannot be made, with the reason.

    >>> options = RecordOptions(output=Path("a.boot"))
    >>> changes, skipped = nuisances(options, firstlight.open(bundle).manifest)
    >>> [change.name for change in changes][:2], len(changes), skipped
    (['command line longer by 21 bytes', 'command line longer by 24 bytes'], 10, [])
    """
    found, skipped = [], []
    for length in (1, 4, 13, 64, 200):
        append = f"{former.append} {_PADDING}{'x' * length}".strip()
        name = f"command line longer by {len(append) - len(former.append) + (not former.append)} bytes"
        try:
            kernel_command_line(X86_64, append)
        except UsageError as error:
            skipped.append(f"{name}: {error.message}")
            continue
        found.append(Nuisance(name, replace(former, append=append)))
    if former.root_as is not None:
        skipped.append("initramfs in another order: the kernel mounts its root without one")
    elif former.initrd is None:
        found += [Nuisance(f"initramfs in another order ({order})", replace(former, initramfs_order=order))
                  for order in (1, 2)]  # fmt: skip
    else:
        skipped.append("initramfs in another order: it is the person's own, and may be packed")
    memory = parse_size(str(manifest.recipe_text("memory") or former.memory or X86_64.default_memory)) // _MIB
    found.append(Nuisance("memory +1 MiB", replace(former, memory=f"{memory + 1}M")))
    found += [Nuisance(f"seed {former.seed + more}", replace(former, seed=former.seed + more)) for more in (1, 2)]
    return found, skipped


def band_of(
    figures: Sequence[BandBoot], parts: Sequence[BootParts], *, boot: str, manifest: Manifest, skipped: list[str]
) -> Band:
    """The ranges over some boots of which the first is the one that was changed.

    :raises UsageError: for fewer than 8 boots.
    """
    if len(figures) < FEWEST:
        raise UsageError(f"need at least {FEWEST} boots for a nuisance band, there are {len(figures)}", where=boot)
    levels = {}
    for level in _LEVELS:
        if all(level in each.levels for each in parts):
            keys = dict.fromkeys(key for each in parts for key in each.levels[level])
            rows = [_row(key, [each.levels[level].get(key, 0) for each in parts]) for key in keys]
            levels[level] = sorted((row for row in rows if row.width), key=lambda row: (-row.width, row.name))
    total = _range(each.virtual_ns for each in figures)
    assert total is not None
    return Band(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"), boot=boot, key=key_of_boot(manifest),
        kernel=manifest.digests.get("kernel"), skipped=skipped, boots=list(figures), virtual_ns=total,
        instructions=_range(each.instructions for each in figures), idle_ns=_range(each.idle_ns for each in figures),
        levels=levels,
    )  # fmt: skip


def _boot(change: Nuisance, progress: Progress) -> Boot:
    key = key_of_inputs(resolve(change.options, progress))
    try:
        return open_boot(boots.obtain(change.options, key, progress)[0])
    except UnhealthyBootError as error:
        message = f"with {change.name}: {error.message}"
        raise UnhealthyBootError(message, where=error.where, hint=error.hint) from error


def _figures(change: str, manifest: Manifest) -> BandBoot:
    totals = manifest.totals
    return BandBoot(change=change, virtual_ns=totals.virtual_ns or 0, instructions=totals.instructions,
                    idle_ns=totals.idle_ns)  # fmt: skip


def _row(key: Key, values: Sequence[int]) -> BandRow:
    return BandRow(name=key[0], module=key[1], kind=key[2], low=min(values), high=max(values))


def _range(values: Iterable[int | None]) -> Range | None:
    known = [value for value in values if value is not None]
    return Range(low=min(known), high=max(known)) if known else None

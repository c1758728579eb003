"""The noise band: how far the figures of an exact boot move under changes that ought not to matter.

An exact difference can still be an accident of where things lie in memory, or of how long the command line is. The same
arm is booted under changes of that sort; what moves there by itself is no finding where it moves by no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import Field, model_validator

from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.older import HandOver
from firstlight.comparison.common.arms import CompareError
from firstlight.comparison.exact.rows import Key
from firstlight.comparison.statistical.breakdown import BootParts
from firstlight.errors import UsageError
from firstlight.frozen import FrozenModel

#: Fewer boots do not show how far figures move.
FEWEST = 8
#: What the file of a noise band says that it is.
BAND_KIND: Literal["noise_band"] = "noise_band"
#: The same up to schema 2 of bundles.
_OLD_KIND = "nuisance"
LEVELS = ("phases", "initcalls", "functions")


class Range(FrozenModel):
    """How far one figure reached over all boots of the band."""

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


class BandBoot(FrozenModel):
    """One boot of the band."""

    change: str = Field(description="what was changed; empty for the boot as it was recorded")
    virtual_ns: int
    instructions: int | None
    idle_ns: int | None


class Band(FrozenModel):
    """A noise band; kept as JSON, dated."""

    kind: Literal["noise_band"] = BAND_KIND
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
            raise CompareError("the noise band is of another kernel", where=where, hint=hint)
        if key_of_boot(baseline) != self.key:
            return f"the noise band is of `{self.boot}`, whose recipe is not that of the baseline"
        return None

    @model_validator(mode="before")
    @classmethod
    def _in_present_words(cls, data: object) -> object:
        """A band of an earlier version has another kind."""
        if not isinstance(data, dict) or data.get("kind") != _OLD_KIND:
            return data
        return data | {"kind": BAND_KIND}

    def in_present_words(self) -> Band:
        """The same with the present names of phases, of a band that an earlier version made."""
        phases = self.levels.get("phases", [])
        over = HandOver.of_phases({row.name for row in phases})
        renamed = [row.model_copy(update={"name": str(over.present(row.name))}) for row in phases]
        return self.model_copy(update={"levels": self.levels | ({"phases": renamed} if phases else {})})

    def widths(self, level: str) -> dict[Key, int]:
        """How far each part of a level moved by itself, in nanoseconds; what is not there did not."""
        return {Key(row.name, row.module, row.kind): row.width for row in self.levels.get(level, [])}


def band_of(
    figures: Sequence[BandBoot], parts: Sequence[BootParts], *, boot: str, manifest: Manifest, skipped: list[str]
) -> Band:
    """The ranges over some boots of which the first is the one that was changed.

    :raises UsageError: for fewer than 8 boots.
    """
    if len(figures) < FEWEST:
        raise UsageError(f"need at least {FEWEST} boots for a noise band, there are {len(figures)}", where=boot)
    levels = {}
    for level in LEVELS:
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


def figures_of_boot(change: str, manifest: Manifest) -> BandBoot:
    """The totals of one boot of a band.

    :param change: what was changed in it; empty for the boot as it was recorded.
    """
    totals = manifest.totals
    return BandBoot(change=change, virtual_ns=totals.virtual_ns or 0, instructions=totals.instructions,
                    idle_ns=totals.idle_ns)  # fmt: skip


def _row(key: Key, values: Sequence[int]) -> BandRow:
    return BandRow(**key._asdict(), low=min(values), high=max(values))


def _range(values: Iterable[int | None]) -> Range | None:
    known = [value for value in values if value is not None]
    return Range(low=min(known), high=max(known)) if known else None

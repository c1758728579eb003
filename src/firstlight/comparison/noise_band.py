"""The noise band: how far the figures of an exact boot move under changes that ought not to matter.

An exact difference can still be an accident of where things lie in memory, or of how long the command line is. The same
arm is booted under changes of that sort; what moves there by itself is not a finding where it moves by no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import polars as pl
from pydantic import Field, model_validator

from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.older import HandOver
from firstlight.comparison.exact.functions import function_key
from firstlight.comparison.exact.ledger import Tolerance
from firstlight.comparison.exact.rows import Key, Row
from firstlight.comparison.exact.tree import TreeDifference
from firstlight.comparison.sides.arms import CompareError
from firstlight.comparison.statistical.breakdown import BootParts
from firstlight.errors import UsageError
from firstlight.frozen import FrozenModel

#: Fewer boots do not show how far figures move.
FEWEST = 8
#: What the file of a noise band says that it is.
BAND_KIND: Literal["noise_band"] = "noise_band"
#: The same up to schema 2 of bundles.
_OLD_KIND = "nuisance"
LEVELS = ("phases", "initcalls", "functions", "processes", "services", "system_calls", "packages", "user_functions")


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
    path_ns: int = Field(0, description="of a function: how far its self moved on one call path")


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
    release: str | None = Field(None, description="the kernel's release, where it is known")
    skipped: list[str] = Field(description="changes that could not be made, with the reason")
    boots: list[BandBoot] = Field(description="the boot itself, then one for each change")
    virtual_ns: Range = Field(description="of the whole")
    instructions: Range | None = Field(description="of the whole")
    idle_ns: Range | None = Field(description="of the whole")
    levels: dict[str, list[BandRow]] = Field(description="of every part that moved at all; what is not there did not")
    residual_ns: int = Field(
        0, description="what one of the boots changes beyond the band of the others, as sizes added up"
    )

    def check(self, baseline: Manifest, where: str) -> str | None:
        """Check that this band applies to a boot; returns a caution where the band is of a similar boot.

        :raises CompareError: when the boot has another kernel: its functions lie elsewhere.
        """
        if baseline.digests.get("kernel") != self.kernel:
            hint = f"`firstlight calibrate {where} -o band.json` makes its own"
            raise CompareError("the noise band is of another kernel", where=where, hint=hint)
        if key_of_boot(baseline) != self.key:
            return f"the noise band is for `{self.boot}`, whose recipe differs from the baseline's"
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

    @property
    def tolerance(self) -> Tolerance:
        """How much changes by itself, as the causal ledger takes it."""
        paths = {Key(row.name, row.module, row.kind): row.path_ns for row in self.levels.get("functions", [])}
        idle_ns = 0 if self.idle_ns is None else self.idle_ns.width
        initcalls = self.widths("initcalls")
        return Tolerance(self.widths("functions"), paths, idle_ns, self.residual_ns, initcalls)

    def widths(self, level: str) -> dict[Key, int]:
        """How far each part of a level moved by itself, in nanoseconds; what is not there did not."""
        return {Key(row.name, row.module, row.kind): row.width for row in self.levels.get(level, [])}


def band_of(
    figures: Sequence[BandBoot],
    parts: Sequence[BootParts],
    moves: Sequence[PathMoves] = (),
    *,
    boot: str,
    manifest: Manifest,
    release: str | None = None,
    skipped: list[str],
) -> Band:
    """The ranges over some boots of which the first is the one that was changed.

    :param moves: how the call paths of each of the others moved from the first.
    :raises UsageError: for fewer than 8 boots that differ from each other.
    """
    if len(figures) < FEWEST:
        message = f"a noise band needs at least {FEWEST} boots that differ, there are {len(figures)}"
        raise UsageError(message, where=boot)
    levels = {}
    for level in LEVELS:
        if all(level in each.levels for each in parts):
            keys = dict.fromkeys(key for each in parts for key in each.levels[level])
            rows = [_row(key, [each.levels[level].get(key, 0) for each in parts]) for key in keys]
            levels[level] = sorted((row for row in rows if row.width), key=lambda row: (-row.width, row.name))
    if "functions" in levels:
        reach = path_reach(moves)
        known = {Key(row.name, row.module, row.kind): row for row in levels["functions"]}
        still = [BandRow(**key._asdict(), low=0, high=0) for key in reach if key not in known]
        rows = [*levels["functions"], *still]
        levels["functions"] = [
            row.model_copy(update={"path_ns": reach.get(Key(row.name, row.module, row.kind), 0)}) for row in rows
        ]
    total = _range(each.virtual_ns for each in figures)
    assert total is not None
    return Band(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"), boot=boot, key=key_of_boot(manifest),
        kernel=manifest.digests.get("kernel"), release=release, skipped=skipped, boots=list(figures), virtual_ns=total,
        instructions=_range(each.instructions for each in figures), idle_ns=_range(each.idle_ns for each in figures),
        levels=levels,
    )  # fmt: skip


#: How each call path of one boot moved from that of another: by function and number of the path.
PathMoves = Mapping[tuple[Key, int], int]


def path_moves(tree: TreeDifference) -> PathMoves:
    """How the self of each call path of two boots differs, in nanoseconds. Paths of A always have the same numbers."""
    columns = ("function", "module", "kind", "number", "self_change_ns")
    changed = tree.nodes.filter(pl.col("self_change_ns") != 0).select(columns)
    return {
        (function_key(Row(function, None, None, module, kind)), number): ns
        for function, module, kind, number, ns in changed.iter_rows()
    }


def path_reach(moves: Sequence[PathMoves]) -> dict[Key, int]:
    """How far one path of each function reached over several boots, the unchanged one among them."""
    low: dict[tuple[Key, int], int] = {}
    high: dict[tuple[Key, int], int] = {}
    for each in moves:
        for path, ns in each.items():
            low[path], high[path] = min(low.get(path, 0), ns), max(high.get(path, 0), ns)
    reach: dict[Key, int] = {}
    for path in low:
        reach[path[0]] = max(reach.get(path[0], 0), high[path] - low[path])
    return reach


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

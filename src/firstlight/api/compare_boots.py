"""Comparing boots: one typed result for exact differences and for statistics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open
from firstlight.bundle.part import part_between
from firstlight.comparison.compare import Comparison as Evidence
from firstlight.comparison.compare import compare_arms, is_settled
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.sides.arms import BootSet, read_arm, read_arms
from firstlight.errors import UsageError

if TYPE_CHECKING:
    from firstlight.comparison.noise_band import Band
    from firstlight.comparison.robustness import Robustness
    from firstlight.comparison.statistical.pairing import How
    from firstlight.comparison.statistical.quantiles import Statistic
    from firstlight.comparison.statistical.testbed_noise import Calibration

BootLike: TypeAlias = "Boot | str | os.PathLike[str]"
Side: TypeAlias = "BootLike | BootSet | Sequence[BootLike]"


@dataclass(frozen=True)
class Total:
    """Both sides as a whole, in nanoseconds; means where the boots of a side vary."""

    a_ns: float
    b_ns: float

    @property
    def change_ns(self) -> float:
        """B less A: positive is slower."""
        return self.b_ns - self.a_ns


@dataclass(frozen=True)
class Comparison:
    """What changed from A, the baseline, to B.

    >>> import firstlight
    >>> found = firstlight.compare(bundle, bundle)
    >>> found.exact, found.settled, found.total.change_ns
    (True, True, 0)
    >>> found.table("phases")["change_ns"].sum() == found.total.change_ns
    True
    """

    a: BootSet
    b: BootSet
    evidence: Evidence
    """The comparison with all its details."""
    robustness: Robustness | None = None
    """What a noise band says of an exact difference, where one was given."""

    @property
    def exact(self) -> bool:
        """Whether the figures are exact differences; else they are means, with intervals and tests."""
        return isinstance(self.evidence, ExactDifference)

    @property
    def settled(self) -> bool:
        """Whether the comparison settles anything; false of one boot a side that is not exact, and of statistics
        that are inconclusive."""
        return is_settled(self.evidence)

    @cached_property
    def total(self) -> Total:
        """Both sides from their first mark to their last."""
        if isinstance(self.evidence, ExactDifference):
            whole = self.evidence.whole
            return Total(whole.a.ns if whole.a else 0, whole.b.ns if whole.b else 0)
        a, b = self.evidence.a_ns, self.evidence.b_ns
        return Total(sum(a) / len(a), sum(b) / len(b))

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every level that both sides have evidence for, by its name: `phases`, `functions`, `processes`, ….

        Columns: `name`, `module`, `kind`, `a_ns`, `b_ns`, `change_ns`; of exact boots also `a_calls`, `b_calls`,
        `change_instructions`, and with exact profiles `caused_ns`, `moved_ns` and `accident_ns`; of boots that vary
        `low_ns`, `high_ns`, `p` (adjusted) and `differs`. `change_ns` of all rows of a level adds up to the total; a
        row of kind `rest` is what the level does not attribute.
        """
        if isinstance(self.evidence, ExactDifference):
            parts = self.evidence.parts
            return {
                level.name: _frame(
                    {
                        "name": row.name, "module": row.module, "kind": row.kind,
                        "a_ns": row.a.ns if row.a else 0, "b_ns": row.b.ns if row.b else 0, "change_ns": row.change_ns,
                        "a_calls": row.a.calls if row.a else None, "b_calls": row.b.calls if row.b else None,
                        "change_instructions": row.change_instructions,
                        **(asdict(parts[level.name][row.key]) if level.name in parts else {}),
                    }
                    for row in level.rows
                )
                for level in self.evidence.levels
            }  # fmt: skip
        return {
            level.name: _frame(
                {
                    "name": row.name, "module": row.module, "kind": row.kind,
                    "a_ns": row.a_mean_ns, "b_ns": row.b_mean_ns, "change_ns": row.change_ns,
                    "low_ns": row.low_ns, "high_ns": row.high_ns, "p": row.adjusted_p, "differs": row.differs,
                }
                for row in level.rows
            )
            for level in self.evidence.levels
        }  # fmt: skip

    def table(self, level: str) -> pl.DataFrame:
        """One level of ``tables``.

        :raises BundleError: when the boots have no such level; the hint names the nearest.
        """
        from firstlight.suggest import unknown_name

        unknown_name("level", level, list(self.tables), self.b.name)
        return self.tables[level]

    @property
    def changes(self) -> pl.DataFrame:
        """The rows of all levels that changed, the largest change of each level first.

        The first column is `level`; within a level `change_ns` adds up to the total.

        >>> import firstlight
        >>> firstlight.compare(bundle, bundle).changes.height
        0
        """
        changed = [
            frame.filter(pl.col("change_ns") != 0).select(pl.lit(name).alias("level"), pl.all())
            for name, frame in self.tables.items()
        ]
        return pl.concat(changed, how="vertical_relaxed") if changed else pl.DataFrame(schema={"level": pl.String})

    def __repr__(self) -> str:
        how = "exact" if self.exact else "statistical"
        state = "" if self.settled else ", inconclusive"
        return f"<Comparison of {self.a.name!r} and {self.b.name!r}: {how}, {self.total.change_ns:+,.0f} ns{state}>"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(repr(self))}</b></p>" + self.changes._repr_html_()


def open_arms(paths: Sequence[str | os.PathLike[str]]) -> list[BootSet]:
    """Open the sides of a comparison, the first of which is the baseline.

    :param paths: bundles, or directories with several boots of one recipe; at least two.
    :raises UsageError: for fewer than two.
    :raises FirstlightError: when one cannot be read, or no boot of one came up.
    """
    return read_arms([Path(path) for path in paths])


def compare(
    a: Side,
    b: Side,
    *,
    soft_percent: float = 1.0,
    seed: int = 1,
    describe: bool = False,
    pairing: How = "auto",
    bin_ns: int | None = None,
    quantiles: Sequence[str] = (),
    look: int | None = None,
    band: Band | Calibration | str | os.PathLike[str] | None = None,
    from_mark: str | None = None,
    to_mark: str | None = None,
) -> Comparison:
    """Compare *b* with *a*, the baseline; the parts add up to the total change.

    Exact boots are compared in whole numbers, one boot a side. Boots that vary are compared by statistics.

    :param a: a boot, its path, several of these, or a directory of bundles of one recipe.
    :param b: the other side, alike.
    :param soft_percent: of boots that vary: a difference within this does not matter.
    :param seed: of boots that vary: of resampling; the same seed gives the same answer.
    :param describe: of boots that vary: also give mean, median, mode and standard deviation of each side.
    :param pairing: of boots that vary: pairs by time of recording (`auto`), by name, or none.
    :param bin_ns: the width of the mode's bins, in nanoseconds.
    :param quantiles: of boots that vary: `p50`, `p90`, `p95` or `slow-share` (the share of boots in the slow mode),
        each compared with an interval and a verdict of its own.
    :param look: of boots that vary: the number of this look, counted from 1, where you add boots until the verdict
        settles; all looks together call equal arms different in at most 5 % of sessions.
    :param band: what :func:`firstlight.calibrate` found, or its file: the band for changes.
    :param from_mark: compare the boots from this mark; functions are not compared then.
    :param to_mark: compare the boots up to this mark; functions are not compared then.
    :raises CompareError: when the two cannot be compared; it is a ``FirstlightError``.
    :raises BundleError: when a boot cannot be read.

    Source: docs/concepts, "Exact mode" and "Statistics".

    >>> import firstlight
    >>> firstlight.compare(bundle, bundle)
    <Comparison of '...' and '...': exact, +0 ns>
    """
    from firstlight.experiment.calibrate.file import read_band

    judged_by = read_band(Path(band)) if isinstance(band, (str, os.PathLike)) else band
    one, other = (_part(_arm(side), from_mark, to_mark) for side in (a, b))
    found = compare_arms(
        one, other, soft_percent=soft_percent, seed=seed, describing=describe, pairing=pairing, bin_ns=bin_ns,
        statistics=_statistics(quantiles), look=look, band=judged_by,
    )  # fmt: skip
    robustness = None
    if judged_by is not None and judged_by.kind == "noise_band" and isinstance(found, ExactDifference):
        from firstlight.comparison.robustness import check_against_band

        robustness = check_against_band(found, judged_by)
    return Comparison(one, other, found, robustness)


def _part(arm: BootSet, from_mark: str | None, to_mark: str | None) -> BootSet:
    if from_mark is None and to_mark is None:
        return arm
    return replace(arm, boots=tuple(part_between(boot, from_mark, to_mark) for boot in arm.boots))


def _arm(side: Side) -> BootSet:
    if isinstance(side, BootSet):
        return side
    if isinstance(side, Boot):
        return BootSet(str(side.directory), (side,))
    if isinstance(side, (str, os.PathLike)):
        return read_arm(Path(side))
    boots: tuple[Boot, ...] = tuple(each if isinstance(each, Boot) else open(each) for each in side)
    return BootSet(", ".join(boot.directory.name for boot in boots), boots)


def _frame(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


def _statistics(names: Sequence[str]) -> list[Statistic]:
    if not names:
        return []
    from firstlight.comparison.statistical.quantiles import Statistic

    known = [each.value for each in Statistic]
    for name in names:
        if name not in known:
            raise UsageError(f"`{name}` is not a statistic", hint=f"one of {', '.join(f'`{each}`' for each in known)}")
    return [Statistic(name) for name in names]

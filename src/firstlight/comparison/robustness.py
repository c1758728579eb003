"""Which changes of an exact difference are larger than what moves by itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.noise_band import Band


@dataclass(frozen=True)
class BandedChange:
    """A change beside the range that its figure has by itself."""

    name: str
    module: str | None
    kind: str
    change_ns: int
    band_ns: int

    @property
    def robust(self) -> bool:
        """Whether the change is larger than the range; else it is exact but not robust."""
        return abs(self.change_ns) > self.band_ns


@dataclass(frozen=True)
class Robustness:
    """A difference with the verdicts of a noise band."""

    caution: str | None
    total: BandedChange
    levels: dict[str, list[BandedChange]]
    """Every change of each level that the band knows, largest first."""
    robust_ns: int | None = None
    """The robust part of the total: what the causal ledger calls caused; none where there is no ledger."""

    def to_data(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "caution": self.caution,
            "total": _data(self.total),
            "robust_ns": self.robust_ns,
            "levels": {name: [_data(row) for row in rows] for name, rows in self.levels.items()},
        }


def check_against_band(difference: ExactDifference, band: Band) -> Robustness:
    """Judge the changes of a difference by the noise band of its baseline.

    :raises CompareError: when the band is of another kernel.

    Source: a difference within the range of nuisance perturbations is exact but not robust.
    """
    caution = band.check(difference.a.manifest, str(difference.a.directory))
    levels = {}
    for level in difference.levels:
        if level.name in band.levels:
            widths = band.widths(level.name)
            levels[level.name] = [
                BandedChange(row.name, row.module, row.kind, row.change_ns,
                       widths.get(row.key, 0))
                for row in level.rows if row.change_ns
            ]  # fmt: skip
    total = BandedChange("all", None, "whole", difference.whole.change_ns, band.virtual_ns.width)
    ledger = difference.ledger
    return Robustness(caution, total, levels, None if ledger is None else ledger.total.caused_ns)


def _data(row: BandedChange) -> dict[str, Any]:
    return {**asdict(row), "robust": row.robust}

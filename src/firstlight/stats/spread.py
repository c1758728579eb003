"""Differences between two arms beyond the median: spread, shape and modes."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel
from firstlight.stats.modality import Mode, modes
from firstlight.stats.sample_size import robust_sigma

#: Below this the tests of spread and shape say nothing at all.
_FEWEST = 6


class Spread(FrozenModel):
    """Spread, shape and modes of two arms; p is none where there are too few boots or nothing varies."""

    a_percent: float = Field(description="robust standard deviation of a in percent of its median")
    b_percent: float = Field(description="of b")
    spread_p: float | None = Field(description="that the spreads are equal: Levene's test around the median, on logs")
    shape_p: float | None = Field(description="that the shapes are equal, each around its median: Cramer-von Mises")
    a_modes: list[Mode] = Field(description="the sorts that the boots of a come in, fastest first")
    b_modes: list[Mode] = Field(description="of b")

    @property
    def shifts_ns(self) -> list[int] | None:
        """How far each mode moved from a to b; none where the arms differ in the number of their modes."""
        if len(self.a_modes) != len(self.b_modes):
            return None
        return [b.at_ns - a.at_ns for a, b in zip(self.a_modes, self.b_modes, strict=True)]


def spread(a_ns: npt.ArrayLike, b_ns: npt.ArrayLike) -> Spread:
    """Compare the spreads of two arms.

    :param a_ns: times of one arm, above 0.
    :param b_ns: of the other.

    Source: Brown and Forsythe 1974, by `scipy.stats.levene`; Anderson 1962, by `scipy.stats.cramervonmises_2samp`.

    >>> found = spread([100, 101, 99, 100, 102, 98], [100, 110, 90, 100, 120, 80])
    >>> found.spread_p < 0.05, len(found.a_modes)
    (True, 1)
    """
    a, b = np.log(np.asarray(a_ns, dtype=np.float64)), np.log(np.asarray(b_ns, dtype=np.float64))
    spread_p = shape_p = None
    if min(a.size, b.size) >= _FEWEST and (np.ptp(a) > 0.0 or np.ptp(b) > 0.0):
        from scipy.stats import cramervonmises_2samp, levene

        spread_p = _known(float(levene(a, b, center="median").pvalue))
        shape_p = _known(float(cramervonmises_2samp(a - np.median(a), b - np.median(b), method="asymptotic").pvalue))
    return Spread(
        a_percent=robust_sigma(a) * 100.0,
        b_percent=robust_sigma(b) * 100.0,
        spread_p=spread_p,
        shape_p=shape_p,
        a_modes=modes(a_ns),
        b_modes=modes(b_ns),
    )


def _known(p: float) -> float | None:
    return p if math.isfinite(p) else None

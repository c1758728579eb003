"""Descriptive figures of one arm: mean, median, mode and standard deviation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel

#: Narrower bins would hold nothing but chance.
_MOST_BINS = 1_000


class Bin(FrozenModel):
    """The fullest bin of a histogram."""

    low: float = Field(description="where it begins")
    high: float = Field(description="where it ends")
    count: int = Field(description="how many values lie in it")
    tied: int = Field(default=0, description="so many further bins are as full; the lowest is shown")

    @property
    def middle(self) -> float:
        """The middle of the bin: the mode, as a figure."""
        return (self.low + self.high) / 2.0


class Description(FrozenModel):
    """Some values in five figures, in the values' own unit."""

    count: int = Field(description="how many values there are")
    mean: float | None = Field(description="their sum divided by their number")
    median: float | None = Field(description="half of them lie below")
    mode: Bin | None = Field(description="the fullest bin; none where no bin has two values")
    stddev: float | None = Field(description="sample standard deviation (n - 1); none for fewer than two values")
    low: float | None = Field(description="the least")
    high: float | None = Field(description="the largest")


def describe(values: npt.ArrayLike, bin_width: float | None = None) -> Description:
    """Mean, median, mode with its bin and standard deviation of some values.

    :param values: finite, in any unit.
    :param bin_width: of the bins of the mode, which then begin at multiples of it; by default as Freedman and Diaconis
        choose it from the spread.
    :raises ValueError: for a value that is not finite, or a bin without a width.

    >>> found = describe([8.1, 8.2, 8.1, 5.0, 6.5, 8.1], bin_width=0.5)
    >>> round(found.mean, 3), found.median, found.mode.low, found.mode.high, found.mode.count
    (7.333, 8.1, 8.0, 8.5, 4)
    >>> describe([]).mean is None
    True
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a value is not finite")
    if bin_width is not None and not (np.isfinite(bin_width) and bin_width > 0):
        raise ValueError("a bin has to be wider than 0")
    if array.size == 0:
        return Description(count=0, mean=None, median=None, mode=None, stddev=None, low=None, high=None)
    return Description(
        count=array.size,
        mean=float(np.mean(array)),
        median=float(np.median(array)),
        mode=_fullest(array, bin_width),
        stddev=float(np.std(array, ddof=1)) if array.size > 1 else None,
        low=float(array.min()),
        high=float(array.max()),
    )


def _fullest(values: npt.NDArray[np.float64], width: float | None) -> Bin | None:
    if values.min() == values.max() and width is None:
        return Bin(low=float(values[0]), high=float(values[0]), count=values.size) if values.size > 1 else None
    if width is None:
        edges = np.histogram_bin_edges(values, bins="fd")
        if edges.size - 1 > _MOST_BINS:
            edges = np.histogram_bin_edges(values, bins=_MOST_BINS)
        counts = np.histogram(values, edges)[0]
        lows, highs = edges[:-1], edges[1:]
    else:
        numbers, counts = np.unique(np.floor(values / width), return_counts=True)
        lows, highs = numbers * width, (numbers + 1) * width
    most = int(counts.max())
    if most < 2:
        return None
    place = int(np.argmax(counts))
    return Bin(low=float(lows[place]), high=float(highs[place]), count=most, tied=int((counts == most).sum()) - 1)

"""The modes of boot times: whether boots fall into two groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel

#: With fewer boots two sorts cannot be distinguished from chance.
FEWEST = 10
_POINTS = 512
_NARROWER = 0.6
#: A mode holds at least so many boots, and this share of them: a few slow boots are outliers, not a sort.
_FEWEST_OF_A_MODE = 3
LEAST_SHARE = 0.15
#: Between two modes the density falls below this share of the lower one.
_DEEPEST_VALLEY = 0.5


class Mode(FrozenModel):
    """One sort of boots."""

    at_ns: int = Field(description="median time of its boots")
    boots: int = Field(description="how many boots it has")
    share: float = Field(description="the same as a share of all")


def modes(times_ns: npt.ArrayLike, *, least_share: float = LEAST_SHARE) -> list[Mode]:
    """The sorts that some boots come in, fastest first; one where there are too few to distinguish them.

    :param times_ns: above 0.
    :param least_share: a mode holds at least this share of the boots, and three.

    Source: peaks of a Gaussian kernel density of the logarithms. Silverman's bandwidth (1986) supposes one mode and
    hides two; with 0.6 of it and the rules below, 1 % of simulated sessions of 12 to 60 boots of one sort (log-normal
    noise, 4 % outliers) show two, and 63 to 79 % of 12 boots (92 to 97 % of 24) that come in two sorts six standard
    deviations apart.

    >>> fast, slow = modes([99.0, 100, 101, 100, 99, 101, 100, 117, 118, 116, 117, 118])
    >>> fast.boots, slow.boots, slow.at_ns
    (7, 5, 117)
    """
    times = np.sort(np.asarray(times_ns, dtype=np.float64))
    whole = [Mode(at_ns=round(float(np.median(times))), boots=times.size, share=1.0)]
    if times.size < FEWEST or times[0] == times[-1]:
        return whole
    parts = np.split(times, np.searchsorted(times, _valleys(times, least_share)))
    if len(parts) < 2:
        return whole
    return [Mode(at_ns=round(float(np.median(part))), boots=part.size, share=part.size / times.size) for part in parts]


def _valleys(times: npt.NDArray[np.float64], least_share: float) -> list[float]:
    """The times that part the sorts."""
    from scipy.signal import find_peaks
    from scipy.stats import gaussian_kde

    logs = np.log(times)
    density = gaussian_kde(logs, bw_method=lambda kde: kde.silverman_factor() * _NARROWER)
    margin = 3.0 * float(np.sqrt(density.covariance[0, 0]))
    grid = np.linspace(logs[0] - margin, logs[-1] + margin, _POINTS)
    heights = density(grid)
    peaks = [int(peak) for peak in find_peaks(heights)[0]]
    # Neighbours that are not parted, or of which one is too small, become one, the least parted first.
    while len(peaks) > 1:
        lows = [left + int(np.argmin(heights[left:right])) for left, right in pairwise(peaks)]
        counts = np.diff([0, *np.searchsorted(logs, grid[lows]), logs.size])
        fewest = max(_FEWEST_OF_A_MODE, least_share * logs.size)
        depths = [
            1.0 if min(counts[place], counts[place + 1]) < fewest
            else heights[low] / min(heights[peaks[place]], heights[peaks[place + 1]])
            for place, low in enumerate(lows)
        ]  # fmt: skip
        worst = int(np.argmax(depths))
        if depths[worst] <= _DEEPEST_VALLEY:
            return [float(np.exp(grid[low])) for low in lows]
        lower = worst if heights[peaks[worst]] < heights[peaks[worst + 1]] else worst + 1
        del peaks[lower]
    return []

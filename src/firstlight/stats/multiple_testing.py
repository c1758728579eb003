"""P values corrected for many comparisons."""

from __future__ import annotations

from collections.abc import Sequence

#: A leaf whose change is less than this share of the total is not worth a test of its own.
LEAF_FLOOR = 0.001


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p of few comparisons, such as gates or phases: that any alarm is false stays below the level.

    :param p_values: none where nothing could be tested; it stays none and does not count.

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure".

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    adjusted = list(p_values)
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    least = 0.0
    for rank, (p, place) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - rank)))
        adjusted[place] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p of hundreds of comparisons, such as functions: of all alarms the share of false ones stays low.

    :param p_values: none where nothing could be tested; it stays none and does not count.

    Source: Benjamini and Hochberg 1995, by `scipy.stats.false_discovery_control`.

    >>> benjamini_hochberg([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    from scipy.stats import false_discovery_control

    adjusted = iter(float(p) for p in false_discovery_control(known, method="bh"))
    return [None if p is None else next(adjusted) for p in p_values]

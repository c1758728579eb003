"""How far what one way of timing saw is from the profile of the same boot."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from firstlight_studies.kernel_hotspots.boot_observations import Intervals


@dataclass(frozen=True)
class Deviation:
    """One way beside the profile of the same boot."""

    intervals: int
    """Initcalls that both saw."""
    sum_ns: int
    """Of these, by this way."""
    profile_ns: int
    """Of these, by the profile."""
    middle_ns: float
    """The deviation that half of them stay below."""
    largest_ns: int
    largest: str
    """Whose deviation is the largest."""


def deviation(seen: Intervals, profile: Intervals) -> Deviation | None:
    """Hold what one way saw beside the profile.

    >>> deviation({"a": 5, "b": 9, "c": 1}, {"a": 4, "b": 9}).largest
    'a'
    """
    both = sorted(seen.keys() & profile.keys())
    if not both:
        return None
    off = {name: seen[name] - profile[name] for name in both}
    largest = max(both, key=lambda name: (abs(off[name]), name))
    return Deviation(
        len(both),
        sum(seen[name] for name in both),
        sum(profile[name] for name in both),
        median(abs(value) for value in off.values()),
        off[largest],
        largest,
    )

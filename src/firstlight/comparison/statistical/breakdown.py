"""What each boot of an arm spent where: the levels of the exact difference, one boot at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from firstlight.bundle.boot import Boot
from firstlight.bundle.phase_bounds import unsure_phases
from firstlight.comparison.exact.difference import exact_difference
from firstlight.comparison.exact.rows import Key


@dataclass(frozen=True)
class BootParts:
    """One boot's whole, and how its levels part it; the figures of each level add up to the whole."""

    whole_ns: int
    levels: dict[str, dict[Key, int]]
    unsure_ns: dict[str, int | None] = field(default_factory=dict)
    """How far the durations of phases may be off, of those that are not certain; none without a bound."""


def parts_of(boot: Boot, only: Sequence[str] | None = None) -> BootParts:
    """Part a boot as the exact comparison does, which checks the sums.

    :param only: these levels; by default every one that the boot has the evidence for.

    >>> found = parts_of(firstlight.open(bundle))
    >>> found.whole_ns == sum(found.levels["phases"].values())
    True
    """
    # The difference of a boot from itself has every part of it, under the keys by which boots are matched.
    itself = exact_difference(boot, boot)
    assert itself.whole.a is not None
    levels: dict[str, dict[Key, int]] = {}
    found = itself.levels if only is None else [itself.level(name) for name in only]
    for level in found:
        if level is None:
            continue
        parts: dict[Key, int] = {}
        for row in level.rows:
            if row.a is not None:
                parts[row.key] = parts.get(row.key, 0) + row.a.ns
        levels[level.name] = parts
    phases = unsure_phases(boot.phases())
    return BootParts(itself.whole.a.ns, levels, dict(phases.select("phase", "unsure_ns").iter_rows()))


def levels_of_all(boots: Sequence[BootParts]) -> list[str]:
    """The levels that every boot has the evidence for, in the order of the first."""
    return [name for name in boots[0].levels if all(name in other.levels for other in boots)]

"""What was measured of every setting at every size, and what two settings have in common."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import MissingValue
from firstlight_studies.lvm_activation.arms import BY_KEY, LAYOUT_TITLES, Row
from firstlight_studies.lvm_activation.measures import ActivationFigures
from firstlight_studies.lvm_activation.programs import Programs

Measured = Mapping[Row, Mapping[int, ActivationFigures | MissingValue]]
"""By setting and layout, by the number of physical volumes."""


def row_title(row: Row) -> str:
    """A setting and a layout, for people.

    >>> row_title(("event", "group"))
    'events; one group of N'
    """
    return f"{BY_KEY[row[0]].title}; {LAYOUT_TITLES[row[1]]}"


def largest(
    one: Mapping[int, ActivationFigures | MissingValue], other: Mapping[int, ActivationFigures | MissingValue]
) -> int | None:
    """The largest size that came up with both."""
    came_up = [
        size
        for size in one
        if not isinstance(one[size], MissingValue) and not isinstance(other.get(size), MissingValue | None)
    ]
    return max(came_up, default=None)


def pair(measured: Measured, one: Row, other: Row) -> tuple[int, ActivationFigures, ActivationFigures] | MissingValue:
    """Two settings at the largest size that both came up with; or why there is no such size."""
    if one not in measured or other not in measured:
        return MissingValue("this setting was left out of a quick run")
    size = largest(measured[one], measured[other])
    if size is None:
        return MissingValue("no size came up with both")
    first, second = measured[one][size], measured[other][size]
    assert isinstance(first, ActivationFigures)
    assert isinstance(second, ActivationFigures)
    return size, first, second


def programs_by_size(measured: Measured, row: Row) -> dict[int, Programs]:
    """What the processes of a setting did, by the sizes at which that is known, ascending."""
    return {
        size: each.programs
        for size, each in sorted(measured.get(row, {}).items())
        if isinstance(each, ActivationFigures) and isinstance(each.programs, Programs)
    }

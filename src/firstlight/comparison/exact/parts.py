"""The three parts of a change of an exact boot."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from firstlight.comparison.exact.rows import Key

_K = TypeVar("_K", bound=Hashable)


class ChangePart(StrEnum):
    """What a changed nanosecond is."""

    CAUSED = "caused"
    """Reached from the input that differs."""
    MOVED = "moved"
    """The same work at another place: in another phase, from another caller, or because of the timer."""
    ACCIDENT = "accident"
    """Within the noise band: boots that differ by nothing that matters change as much."""


@dataclass(frozen=True)
class Parts:
    """A change in nanoseconds; the parts add up to it."""

    caused_ns: int = 0
    moved_ns: int = 0
    accident_ns: int = 0

    @property
    def change_ns(self) -> int:
        """The sum of the parts."""
        return self.caused_ns + self.moved_ns + self.accident_ns

    def __add__(self, other: Parts) -> Parts:
        return Parts(
            self.caused_ns + other.caused_ns, self.moved_ns + other.moved_ns, self.accident_ns + other.accident_ns
        )

    @classmethod
    def of(cls, part: ChangePart, change_ns: int) -> Parts:
        """A change that is all of one part.

        >>> Parts.of(ChangePart.MOVED, -5)
        Parts(caused_ns=0, moved_ns=-5, accident_ns=0)
        """
        return cls(**{f"{part}_ns": change_ns})


def added(parts: Iterable[Parts]) -> Parts:
    """The sum of several changes.

    >>> added([Parts(1), Parts(2, 3)])
    Parts(caused_ns=3, moved_ns=3, accident_ns=0)
    """
    return added_by(("", each) for each in parts).get("", Parts())


def added_by(pairs: Iterable[tuple[_K, Parts]]) -> dict[_K, Parts]:
    """The sums of changes that have one key, in the order of the keys' first changes.

    >>> added_by([("f", Parts(1)), ("g", Parts(5)), ("f", Parts(0, 2))])["f"]
    Parts(caused_ns=1, moved_ns=2, accident_ns=0)
    """
    sums: dict[_K, list[int]] = {}
    for key, parts in pairs:
        found = sums.setdefault(key, [0, 0, 0])
        found[0] += parts.caused_ns
        found[1] += parts.moved_ns
        found[2] += parts.accident_ns
    return {key: Parts(*found) for key, found in sums.items()}


def ordered_parts(level: Mapping[Key, Parts]) -> list[tuple[Key, Parts]]:
    """The rows of a level of the ledger, the largest caused change first.

    >>> [key.name for key, _ in ordered_parts({Key("f"): Parts(1), Key("g"): Parts(-2)})]
    ['g', 'f']
    """
    return sorted(level.items(), key=lambda row: (-abs(row[1].caused_ns), -abs(row[1].change_ns), row[0]))


def over_places(change: Parts, places: Sequence[int]) -> list[Parts]:
    """Distribute the change of one call path over the places where it happened, such as phases.

    A place whose change has the other sign than the sum took work from the other places: that work moved. So did what
    the others gained by it. The rest of them is distributed in proportion.

    :param change: of the call path; its parts have one sign.
    :param places: the change at each place, in nanoseconds; they add up to *change*.
    :returns: the parts at each place: they add up to its change, and over all places to *change*.

    >>> over_places(Parts(caused_ns=10), [30, -20])
    [Parts(caused_ns=10, moved_ns=20, accident_ns=0), Parts(caused_ns=0, moved_ns=-20, accident_ns=0)]
    >>> over_places(Parts(), [7, -7])
    [Parts(caused_ns=0, moved_ns=7, accident_ns=0), Parts(caused_ns=0, moved_ns=-7, accident_ns=0)]
    """
    total = change.change_ns
    weights = [abs(place) if place * total > 0 else 0 for place in places]
    caused, accident = apportion(change.caused_ns, weights), apportion(change.accident_ns, weights)
    return [Parts(one, place - one - other, other) for place, one, other in zip(places, caused, accident, strict=True)]


def over_rows(change: Parts, rows: Sequence[int]) -> list[Parts]:
    """Distribute a change over rows that are not places of one call path, such as processes.

    What is caused goes to rows that changed in its direction, in proportion; what is an accident likewise. The rest of
    each row moved.

    :param change: its parts may have different signs.
    :param rows: the change of each row; they add up to *change*.
    :returns: the parts of each row: they add up to its change, and over all rows to *change*.

    >>> over_rows(Parts(caused_ns=10, accident_ns=-2), [14, -6])
    [Parts(caused_ns=10, moved_ns=4, accident_ns=0), Parts(caused_ns=0, moved_ns=-4, accident_ns=-2)]
    """
    caused, accident = (_in_direction(part, rows) for part in (change.caused_ns, change.accident_ns))
    return [Parts(one, row - one - other, other) for row, one, other in zip(rows, caused, accident, strict=True)]


def _in_direction(amount: int, rows: Sequence[int]) -> list[int]:
    weights = [abs(row) if row * amount > 0 else 0 for row in rows]
    if not any(weights):
        weights = [abs(row) for row in rows]
    if not any(weights):
        weights = [0] * (len(rows) - 1) + [1]
    return apportion(amount, weights)


def apportion(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an integer in proportion; the shares add up to it.

    >>> apportion(-7, [1, 2])
    [-3, -4]
    """
    total, given, seen, shares = sum(weights), 0, 0, []
    for weight in weights:
        seen += weight
        until = amount * seen // total if total else 0
        shares.append(until - given)
        given = until
    return shares

"""Rows of a difference: what a thing was in A and in B, and how its change splits into causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from firstlight.comparison.sides.stable_names import stable_name
from firstlight.schema.spans import CallKind

Presence = Literal["only_a", "only_b", "both"]


#: Kinds whose names are not functions': nothing in them is a compiler's.
_AS_THEY_ARE = ("process", "service", "system_call", "file", "package", "user_function")


class Key(NamedTuple):
    """What a thing is matched by."""

    name: str
    module: str = ""
    kind: str = ""


@dataclass(frozen=True)
class RowDelta:
    """What one side says of a thing; null is not known."""

    ns: int
    """Nanoseconds of the clock, of its own."""
    instructions: int | None = None
    idle_ns: int | None = None
    calls: int | None = None

    def __add__(self, other: RowDelta) -> RowDelta:
        return RowDelta(
            self.ns + other.ns,
            _sum(self.instructions, other.instructions),
            _sum(self.idle_ns, other.idle_ns),
            _sum(self.calls, other.calls),
        )


@dataclass(frozen=True)
class Split:
    """The change of a row in parts that add up to it; doubled, so that they are whole numbers.

    Of a function each call path is split by itself, and the parts are added up.
    """

    gone_doubled_ns: int
    """Twice what call paths change that only A has."""
    new_doubled_ns: int
    """Twice what call paths change that only B has."""
    calls_doubled_ns: int
    """Twice what being called more often costs, at the mean of both sides' cost per call."""
    cost_doubled_ns: int
    """Twice what costing more per call costs, at the mean of both sides' number of calls."""


@dataclass(frozen=True)
class Row:
    """One thing in both boots, or in one of them."""

    name: str
    a: RowDelta | None
    b: RowDelta | None
    module: str | None = None
    kind: str = ""
    """What sort of thing it is; `rest` is what a level does not attribute, `sum` several things added up."""
    doubtful: float | None = None
    """The larger share of its calls that are doubtful in either boot, from 0 to 1; none where they are few."""
    by_path: Split | None = None
    """Of a function with a profile: the split of its call paths, added up."""
    is_unsure: bool = False
    """Whether its change is no larger than its duration may be off, because no record shows when it began or ended."""

    @property
    def key(self) -> Key:
        """What it is matched by in other boots."""
        name = self.name if self.kind in _AS_THEY_ARE else stable_name(self.name)
        return Key(name, self.module or "", self.kind)

    @property
    def presence(self) -> Presence:
        """Which of the boots has it."""
        return "only_b" if self.a is None else "only_a" if self.b is None else "both"

    @property
    def change_ns(self) -> int:
        """B less A, in nanoseconds; what is not there takes none."""
        return (self.b.ns if self.b else 0) - (self.a.ns if self.a else 0)

    @property
    def change_instructions(self) -> int | None:
        """B less A, in instructions; none where a side that is there does not count them."""
        return self._change("instructions")

    @property
    def change_idle_ns(self) -> int | None:
        """B less A, in nanoseconds without instructions."""
        return self._change("idle_ns")

    @property
    def change_calls(self) -> int | None:
        """B less A, in calls."""
        return self._change("calls")

    @property
    def changed(self) -> bool:
        """Whether any figure differs."""
        return self.a != self.b

    @property
    def split(self) -> Split | None:
        """How the change splits; without call paths none for what is in one boot only or has no calls."""
        if self.by_path is not None:
            return self.by_path
        if (
            self.kind in ("sum", CallKind.USER)
            or self.a is None
            or self.b is None
            or not self.a.calls
            or not self.b.calls
        ):
            return None
        return split(self.a.calls, self.a.ns, self.b.calls, self.b.ns)

    def _change(self, figure: str) -> int | None:
        sides = [0 if side is None else getattr(side, figure) for side in (self.a, self.b)]
        return None if None in sides else sides[1] - sides[0]


def split(calls_a: int, ns_a: int, calls_b: int, ns_b: int) -> Split:
    """Split a change into *called more often* and *costs more per call* (Marshall-Edgeworth, Shapley of two factors).

    With n calls and a cost of m per call the change is mean(m) dn + mean(n) dm. A cost per call is not an integer: the
    first part is rounded to half a nanosecond, the second is what it leaves, so that the sum is exact.

    :param calls_a: calls in A, at least 1.
    :param ns_a: what they took together, in nanoseconds.

    >>> split(10, 100, 20, 200)  # twice as often, as dear as before
    Split(gone_doubled_ns=0, new_doubled_ns=0, calls_doubled_ns=200, cost_doubled_ns=0)
    >>> split(3, 10, 7, 11)
    Split(gone_doubled_ns=0, new_doubled_ns=0, calls_doubled_ns=20, cost_doubled_ns=-18)
    """
    numerator = (ns_a * calls_b + ns_b * calls_a) * (calls_b - calls_a)
    denominator = calls_a * calls_b
    # Rounded away from nothing, so that B against A is A against B with the signs turned.
    by_calls = (2 * abs(numerator) + denominator) // (2 * denominator)
    by_calls = by_calls if numerator >= 0 else -by_calls
    return Split(0, 0, by_calls, 2 * (ns_b - ns_a) - by_calls)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other

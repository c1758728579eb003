"""How far two observers of one boot agree: a pure function of their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from firstlight.audit.tables import AuditFigures, Tables
from firstlight.schema.spans import CallRow


class Measure(StrEnum):
    """What is compared."""

    COUNTS = "counts"
    SELF = "self"
    TOTALS = "totals"
    EDGES = "edges"
    INITCALLS = "initcalls"


LIMITS: dict[Measure, float] = {
    Measure.COUNTS: 1.0,
    Measure.SELF: 0.999,
    Measure.TOTALS: 0.995,
    Measure.EDGES: 0.999,
    Measure.INITCALLS: 1.0,
}
"""The share that has to agree."""
LARGE_INSTRUCTIONS = 100_000
"""Totals are compared of functions with more than this."""
TOTAL_TOLERANCE = 0.001
"""Totals that differ by no more than this share of the larger one are equal."""


@dataclass(frozen=True)
class AgreedShare:
    """How much of something agrees."""

    measure: Measure
    equal: int
    of: int

    @property
    def share(self) -> float:
        """From 0 to 1; 1 where there is nothing to compare."""
        return self.equal / self.of if self.of else 1.0

    @property
    def reached(self) -> bool:
        """Whether it is at least the limit."""
        return self.share >= LIMITS[self.measure]


@dataclass(frozen=True)
class AuditDifference:
    """One thing on which the observers do not agree."""

    measure: Measure
    what: str
    """The function, or `CALLER > CALLEE`."""
    recorded: int
    observed: int

    @property
    def difference(self) -> int:
        """By how much the recorded figure is larger."""
        return self.recorded - self.observed


@dataclass(frozen=True)
class Agreement:
    """What two observers agree on, and every exception, the largest of each measure first."""

    shares: dict[Measure, AgreedShare]
    exceptions: tuple[AuditDifference, ...]

    @property
    def reached(self) -> bool:
        """Whether every share is at least its limit."""
        return all(share.reached for share in self.shares.values())


def agreement(recorded: Tables, observed: Tables) -> Agreement:
    """Compare what the recorder and the second observer say of one boot.

    :param recorded: the recorder's tables.
    :param observed: the second observer's.

    Source: the figures of the agreement are defined in `docs/design/oracle.md`.

    >>> one = Tables(100, {"f": AuditFigures(2, 60, 100), "g": AuditFigures(1, 40, 40)}, {("f", "g"): 1})
    >>> other = Tables(100, {"f": AuditFigures(2, 60, 100), "g": AuditFigures(2, 40, 40)}, {("f", "g"): 2})
    >>> found = agreement(one, other)
    >>> found.shares[Measure.COUNTS].share, found.reached
    (0.5, False)
    >>> [(each.measure.value, each.what, each.difference) for each in found.exceptions]
    [('counts', 'g', -1), ('edges', 'f > g', -1)]
    """
    parts = (
        _counts(recorded, observed),
        _selves(recorded, observed),
        _totals(recorded, observed),
        _edges(recorded, observed),
        _initcalls(recorded, observed),
    )
    exceptions: list[AuditDifference] = []
    for _, found in parts:
        exceptions += sorted(found, key=lambda each: (-abs(each.difference), each.what))
    return Agreement({share.measure: share for share, _ in parts}, tuple(exceptions))


_NOTHING = AuditFigures()


def _pairs(recorded: Tables, observed: Tables) -> Iterable[tuple[str, AuditFigures, AuditFigures]]:
    for name in sorted(recorded.functions.keys() | observed.functions.keys()):
        yield name, recorded.functions.get(name, _NOTHING), observed.functions.get(name, _NOTHING)


def _compared(
    measure: Measure, rows: Sequence[tuple[str, int, int]], tolerance: float = 0.0
) -> tuple[AgreedShare, list[AuditDifference]]:
    """How many rows agree, and those that do not: they differ by more than a share of the larger figure."""
    found = [AuditDifference(measure, *row) for row in rows if abs(row[1] - row[2]) > tolerance * max(row[1:])]
    return AgreedShare(measure, len(rows) - len(found), len(rows)), found


def _counts(recorded: Tables, observed: Tables) -> tuple[AgreedShare, list[AuditDifference]]:
    pairs = _pairs(recorded, observed)
    return _compared(
        Measure.COUNTS,
        [(name, one.entries, other.entries) for name, one, other in pairs if name != CallRow.KERNEL_WITHOUT_SYMBOL],
    )


def _selves(recorded: Tables, observed: Tables) -> tuple[AgreedShare, list[AuditDifference]]:
    rows = [(name, one.self_instructions, other.self_instructions) for name, one, other in _pairs(recorded, observed)]
    _, found = _compared(Measure.SELF, rows)
    # What one function lacks another has, so half of the differences is what stands at the wrong one.
    wrong = -(-sum(abs(each.difference) for each in found) // 2)
    executed = max(sum(each.self_instructions for each in observed.functions.values()), 1)
    return AgreedShare(Measure.SELF, max(executed - wrong, 0), executed), found


def _totals(recorded: Tables, observed: Tables) -> tuple[AgreedShare, list[AuditDifference]]:
    rows = [(name, one.total_instructions, other.total_instructions) for name, one, other in _pairs(recorded, observed)]
    return _compared(Measure.TOTALS, [row for row in rows if max(row[1:]) > LARGE_INSTRUCTIONS], TOTAL_TOLERANCE)


def _edges(recorded: Tables, observed: Tables) -> tuple[AgreedShare, list[AuditDifference]]:
    edges = recorded.edges.keys() | observed.edges.keys()
    rows = [(" > ".join(edge), recorded.edges.get(edge, 0), observed.edges.get(edge, 0)) for edge in edges]
    calls = max(sum(recorded.edges.values()), sum(observed.edges.values()))
    return AgreedShare(Measure.EDGES, sum(min(row[1:]) for row in rows), calls), _compared(Measure.EDGES, rows)[1]


def _initcalls(recorded: Tables, observed: Tables) -> tuple[AgreedShare, list[AuditDifference]]:
    every = sorted(recorded.initcalls | observed.initcalls)
    return _compared(
        Measure.INITCALLS, [(name, int(name in recorded.initcalls), int(name in observed.initcalls)) for name in every]
    )

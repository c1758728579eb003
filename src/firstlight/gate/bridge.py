"""What changed between a baseline and boots: parts whose changes add up to the change of the whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from firstlight.analysis.processes.sums import UserspaceKind
from firstlight.comparison.boot_figures import NO_PHASE, OTHER_FUNCTIONS, Sample
from firstlight.gate.phase_evidence import PhaseEvidence
from firstlight.gate.verdict import GateResult

#: The row for all phases, or functions, together.
ALL = "all"
#: Functions with a row of their own.
_MOST_FUNCTIONS = 10


@dataclass(frozen=True)
class GateChange:
    """One part, in nanoseconds; of several boots the mean, because means add up."""

    name: str
    before_ns: int | None
    """None: the baseline has no such part."""
    after_ns: int | None
    change_ns: int


@dataclass(frozen=True)
class Bridge:
    """From the robust change of the total, which decides for noisy boots, to that of the means, which add up."""

    headline_ns: int | None
    """The Hodges-Lehmann estimate on the baseline's median; none where no rule asks for it."""
    mean_ns: int
    bridge_ns: int | None
    """The mean less the headline."""


def bridge(result: GateResult) -> Bridge | None:
    """What lies between the rules' change of the total and that of the tables; none of exact boots, where it is one."""
    changes = phase_changes(result)
    if result.exact or not changes:
        return None
    total = next((check for check in result.checks if (check.kind, check.what) == ("soft", "total")), None)
    mean = changes[-1].change_ns
    if total is None or total.baseline_ns is None or total.change_percent is None:
        return Bridge(None, mean, None)
    headline = round(total.baseline_ns * total.change_percent / 100)
    return Bridge(headline, mean, mean - headline)


def phase_changes(result: GateResult) -> list[GateChange]:
    """Every phase that both sides know, in the order of the boot, and below them the total; each column adds up.

    :returns: nothing when no boot came up: what was not measured is no change.
    """
    if not result.came_up:
        return []
    sides = (result.baseline.samples, result.came_up)
    common, first = PhaseEvidence(*sides).in_both(), next(iter(result.came_up[0].phase_ns))
    before, after = (_means([_joined(sample, common, first) for sample in side]) for side in sides)
    names = list(dict.fromkeys([*after, *before]))
    return [*(_change(name, before, after) for name in names), _whole(before, after)]


def function_changes(result: GateResult) -> list[GateChange]:
    """The functions whose self time changed most, the largest first; what is left is a row, so that they add up.

    A baseline keeps the functions with the most self time: one that it does not keep is among the others.

    :returns: nothing without profiles on both sides.
    """
    arms = [[sample.functions for sample in arm] for arm in (result.baseline.samples, result.came_up)]
    if not all(arm and all(arm) for arm in arms):
        return []
    # Only what both sides keep by name can be compared by name.
    names = set.intersection(*(set(functions) for arm in arms for functions in arm)) - {OTHER_FUNCTIONS}
    before, after = (
        _means(
            [
                {**{name: functions[name] for name in names},
                 OTHER_FUNCTIONS: sum(ns for name, ns in functions.items() if name not in names)}
                for functions in arm
            ]
        )
        for arm in arms
    )  # fmt: skip
    return _largest(before, after, names)


def process_changes(result: GateResult) -> list[GateChange]:
    """The programs whose processes changed most, the largest first; all other time of the boot is a row.

    :returns: nothing where processes of one side were not followed.
    """
    arms = [
        [(sample.virtual_ns, sample.userspace.get(UserspaceKind.PROCESS)) for sample in arm]
        for arm in (result.baseline.samples, result.came_up)
    ]
    if not all(arm and all(programs is not None for _, programs in arm) for arm in arms):
        return []
    before, after = (
        _means([{**(programs or {}), OTHER_FUNCTIONS: ns - sum((programs or {}).values())} for ns, programs in arm])
        for arm in arms
    )
    names = (before.keys() | after.keys()) - {OTHER_FUNCTIONS}
    return _largest(before, after, names)


def _largest(before: dict[str, int], after: dict[str, int], names: Collection[str]) -> list[GateChange]:
    """The largest changes, the sum of everything else, and that of the whole.

    :param names: what may have a row of its own.
    """
    rows = sorted((_change(name, before, after) for name in names), key=lambda row: (-abs(row.change_ns), row.name))
    shown = [row for row in rows[:_MOST_FUNCTIONS] if row.change_ns]
    named = {row.name for row in shown}
    rest = [sum(ns for name, ns in arm.items() if name not in named) for arm in (before, after)]
    return [*shown, GateChange(OTHER_FUNCTIONS, rest[0], rest[1], rest[1] - rest[0]), _whole(before, after)]


def _joined(sample: Sample, common: Sequence[str], first: str) -> dict[str, int]:
    """The phases that both sides know; a phase that one side lacks is part of the one before it, whose end it has.

    :param first: the name of what comes before the first common one.
    """
    phases: dict[str, int] = {}
    name = first
    for phase, ns in sample.phase_ns.items():
        name = phase if phase in common or phase == NO_PHASE else name
        phases[name] = phases.get(name, 0) + ns
    return phases


def _means(rows: Sequence[dict[str, int]]) -> dict[str, int]:
    """The mean of every part in whole nanoseconds; what rounding leaves goes to the largest, so that all add up."""
    if not rows:
        return {}
    names = dict.fromkeys(name for row in rows for name in row)
    means = {name: sum(row.get(name, 0) for row in rows) // len(rows) for name in names}
    left = sum(sum(row.values()) for row in rows) // len(rows) - sum(means.values())
    if means and left:
        means[max(means, key=lambda name: means[name])] += left
    return means


def _change(name: str, before: dict[str, int], after: dict[str, int]) -> GateChange:
    return GateChange(name, before.get(name), after.get(name), after.get(name, 0) - before.get(name, 0))


def _whole(before: dict[str, int], after: dict[str, int]) -> GateChange:
    sums = sum(before.values()), sum(after.values())
    return GateChange(ALL, *sums, sums[1] - sums[0])

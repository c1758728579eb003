"""What each factor did: main effects, interactions, and which factors did nothing. All figures are fractions, exactly.

Source: experiments.md 7.6; R. Plackett and J. Burman, "The design of optimum multifactorial experiments" (1946).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod

from firstlight.experiment.cell_result import CellResult
from firstlight.experiment.results import Results
from firstlight.recipe.mode import RecordMode

Value = Callable[[CellResult], Fraction | None]
"""What of a cell is looked at."""


@dataclass(frozen=True)
class MainEffect:
    """A factor's level against its baseline, everything else alike."""

    factor: str
    level: str
    baseline: str
    effect: Fraction | None
    """The mean change from the baseline to the level; `None`: no two cells show it."""
    pairs: int
    """Over so many comparisons of cells."""
    possible: int
    """There would be so many if every cell counted."""
    least: Fraction | None
    most: Fraction | None
    """The smallest and the largest of the changes: they differ where factors interact."""
    nothing: str | None
    """Why the factor is said to do nothing; `None`: it does something, or it is unknown."""


@dataclass(frozen=True)
class Interaction:
    """How much both together change beyond what each alone does: the difference of the differences."""

    factors: tuple[str, str]
    levels: tuple[str, str]
    effect: Fraction | None
    squares: int
    """Over so many squares of four cells."""


def time_of(cell: CellResult) -> Fraction | None:
    """The mean time, nanoseconds."""
    return cell.time


def main_effects(results: Results, value: Value = time_of) -> list[MainEffect]:
    """The effect of every level of every factor against the factor's first level.

    In a full design each effect is the mean over all combinations of the other factors. In a fractional or
    Plackett-Burman design no two cells differ in one factor alone: the effect is the difference of the means of the
    halves, and it needs every cell. One at a time each effect is that against the baseline alone.
    """
    effects = []
    for factor in results.plan.factors:
        baseline, *others = factor.levels
        for level in others:
            if results.plan.design.kind in ("fractional", "plackett-burman"):
                effects.append(_contrast(results, factor.name, baseline, level, value))
            else:
                effects.append(_paired(results, factor.name, baseline, level, value))
    return effects


def boots_everything(results: Results) -> bool:
    """Whether an experiment has a cell for every combination of levels, as small fractional designs have, too."""
    every = prod(len(factor.levels) for factor in results.plan.factors)
    return bool(results.plan.factors) and len({_key(cell.levels) for cell in results.cells}) == every


def interactions(results: Results, value: Value = time_of) -> list[Interaction]:
    """The interaction of every two factors, each from its first level to any other; only a design
    that boots every combination shows them.

    The largest come first; unknown ones last.
    """
    if not boots_everything(results):
        return []
    cells = _by_levels(results)
    found = []
    for one, other in combinations(results.plan.factors, 2):
        base_one, *levels_one = one.levels
        base_other, *levels_other = other.levels
        for level_one in levels_one:
            for level_other in levels_other:
                squares = []
                for rest in _rests(results, (one.name, other.name)):
                    corners = [
                        None if cell is None else value(cell)
                        for a, b in product((level_one, base_one), (level_other, base_other))
                        for cell in (cells.get(_key({**rest, one.name: a, other.name: b})),)
                    ]
                    if (known := _all_known(corners)) is not None:
                        squares.append(known[0] - known[1] - known[2] + known[3])
                mean = sum(squares, Fraction(0)) / len(squares) if squares else None
                names = (one.name, other.name)
                found.append(Interaction(names, (level_one, level_other), mean, len(squares)))
    return sorted(found, key=lambda each: (each.effect is None, -abs(each.effect or 0)))


def aliases(results: Results) -> list[tuple[str, list[str]]]:
    """Of a design of fractions: with which interactions of two factors each main effect is mixed up in full.

    Source: the signs of the design; two columns of equal signs (or of opposite ones) cannot be distinguished.
    """
    if results.plan.design.kind not in ("fractional", "plackett-burman"):
        return []
    columns = {
        factor.name: [1 if cell.levels[factor.name] == list(factor.levels)[1] else -1 for cell in results.cells]
        for factor in results.plan.factors
    }
    found = []
    for name, column in columns.items():
        mixed = []
        for one, other in combinations([each for each in columns if each != name], 2):
            shared = sum(a * b * c for a, b, c in zip(columns[one], columns[other], column, strict=True))
            if abs(shared) == len(column):
                mixed.append(f"{one} x {other}")
        if mixed:
            found.append((name, mixed))
    return found


def _paired(results: Results, factor: str, baseline: str, level: str, value: Value) -> MainEffect:
    cells = _by_levels(results)
    changes, keys, possible = [], [], 0
    for rest in _rests(results, (factor,)):
        before, after = (cells.get(_key({**rest, factor: each})) for each in (baseline, level))
        if before is None or after is None:
            continue
        possible += 1
        known = _all_known([value(before), value(after)])
        if known is not None:
            changes.append(known[1] - known[0])
            keys.append(before.key == after.key)
    effect = sum(changes, Fraction(0)) / len(changes) if changes else None
    nothing = None
    if changes and all(keys):
        nothing = "it changes no input of any boot"
    elif changes and not any(changes) and results.plan.mode == RecordMode.EXACT:
        nothing = "every boot takes as long with it as without it, to the nanosecond"
    return MainEffect(
        factor, level, baseline, effect, len(changes), possible, min(changes, default=None),
        max(changes, default=None), nothing,
    )  # fmt: skip


def _contrast(results: Results, factor: str, baseline: str, level: str, value: Value) -> MainEffect:
    halves: dict[str, list[Fraction | None]] = {baseline: [], level: []}
    for cell in results.cells:
        halves[cell.levels[factor]].append(value(cell))
    before, after = (_all_known(halves[each]) for each in (baseline, level))
    possible = len(results.cells) // 2
    if not before or not after:
        return MainEffect(factor, level, baseline, None, 0, possible, None, None, None)
    effect = sum(after, Fraction(0)) / len(after) - sum(before, Fraction(0)) / len(before)
    nothing = "its effect is zero, to the nanosecond" if effect == 0 and results.plan.mode == RecordMode.EXACT else None
    return MainEffect(factor, level, baseline, effect, possible, possible, None, None, nothing)


def _key(levels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(levels.items()))


def _by_levels(results: Results) -> dict[tuple[tuple[str, str], ...], CellResult]:
    return {_key(cell.levels): cell for cell in results.cells}


def _rests(results: Results, without: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every combination of the other factors' levels that a cell has, once."""
    seen = set()
    for cell in results.cells:
        rest = {name: level for name, level in cell.levels.items() if name not in without}
        if (key := _key(rest)) not in seen:
            seen.add(key)
            yield rest


def _all_known(values: Sequence[Fraction | None]) -> list[Fraction] | None:
    known = [each for each in values if each is not None]
    return known if len(known) == len(values) else None

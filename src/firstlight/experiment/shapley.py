"""Who gets how much of the whole change: shares that add up exactly, beside first in and last out.

Source: L. S. Shapley, "A value for n-person games" (1953): a factor's share is its change of the time when it is
switched on, averaged over every order in which all factors can be switched on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import factorial, prod

from firstlight.experiment.effects import boots_everything
from firstlight.experiment.results import Results

#: The shares of so many factors are a sum over 2^12 cells.
MOST_FACTORS = 12


@dataclass(frozen=True)
class ShapleyShare:
    """One factor's part of the change from all at their first level to all at their last."""

    factor: str
    level: str
    """The last one: that the factor is switched to."""
    share: Fraction
    whole: int
    """The share as a whole number of nanoseconds; these add up, too."""
    first_in: Fraction
    """The change when it alone is switched on."""
    last_out: Fraction
    """The change when it is switched on last, behind all others."""


@dataclass(frozen=True)
class Shares:
    """All factors' shares; they add up to the total, exactly."""

    total: Fraction
    """All on less all off."""
    shares: list[ShapleyShare]


def shapley(results: Results) -> Shares | str:
    """The shares of all factors, or why there are none.

    Of a factor with more than two levels the first and the last one count.
    """
    plan = results.plan
    if not plan.factors:
        return "arms have no shares: write the changes as factors"
    if not boots_everything(results):
        every = prod(len(factor.levels) for factor in plan.factors)
        booted = f"{len(results.cells)} of {every:,} combinations"
        return f"this {plan.design.kind} design boots {booted}: shares need all of them"
    if len(plan.factors) > MOST_FACTORS:
        return f"{len(plan.factors)} factors are too many to compute exact shares"
    ends = [(factor.name, next(iter(factor.levels)), list(factor.levels)[-1]) for factor in plan.factors]
    cells = {tuple(sorted(cell.levels.items())): cell for cell in results.cells}
    times: list[Fraction] = []
    for subset in range(1 << len(ends)):
        levels = {name: last if subset >> place & 1 else first for place, (name, first, last) in enumerate(ends)}
        cell = cells.get(tuple(sorted(levels.items())))
        time = None if cell is None else cell.time
        if time is None:
            why = "is not there" if cell is None else f"does not count: {cell.why_not}"
            return f"cell `{','.join(f'{name}={level}' for name, level in levels.items())}` {why}"
        times.append(time)
    return shares_of([(name, last) for name, _, last in ends], times)


def shares_of(factors: Sequence[tuple[str, str]], times: Sequence[Fraction]) -> Shares:
    """The shares of factors from the times of every combination.

    :param factors: each with the level that it is switched to.
    :param times: by the set of factors that are on, a bit for each.

    >>> shares = shares_of([("a", "on"), ("b", "on")], [Fraction(each) for each in (100, 90, 80, 60)])
    >>> [(each.factor, each.whole) for each in shares.shares]
    [('a', -15), ('b', -25)]
    """
    number = len(factors)
    everything = (1 << number) - 1
    total = times[everything] - times[0]
    parts = []
    for place in range(number):
        bit = 1 << place
        others = [1 << other for other in range(number) if other != place]
        share = Fraction(0)
        for size in range(number):
            weight = Fraction(factorial(size) * factorial(number - size - 1), factorial(number))
            for chosen in combinations(others, size):
                before = sum(chosen)
                share += weight * (times[before | bit] - times[before])
        parts.append(share)
    if sum(parts, Fraction(0)) != total:
        raise AssertionError("the shares do not add up to the change")
    return Shares(
        total,
        [
            ShapleyShare(
                name,
                level,
                part,
                whole,
                times[1 << place] - times[0],
                times[everything] - times[everything ^ 1 << place],
            )
            for place, ((name, level), part, whole) in enumerate(
                zip(factors, parts, whole_parts(parts, round(total)), strict=True)
            )
        ],
    )


def whole_parts(parts: Sequence[Fraction], total: int) -> list[int]:
    """Whole numbers next to the parts that add up to a whole total: what is left goes to the largest remainders.

    >>> whole_parts([Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)], 1)
    [1, 0, 0]
    >>> whole_parts([Fraction(-7, 2), Fraction(1, 2)], -3)
    [-3, 0]
    """
    floors = [part.numerator // part.denominator for part in parts]
    remainders = sorted(range(len(parts)), key=lambda place: (floors[place] - parts[place], place))
    for place in remainders[: total - sum(floors)]:
        floors[place] += 1
    return floors

"""What each kept remedy is worth: first in, last out, and a share; the shares add up exactly.

If every combination was booted, the share is the Shapley value. Otherwise it is the mean of first in and last out: the
Shapley value where only pairs of remedies interact. What three and more do together is a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction

from firstlight.experiment.shapley import shares_of, whole_parts
from firstlight.frozen import FrozenModel

_MOST_EXACT = 10


class RemedyShare(FrozenModel):
    """The worth of a remedy, in nanoseconds; negative is faster."""

    remedy: str
    first_in_ns: int | None
    """The change when it alone is applied."""
    last_out_ns: int | None
    """The change when it is applied last."""
    share_ns: int | None
    """Its part of the total change; nothing where the boots do not suffice."""


class RemedyShares(FrozenModel):
    """The shares of all kept remedies."""

    total_ns: int
    shares: tuple[RemedyShare, ...]
    together_ns: int
    """What three and more remedies do together; with the shares it adds up to the total."""
    exact: bool
    """Whether the shares are Shapley values of every combination."""


def remedy_shares(kept: Collection[str], time: Callable[[Collection[str]], int | None]) -> RemedyShares | None:
    """The shares of the kept remedies; nothing where the baseline or the result was not measured.

    :param time: of a choice of remedies, if it was measured.

    >>> times = {"": 100, "a": 90, "b": 80, "ab": 60}
    >>> found = remedy_shares("ab", lambda choice: times["".join(sorted(choice))])
    >>> [(each.remedy, each.share_ns) for each in found.shares], found.together_ns
    ([('a', -15), ('b', -25)], 0)
    """
    names = sorted(kept)
    baseline, result = time([]), time(names)
    if baseline is None or result is None:
        return None
    first = {name: None if (alone := time([name])) is None else alone - baseline for name in names}
    last = {
        name: None if (without := time([other for other in names if other != name])) is None else result - without
        for name in names
    }
    parts, exact = _exact(names, time), True
    if parts is None:
        parts, exact = _of_pairs(names, first, last), False
    total = result - baseline
    together = total - sum(parts.values())
    rows = tuple(
        RemedyShare(remedy=name, first_in_ns=first[name], last_out_ns=last[name], share_ns=parts.get(name))
        for name in names
    )
    return RemedyShares(total_ns=total, shares=rows, together_ns=together, exact=exact)


def _exact(names: list[str], time: Callable[[Collection[str]], int | None]) -> dict[str, int] | None:
    if not names or len(names) > _MOST_EXACT:
        return None
    times = []
    for subset in range(1 << len(names)):
        measured = time([name for place, name in enumerate(names) if subset >> place & 1])
        if measured is None:
            return None
        times.append(Fraction(measured))
    return {each.factor: each.whole for each in shares_of([(name, "") for name in names], times).shares}


def _of_pairs(names: list[str], first: dict[str, int | None], last: dict[str, int | None]) -> dict[str, int]:
    known = [(name, a, b) for name in names if (a := first[name]) is not None and (b := last[name]) is not None]
    parts = [Fraction(a + b, 2) for _, a, b in known]
    whole = whole_parts(parts, round(sum(parts, Fraction(0))))
    return {name: part for (name, _, _), part in zip(known, whole, strict=True)}

"""Bars of a chart, and the rows on which bars and labels do not overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A span as drawn: times in ns; a missing end is the end of the chart."""

    start: int
    end: int
    open: bool
    name: str
    kind: str
    grade: str | None
    reason: str | None
    track: str
    level: str | None


def rows(bars: Sequence[Bar], x: Callable[[int], float], label: Callable[[Bar], float], right: float) -> list[int]:
    """The row of each of the *bars*, which are sorted by start: the topmost free row.

    :param x: the position of a time.
    :param label: how wide a bar's label is; it stands right of the bar, unless it would
        pass *right*.

    >>> bar = Bar(0, 10, False, "a", "phase", "good", None, "boot", None)
    >>> rows([bar, bar], float, lambda bar: 5.0, 100.0)
    [0, 1]
    """
    placed: list[int] = []
    reached: list[float] = []
    for bar in bars:
        left = x(bar.start)
        reaches = max(left + 0.6, x(bar.end)) + label(bar)
        if reaches > right:
            # The label is on the bar if that is long enough, otherwise left of it.
            reaches = max(left + 0.6, x(bar.end))
            left -= 0 if reaches - left >= label(bar) else label(bar)
        row = next((row for row, reach in enumerate(reached) if reach <= left), len(reached))
        if row == len(reached):
            reached.append(reaches)
        reached[row] = reaches
        placed.append(row)
    return placed

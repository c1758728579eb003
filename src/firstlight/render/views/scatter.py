"""A picture of costs by sizes in characters; both axes are logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

#: Points of the first, second, ... series.
POINTS = "o+x*#@%&"
_LAW = "·"
_PLAIN_LAW = "."

Series = tuple[Sequence[float], Sequence[float], Callable[[float], float]]
"""Sizes, costs, and the law."""


def log_plot(
    series: Sequence[Series], label: Callable[[float], str], *, width: int, height: int = 14, unicode: bool = True
) -> list[str]:
    """Draw points and laws.

    :param label: writes a cost for the left edge.
    :param width: of the whole picture, in characters.
    :returns: its lines; none where nothing can be drawn.

    >>> line = [1, 10, 100], [1, 10, 100], lambda size: size
    >>> picture = log_plot([line], "{:.0f}".format, width=20, height=3, unicode=False)
    >>> print("\\n".join(picture))
    100 |           ...o
     10 |    ...o...
      1 |o...
        +---------------
         1           100
    """
    sizes = sorted({size for each in series for size in each[0]})
    costs = [cost for each in series for cost in each[1] if cost > 0]
    if len(sizes) < 2 or not costs:
        return []
    least = next((size for size in sizes if size > 0), 1.0)
    # Zero stands one step left of the smallest size.
    step = sizes[2] / sizes[1] if sizes[0] == 0 and len(sizes) > 2 else 2.0
    left = math.log(least / max(step, 1.1)) if sizes[0] == 0 else math.log(least)
    right = math.log(sizes[-1])
    bottom, top = math.log(min(costs)), math.log(max(costs))
    if top - bottom < 1e-9:
        bottom, top = bottom - 0.01, top + 0.01
    middle = math.exp((bottom + top) / 2)
    marks = {0: label(math.exp(top)), (height - 1) // 2: label(middle), height - 1: label(math.exp(bottom))}
    edge = max(map(len, marks.values()))
    columns = max(10, width - edge - 2)
    grid = [[" "] * columns for _ in range(height)]

    def column(size: float) -> int:
        at = left if size <= 0 else math.log(size)
        return round((at - left) / (right - left) * (columns - 1))

    def row(cost: float) -> int | None:
        if cost <= 0:
            return None
        place = round((top - math.log(cost)) / (top - bottom) * (height - 1))
        return place if 0 <= place < height else None

    for _, _, law in series:
        for place in range(columns):
            size = math.exp(left + (right - left) * place / (columns - 1))
            if size < least and sizes[0] != 0 and size < least * 0.999:
                continue
            drawn = row(law(max(size, 0.0)))
            if drawn is not None:
                grid[drawn][place] = _LAW if unicode else _PLAIN_LAW
    for number, (own_sizes, own_costs, _) in enumerate(series):
        for size, cost in zip(own_sizes, own_costs, strict=True):
            drawn = row(cost)
            if drawn is not None:
                grid[drawn][column(size)] = POINTS[number % len(POINTS)]
    bar, corner, line = ("│", "└", "─") if unicode else ("|", "+", "-")
    lines = [f"{marks.get(at, ''):>{edge}} {bar}{''.join(cells)}".rstrip() for at, cells in enumerate(grid)]
    first, last = f"{sizes[0]:g}", f"{sizes[-1]:g}"
    lines.append(" " * edge + f" {corner}" + line * columns)
    lines.append(" " * (edge + 2) + first + " " * max(1, columns - len(first) - len(last)) + last)
    return lines

"""A history, for a person."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.history.series import Series
from firstlight.quantities import percent_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import is_unicode, print_line, print_wrapped
from firstlight.stats.change_points import ChangePoint

_BLOCKS = "▁▂▃▄▅▆▇█"
_PLAIN = "_.,-=+*#"


def sparkline(values: Sequence[float], width: int, unicode: bool = True) -> str:
    """Figures as a line of blocks, the least one lowest; of more figures than characters each is the last of its share.

    >>> sparkline([1, 1, 2, 3, 3], 10), sparkline([1, 1, 2, 3, 3], 10, unicode=False)
    ('▁▁▅██', '__=##')
    """
    if not values:
        return ""
    number = min(width, len(values))
    shown = [values[(place + 1) * len(values) // number - 1] for place in range(number)]
    low, high = min(shown), max(shown)
    blocks = _BLOCKS if unicode else _PLAIN
    if high == low:
        return blocks[0] * number
    return "".join(blocks[round((value - low) / (high - low) * (len(blocks) - 1))] for value in shown)


def print_series(out: Console, series: Series, others: Sequence[Series], limit: int) -> None:
    """Print one series: its points with their changes, and below it other series that changed.

    :param limit: so many of the newest points.
    """
    changes = {change.place: change for change in series.changes}
    print_line(
        out, Text(f"{series.kind} {printable(series.name, 60)}" if series.kind != "total" else "total", style="bold")
    )
    print_wrapped(out, Text(_regime(series), style="dim"))
    levels = [point.level for point in series.points]
    print_line(
        out, Text(sparkline(levels, max(10, out.width - 2 if out.width < 200 else 78), is_unicode(out)), style="blue")
    )
    print_line(out)
    columns = [
        Column("At", style="cyan", longest=40),
        Column("Boots", number=True, wide=70),
        Column("Time", number=True, style="bold"),
        Column("Change", number=True),
        Column("Size", picture=True, wide=60),
        Column("", wide=90, longest=80),
    ]
    first = max(0, len(series.points) - limit)
    rows = []
    for place, point in enumerate(series.points[first:], start=first):
        change = changes.get(place)
        cells = [point.at, str(len(point.samples)), time_text(point.level)]
        rows.append([*cells, "", "", ""] if change is None else
                    [*cells, _change(change), f"{change.size}, {change.status}", change.text])  # fmt: skip
    print_table(out, columns, rows)
    if first:
        print_line(out, Text(f"({first} earlier points; --limit shows more)", style="dim"))
    print_notes(out, series)
    if others:
        _others(out, others)


def print_regressions(out: Console, found: Sequence[tuple[Series, ChangePoint]], looked_at: str) -> None:
    """Print steps upwards that were never taken back, the largest first.

    :param looked_at: what was looked at, in words.
    """
    if not found:
        print_wrapped(out, f"No regression: {looked_at}")
        return
    columns = [
        Column("At", style="cyan", longest=40),
        Column("What", longest=60),
        Column("Change", number=True, style="bold"),
        Column("ns", number=True, wide=60),
        Column("Size", picture=True, wide=80),
        Column("Status", picture=True, wide=90),
    ]
    rows = [
        [series.points[change.place].at, f"{series.kind} {series.name}" if series.kind != "total" else "total",
         _change(change), f"{change.after - change.before:+,}", change.size, change.status]
        for series, change in found
    ]  # fmt: skip
    print_table(out, columns, rows)
    print_wrapped(out, Text(looked_at, style="dim"))


def _regime(series: Series) -> str:
    number = f"{len(series.points)} point{'' if len(series.points) == 1 else 's'}"
    if series.exact:
        return f"exact: {number}, every change is real"
    return f"noisy: {number}, changes found: {len(series.changes)}"


def _change(change: ChangePoint) -> str:
    return "new" if math.isinf(change.relative) else percent_text(change.relative * 100)


def print_notes(out: Console, series: Series) -> None:
    """Print what a series leaves out, and which of its points are not what they ought to be."""
    if series.left_out:
        text = f"{series.left_out} boots of other testbeds are left out: they cannot be compared with the newest"
        print_wrapped(out, text, Text("note: ", style="yellow"), 2)
    if series.incomplete:
        more = f" and {len(series.incomplete) - 3} more" if len(series.incomplete) > 3 else ""
        told = "; ".join(printable(each, 200) for each in series.incomplete[:3])
        text = f"boots that lack a part of their evidence: {told}{more}: what only others tell looks like a change"
        print_wrapped(out, text, Text("note: ", style="yellow"), 2)
    if series.unequal:
        names = ", ".join(printable(at, 40) for at in series.unequal[:5])
        text = f"exact boots under one label differ at {names}: the last of each is taken"
        print_wrapped(out, text, Text("note: ", style="yellow"), 2)


def _others(out: Console, others: Sequence[Series]) -> None:
    print_line(out)
    columns = [
        Column("What", style="cyan", longest=60),
        Column("First", number=True, wide=70),
        Column("Last", number=True),
        Column("Change", number=True, style="bold"),
        Column("", style="blue", picture=True, wide=60),
    ]
    rows = []
    for series in others:
        levels = [point.level for point in series.points]
        rows.append([series.name, time_text(levels[0]), time_text(levels[-1]), f"{levels[-1] - levels[0]:+,} ns",
                     sparkline(levels, 20, is_unicode(out))])  # fmt: skip
    print_table(out, columns, rows)

"""Tables with aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from firstlight.report.terminal.console import is_unicode, print_line, print_wrapped
from firstlight.report.terminal.printable import printable

#: A name is not cut below this.
_SHORTEST = 12
_GAP = "  "


@dataclass(frozen=True)
class Column:
    """How one column is shown."""

    title: str
    number: bool = False
    """Aligned at the right, and never cut."""
    style: str = ""
    """Colour, as rich names it; only seen on a terminal."""
    wide: int = 0
    """The column is left out where the width is less."""
    longest: int = 100
    """No cell is longer, however wide the terminal: names may be."""
    picture: bool = False
    """Never cut, although it is no number: a bar at its place, a short name."""


def print_table(
    out: Console,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    footer: Iterable[Sequence[str]] = (),
) -> None:
    """Print rows of cells below their titles, and name the columns for which there is no room.

    Names are cut where the width does not suffice, figures never.

    :param footer: rows below a rule, such as sums.
    """
    shown = [number for number, column in enumerate(columns) if out.width >= column.wide]
    kept = [columns[number] for number in shown]
    body, foot = (
        [[printable(row[number], columns[number].longest) for number in shown] for row in part]
        for part in (rows, footer)
    )
    widths = [
        max(cell_len(cell) for cell in cells)
        for cells in zip([column.title for column in kept], *body, *foot, strict=True)
    ]
    _fit(widths, kept, out.width)
    print_line(out, _line([column.title for column in kept], kept, widths, "bold"))
    for row in body:
        print_line(out, _line(row, kept, widths))
    if foot:
        print_line(out, Text(_GAP.join(("─" if is_unicode(out) else "-") * width for width in widths), style="dim"))
    for row in foot:
        print_line(out, _line(row, kept, widths))
    missing = [column.title for column in columns if out.width < column.wide and column.title]
    if missing:
        print_wrapped(out, Text(f"In {out.width} columns there is no room for: {', '.join(missing)}.", style="dim"))


def table_width(columns: Sequence[Column], rows: Iterable[Sequence[str]], total: int) -> int:
    """How wide a table is when its names give all that they can.

    :param total: the width that there is: columns that are left out there do not count.
    """
    shown = [number for number, column in enumerate(columns) if total >= column.wide]
    cells = [[column.title for column in columns], *rows]
    widths = [max(cell_len(printable(row[number], columns[number].longest)) for row in cells) for number in shown]
    _fit(widths, [columns[number] for number in shown], total)
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fit(widths: list[int], columns: Sequence[Column], total: int) -> None:
    """Take from the widest names until the line fits, or no name can give more."""
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - total
    while over > 0:
        names = [
            number
            for number, column in enumerate(columns)
            if not (column.number or column.picture) and widths[number] > _SHORTEST
        ]
        if not names:
            return
        widths[max(names, key=lambda number: widths[number])] -= 1
        over -= 1


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int], style: str | None = None) -> Text:
    line = Text()
    for place, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        if place:
            line.append(_GAP)
        if cell_len(cell) > width:
            cell = set_cell_size(cell, width - 1) + "…"
        blanks = " " * (width - cell_len(cell))
        line.append(blanks + cell if column.number else cell + blanks, style=style or column.style)
    line.rstrip()
    return line

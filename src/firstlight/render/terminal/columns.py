"""Tables with aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.render.terminal.console import is_unicode, print_line, print_wrapped

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
    """The column is left out where the width is less; where all do not fit, that which asks for most goes first."""
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
    whole = [[_cells(row, columns) for row in part] for part in (rows, footer)]
    shown, widths = _shown(columns, [*whole[0], *whole[1]], out.width)
    kept = [columns[number] for number in shown]
    body, foot = ([[row[number] for number in shown] for row in part] for part in whole)
    print_line(out, _line([column.title for column in kept], kept, widths, "bold"))
    for row in body:
        print_line(out, _line(row, kept, widths))
    if foot:
        print_line(out, Text(_GAP.join(("─" if is_unicode(out) else "-") * width for width in widths), style="dim"))
    for row in foot:
        print_line(out, _line(row, kept, widths))
    missing = [column.title for number, column in enumerate(columns) if number not in shown and column.title]
    if missing:
        print_wrapped(out, Text(f"In {out.width} columns there is no room for: {', '.join(missing)}.", style="dim"))


def _cells(row: Sequence[str], columns: Sequence[Column]) -> list[str]:
    return [printable(row[number], column.longest) for number, column in enumerate(columns)]


def table_width(columns: Sequence[Column], rows: Iterable[Sequence[str]], total: int) -> int:
    """How wide a table is when its names give all that they can.

    :param total: the width that there is: columns that are left out there do not count.
    """
    cells = [_cells(row, columns) for row in rows]
    return _together(_shown(columns, cells, total)[1])


def _shown(columns: Sequence[Column], rows: Sequence[Sequence[str]], total: int) -> tuple[list[int], list[int]]:
    """The columns for which there is room, and how wide each is then."""
    cells = [[column.title for column in columns], *rows]
    longest = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    shown = [number for number, column in enumerate(columns) if total >= column.wide]
    while True:
        widths = [longest[number] for number in shown]
        _fit(widths, [columns[number] for number in shown], total)
        widest = max(shown, key=lambda number: columns[number].wide)
        if _together(widths) <= total or not columns[widest].wide:
            return shown, widths
        shown.remove(widest)


def _together(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fit(widths: list[int], columns: Sequence[Column], total: int) -> None:
    """Take from the widest names until the line fits, or no name can give more."""
    over = _together(widths) - total
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

"""Tables in a terminal, with aligned columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.render.model.pictures import Picture
from firstlight.render.model.table import Column, Row, Table
from firstlight.render.terminal.console import is_unicode, print_line, print_wrapped

#: A name is not cut below this.
_SHORTEST = 12
_GAP = "  "
_NOTE = 600


def print_table(out: Console, table: Table) -> None:
    """Print the rows below the titles of their columns, sums below a rule, and name columns for which there is no room.

    Names are cut where the width does not suffice, figures never.
    """
    if table.columns:
        _print_rows(out, table)
    for note in table.notes:
        print_wrapped(out, Text(printable(note, _NOTE), style="dim"), indent=2)


def _print_rows(out: Console, table: Table) -> None:
    columns = [column for column in table.columns if column.shown]
    body, foot = (_cells(out, table, rows) for rows in (table.rows, table.foot))
    kept, widths = _kept(columns, [*body, *foot], out.width)
    print_line(out, _line([column.title for column in columns], columns, kept, widths, "bold"))
    for row in body:
        print_line(out, _line(row, columns, kept, widths))
    if foot:
        print_line(out, Text(_GAP.join(("─" if is_unicode(out) else "-") * width for width in widths), style="dim"))
    for row in foot:
        print_line(out, _line(row, columns, kept, widths))
    missing = [column.title for number, column in enumerate(columns) if number not in kept and column.title]
    if missing:
        print_wrapped(
            out, Text(f"Columns that do not fit into {out.width} characters: {', '.join(missing)}.", style="dim")
        )


def fits(out: Console, table: Table) -> bool:
    """Whether all of a table has room when its names give what they can; columns that are left out do not count."""
    columns = [column for column in table.columns if column.shown]
    cells = _cells(out, table, [*table.rows, *table.foot])
    return _together(_kept(columns, cells, out.width)[1]) <= out.width


def _cells(out: Console, table: Table, rows: Sequence[Row]) -> list[list[str]]:
    unicode = is_unicode(out)
    shown = [(place, column) for place, column in enumerate(table.columns) if column.shown]

    def text(column: Column, row: Row, place: int) -> str:
        value = row[place]
        text = value.draw(out.width, unicode) if isinstance(value, Picture) else column.text(value)
        return printable(text, column.longest)

    return [[text(column, row, place) for place, column in shown] for row in rows]


def _kept(columns: Sequence[Column], rows: Sequence[Sequence[str]], total: int) -> tuple[list[int], list[int]]:
    """The columns for which there is room, and how wide each is then."""
    cells = [[column.title for column in columns], *rows]
    longest = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    kept = [number for number, column in enumerate(columns) if total >= column.wide]
    while True:
        widths = [longest[number] for number in kept]
        _fit(widths, [columns[number] for number in kept], total)
        widest = max(kept, key=lambda number: columns[number].wide)
        if _together(widths) <= total or not columns[widest].wide:
            return kept, widths
        kept.remove(widest)


def _together(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fit(widths: list[int], columns: Sequence[Column], total: int) -> None:
    """Take from the widest names until the line fits, or no name can give more."""
    over = _together(widths) - total
    while over > 0:
        names = [
            number
            for number, column in enumerate(columns)
            if column.kind == "text" and not column.fixed and widths[number] > _SHORTEST
        ]
        if not names:
            return
        widths[max(names, key=lambda number: widths[number])] -= 1
        over -= 1


def _line(
    cells: Sequence[str], columns: Sequence[Column], kept: Sequence[int], widths: Sequence[int], style: str = ""
) -> Text:
    line = Text()
    for place, (number, width) in enumerate(zip(kept, widths, strict=True)):
        cell, column = cells[number], columns[number]
        if place:
            line.append(_GAP)
        if cell_len(cell) > width:
            cell = set_cell_size(cell, width - 1) + "…"
        blanks = " " * (width - cell_len(cell))
        line.append(blanks + cell if column.is_figure else cell + blanks, style=style or column.style)
    line.rstrip()
    return line

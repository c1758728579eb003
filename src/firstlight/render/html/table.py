"""A table as HTML that loads and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.escape import escape_html
from firstlight.render.model.pictures import Picture
from firstlight.render.model.table import Column, Row, Table, Value


def html_table(table: Table) -> str:
    """A table with its title for readers that do not see it, sums in its foot, and notes below."""
    columns = [(place, each) for place, each in enumerate(table.columns) if each.shown and _is_drawn(table, place)]

    def lines(tag: str, rows: Sequence[Row]) -> str:
        cells = ("".join(_cell(column, row[place]) for place, column in columns) for row in rows)
        written = "\n".join(f"<tr>{line}</tr>" for line in cells)
        return f"<{tag}>{written}</{tag}>" if rows else ""

    head = "".join(_head(column) for _, column in columns)
    caption = f'<caption class="unseen">{escape_html(table.title)}</caption>' if table.title else ""
    inner = f"{caption}<thead><tr>{head}</tr></thead>{lines('tbody', table.rows)}{lines('tfoot', table.foot)}"
    notes = "".join(f'\n<p class="note">{escape_html(note)}</p>' for note in table.notes)
    return f'<div class="scroll" tabindex="0"><table>{inner}</table></div>{notes}'


def _is_drawn(table: Table, place: int) -> bool:
    """Whether a column is more than pictures that only a terminal draws."""
    cells = (row[place] for row in table.rows)
    return table.columns[place].kind != "picture" or any(isinstance(cell, Picture) and cell.html() for cell in cells)


def _head(column: Column) -> str:
    """The head of a column; one without a title is not a head to a screen reader."""
    tag = 'th scope="col"' if column.title else "td"
    return f"<{tag}{_class(column)}>{escape_html(column.title)}</{tag[:2]}>"


def _cell(column: Column, value: Value) -> str:
    drawn = value.html() if isinstance(value, Picture) and column.kind == "picture" else ""
    return f"<td{_class(column)}>{drawn or escape_html(column.text(value))}</td>"


def _class(column: Column) -> str:
    return ' class="number"' if column.is_figure else ""

"""A table as HTML that loads and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.escape import escape_html
from firstlight.render.model.table import Table


def html_table(table: Table) -> str:
    """A table with its title for readers that do not see it, sums in its foot, and notes below."""
    columns = [table.columns[place] for place in table.shown]
    head = "".join(f'<th scope="col"{_class(column.is_figure)}>{escape_html(column.title)}</th>' for column in columns)

    def lines(tag: str, rows: Sequence[Sequence[str]]) -> str:
        written = "\n".join(f"<tr>{''.join(map(cell, row, columns))}</tr>" for row in rows)
        return f"<{tag}>{written}</{tag}>" if rows else ""

    def cell(text: str, column: object) -> str:
        return f"<td{_class(getattr(column, 'is_figure', False))}>{escape_html(text)}</td>"

    caption = f'<caption class="unseen">{escape_html(table.title)}</caption>' if table.title else ""
    body, foot = lines("tbody", table.texts(table.rows)), lines("tfoot", table.texts(table.below))
    notes = "".join(f'\n<p class="note">{escape_html(note)}</p>' for note in table.notes)
    inner = f"{caption}<thead><tr>{head}</tr></thead>{body}{foot}"
    return f'<div class="scroll" tabindex="0"><table>{inner}</table></div>{notes}'


def _class(is_figure: bool) -> str:
    return ' class="number"' if is_figure else ""

"""Tables and reports as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firstlight.escape import escape_markdown
from firstlight.render.model.report import Drawing, Heading, Report
from firstlight.render.model.table import Table

_LONGEST = 500
_LONGEST_CELL = 300


def markdown_table(table: Table) -> str:
    """The rows of a table, without its title and notes."""
    columns = [table.columns[place] for place in table.shown]
    lines = [_row(column.title for column in columns)]
    lines.append(f"|{'|'.join('---:' if column.is_figure else '---' for column in columns)}|")
    return "\n".join([*lines, *map(_row, table.texts([*table.rows, *table.foot]))])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(escape_markdown(cell, _LONGEST_CELL) for cell in cells)} |"


def markdown_report(report: Report, level: int = 3) -> str:
    """A report without what is drawn for a terminal; lines of text one after another are a list.

    :param level: of its headings.
    """
    parts: list[str] = []
    items: list[str] = []
    for block in report:
        if isinstance(block, Drawing):
            continue
        if not isinstance(block, Table | Heading):
            if text := f"{block.head}{block.plain}".strip():
                items.append(f"- {escape_markdown(text, _LONGEST)}")
            continue
        parts, items = [*parts, *_list(items)], []
        title = block.title if isinstance(block, Table) else block.text
        parts += [f"{'#' * level} {escape_markdown(title)}"] if title else []
        if isinstance(block, Table):
            parts += [markdown_table(block)] if block.rows or block.foot else []
            parts += map(escape_markdown, block.notes)
    return "\n\n".join([*parts, *_list(items)]) + "\n"


def _list(items: Sequence[str]) -> list[str]:
    return ["\n".join(items)] if items else []

"""A table that can be printed, written as Markdown or as CSV, or carried by a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firstlight.escape import printable
from firstlight.exporters.csv import csv_text
from firstlight.render.terminal.columns import Column


@dataclass(frozen=True)
class Sheet:
    """A table: as people read it, and its figures in full."""

    title: str
    columns: list[Column]
    rows: list[list[str]]
    """Cells as people read them."""
    footer: list[list[str]] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    """What has to be said of it."""
    data_columns: list[str] = field(default_factory=list)
    data_rows: list[list[str | int | float | None]] = field(default_factory=list)
    """Figures in full, for CSV."""

    @property
    def told(self) -> list[int]:
        """The places of the columns that say something by themselves; the others are pictures for a terminal."""
        return [place for place, column in enumerate(self.columns) if column.title]


def markdown_text(sheets: Sequence[Sheet], title: str, said: Sequence[str]) -> str:
    """Tables as Markdown, without what is a picture in a terminal.

    :param said: what stands between the title and the first table.
    """
    parts = [f"## {markdown_words(title)}", *map(markdown_words, said)]
    for sheet in sheets:
        if sheet.title:
            parts.append(f"### {markdown_words(sheet.title)}")
        parts.append(markdown_table(sheet))
        parts += [markdown_words(text) for text in sheet.below]
    return "\n\n".join(parts) + "\n"


def markdown_table(sheet: Sheet) -> str:
    """One table as Markdown, without its title and what is said below it."""
    kept = sheet.told
    lines = ["| " + " | ".join(markdown_words(sheet.columns[place].title) for place in kept) + " |"]
    lines.append("|" + "|".join("---:" if sheet.columns[place].number else "---" for place in kept) + "|")
    lines += [
        "| " + " | ".join(markdown_words(row[place]) for place in kept) + " |" for row in [*sheet.rows, *sheet.footer]
    ]
    return "\n".join(lines)


def sheet_data(sheet: Sheet) -> dict[str, Any]:
    """A table as people read it, without what is a picture in a terminal.

    >>> sheet_data(Sheet("Arms", [Column("Arm"), Column("", picture=True)], [["A", "####"]]))["rows"]
    [['A']]
    """
    kept = sheet.told
    return {
        "title": sheet.title,
        "columns": [{"title": sheet.columns[place].title, "number": sheet.columns[place].number} for place in kept],
        "rows": [[row[place] for place in kept] for row in sheet.rows],
        "footer": [[row[place] for place in kept] for row in sheet.footer],
        "below": sheet.below,
    }


def sheet_csv(sheet: Sheet) -> str:
    """The figures of a table in full, as CSV; no text in it is a formula to a spreadsheet."""
    import polars as pl

    columns = list(zip(*sheet.data_rows, strict=True)) if sheet.data_rows else [()] * len(sheet.data_columns)
    frame = pl.DataFrame(
        {
            name: [printable(cell) if isinstance(cell, str) else cell for cell in cells]
            for name, cells in zip(sheet.data_columns, columns, strict=True)
        },
        strict=False,
    )
    return csv_text(frame).replace("\r\n", "\n")


def markdown_words(text: str) -> str:
    """Words as Markdown shows them: nothing in them is a sign of Markdown or HTML."""
    shown = printable(text)
    for sign in "\\`|<>*_[]":
        shown = shown.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return shown

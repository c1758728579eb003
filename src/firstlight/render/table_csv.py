"""A table as CSV."""

from __future__ import annotations

from firstlight.escape import printable
from firstlight.exporters.csv import csv_text
from firstlight.render.model.table import Table


def table_csv(table: Table) -> str:
    """The values of a table in full, without sums and notes; no text in it is a formula to a spreadsheet."""
    import polars as pl

    columns = {
        column.key: [_cell(column.datum(row[place])) for row in table.data_rows]
        for place, column in enumerate(table.columns)
        if column.key
    }
    return csv_text(pl.DataFrame(columns, strict=False)).replace("\r\n", "\n")


def _cell(value: object) -> object:
    return printable(value) if isinstance(value, str) else value

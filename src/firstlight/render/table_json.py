"""A table as data."""

from __future__ import annotations

from typing import Any

from firstlight.render.model.table import Table


def table_json(table: Table) -> dict[str, Any]:
    """A table for a page: its cells as people read them, and of every column of data the values behind them."""
    columns = [table.columns[place] for place in table.shown]
    return {
        "title": table.title,
        "columns": [
            {"title": each.title, "number": each.is_figure, "kind": each.kind, "name": each.key} for each in columns
        ],
        "rows": table.texts(table.rows),
        "left_out": table.texts(table.left_out),
        "footer": table.texts(table.footer),
        "notes": list(table.notes),
        "values": {
            column.key: [column.datum(row[place]) for row in table.data_rows]
            for place, column in enumerate(table.columns)
            if column.key
        },
    }

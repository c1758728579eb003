"""What a SQL statement over a fleet yields, as a table and as JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any

import polars as pl

from firstlight.escape import printable
from firstlight.fleet.statement import distinct_names
from firstlight.render.model.table import Column, Table, table

_LONGEST_TITLE = 200


def sql_table(found: pl.DataFrame) -> Table:
    """The rows as texts; lists and structures are written as JSON."""
    titles = distinct_names([printable(name, _LONGEST_TITLE) for name in found.columns])
    rows = [dict(zip(titles, map(_text, row), strict=True)) for row in found.iter_rows()]
    return table("", [Column(title, value=title) for title in titles], rows)


def sql_data(found: pl.DataFrame) -> dict[str, Any]:
    """The names of the columns, and the rows."""
    return {"columns": found.columns, "rows": [list(map(_plain, row)) for row in found.iter_rows()]}


def _text(value: object) -> str | None:
    if isinstance(value, (list, dict)):
        return json.dumps(_plain(value), ensure_ascii=False)
    return None if value is None else str(value)


def _plain(value: object) -> Any:
    """A value in JSON: whole numbers are whole, and a number that is not finite is null."""
    if isinstance(value, (float, Decimal)):
        if not isfinite(value):
            return None
        return value if isinstance(value, float) else int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value

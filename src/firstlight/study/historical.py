"""Tables that others measured on machines of their time, as data."""

from __future__ import annotations

import tomllib
from importlib import resources

from firstlight.study.table import Field, Table, Value

HISTORICAL = "historical.toml"
"""The file of a study's package."""


def historical_tables(package: str) -> tuple[Table, ...]:
    """The tables that a study is compared with; none where its package has no such file.

    A file holds `[[table]]`s with `key`, `title`, `source`, `fields` (each `{title, kind}`), `rows`, and `below`. An
    empty text in a column of figures is a cell that the source leaves open.

    >>> historical_tables("firstlight_studies.tree_walk")[0].fields[1].title
    'User'
    """
    file = resources.files(package).joinpath(HISTORICAL)
    if not file.is_file():
        return ()
    return tuple(
        Table(
            key=table["key"],
            title=table["title"],
            fields=tuple(Field(field["title"], field.get("kind", "text")) for field in table["fields"]),
            rows=tuple(tuple(map(_value, row)) for row in table["rows"]),
            below=(f"Source: {table['source']}.", *table.get("below", ())),
        )
        for table in tomllib.loads(file.read_text(encoding="utf-8"))["table"]
    )


def _value(cell: str | float) -> Value:
    return None if cell == "" else cell

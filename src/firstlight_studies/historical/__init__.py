"""Tables of the classic studies, as data: what others measured, on machines of their time."""

from __future__ import annotations

import tomllib
from importlib import resources

from firstlight.study import Field, Table, Value


def historical_tables(study: str) -> tuple[Table, ...]:
    """The tables that a classic study left.

    A file holds `[[table]]`s with `key`, `title`, `source`, `fields` (each `{title, kind}`), `rows`, and `below`; an
    empty text in a column of figures is a cell that the source leaves open.

    :param study: the name of ours that repeats it.

    >>> tables = historical_tables("tree-walk")
    >>> tables[0].fields[1].title
    'User'
    """
    text = resources.files(__name__).joinpath(f"{study}.toml").read_text(encoding="utf-8")
    return tuple(
        Table(
            key=table["key"],
            title=table["title"],
            fields=tuple(Field(field["title"], field.get("kind", "text")) for field in table["fields"]),
            rows=tuple(tuple(map(_value, row)) for row in table["rows"]),
            below=(f"Source: {table['source']}.", *table.get("below", ())),
        )
        for table in tomllib.loads(text)["table"]
    )


def _value(given: str | float) -> Value:
    return None if given == "" else given

"""Tables that others measured on machines of their time, as data."""

from __future__ import annotations

from importlib import resources
from math import isfinite

from pydantic import Field as ModelField
from pydantic import field_validator, model_validator

from firstlight.frozen import FrozenModel
from firstlight.quantities import Kind
from firstlight.study.table import Field, Table, Value
from firstlight.toml import parse_checked

HISTORICAL = "historical.toml"
"""The file of a study's package."""

_SIGNED: frozenset[Kind] = frozenset({"change", "count_change", "share_change", "percent", "number"})


class _Column(FrozenModel):
    title: str = ModelField(min_length=1)
    kind: Kind = "text"


class _HistoricalTable(FrozenModel):
    key: str = ModelField(pattern=r"^[a-z0-9][a-z0-9-]*$", description="its name in files")
    title: str = ModelField(min_length=1)
    source: str = ModelField(min_length=1)
    fields: tuple[_Column, ...] = ModelField(min_length=1)
    rows: tuple[tuple[str | int | float, ...], ...] = ModelField(min_length=1)
    below: tuple[str, ...] = ()

    @field_validator("rows", mode="before")
    @classmethod
    def _plain(cls, rows: object) -> object:
        """TOML has truth values and dates, too, which are neither a text nor a figure."""
        for number, row in enumerate(rows if isinstance(rows, list) else [], start=1):
            for cell in row if isinstance(row, list) else []:
                if isinstance(cell, bool) or not isinstance(cell, str | int | float):
                    raise ValueError(f"row {number}: `{cell}` is neither a text nor a figure")
        return rows

    @model_validator(mode="after")
    def _cells_fit(self) -> _HistoricalTable:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.fields):
                raise ValueError(f"`{self.key}`, row {number}: {len(row)} cells for {len(self.fields)} fields")
            for cell, column in zip(row, self.fields, strict=True):
                _check(cell, column, f"`{self.key}`, row {number}, {column.title}")
        return self

    @property
    def table(self) -> Table:
        return Table(
            key=self.key,
            title=self.title,
            fields=tuple(Field(column.title, column.kind) for column in self.fields),
            rows=tuple(tuple(map(_value, row)) for row in self.rows),
            below=(f"Source: {self.source}.", *self.below),
        )


class _Historical(FrozenModel):
    table: tuple[_HistoricalTable, ...] = ModelField(min_length=1)

    @model_validator(mode="after")
    def _named_once(self) -> _Historical:
        names = [each.key for each in self.table]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two tables have the key `{twice}`")
        return self


def historical_tables(package: str) -> tuple[Table, ...]:
    """The tables that a study is compared with; none where its package has no such file.

    A file holds `[[table]]`s with `key`, `title`, `source`, `fields` (each `{title, kind}`), `rows`, and `below`. An
    empty text in a column of figures is a cell that the source leaves open; another text is shown as it is.

    :raises UsageError: naming the table, the row and what is wrong.

    >>> historical_tables("firstlight_studies.tree_walk")[0].fields[1].title
    'User'
    """
    file = resources.files(package).joinpath(HISTORICAL)
    if not file.is_file():
        return ()
    stored = parse_checked(file.read_text(encoding="utf-8"), _Historical, f"{package}/{HISTORICAL}")
    return tuple(each.table for each in stored.table)


def _check(cell: Value, column: _Column, where: str) -> None:
    if not isinstance(cell, int | float):
        return
    if not isfinite(cell):
        raise ValueError(f"{where}: `{cell}` is no figure; leave a cell that is not known empty")
    if cell < 0 and column.kind not in _SIGNED:
        raise ValueError(f"{where}: `{cell}` is below 0, and a `{column.kind}` never is")


def _value(cell: Value) -> Value:
    return None if cell == "" else cell

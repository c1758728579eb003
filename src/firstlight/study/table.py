"""What a study shows: tables and charts of plain values, which every kind of report draws in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstlight.quantities import Kind as Kind
from firstlight.quantities import quantity_text

NO_VALUE = "none"
"""How a gap is written."""


@dataclass(frozen=True)
class MissingValue:
    """A value that is not there, and why."""

    reason: str


Value = str | int | float | MissingValue | None
"""`None` is a cell that has no meaning there; a :class:`MissingValue` is one that should have a value."""


def missing_in(*found: object) -> MissingValue | None:
    """The first of several things that is a gap, if one is.

    >>> missing_in(1, MissingValue("no mkfs"), MissingValue("no fsck"))
    MissingValue(reason='no mkfs')
    """
    return next((each for each in found if isinstance(each, MissingValue)), None)


def first_missing(*found: object) -> MissingValue:
    """The first of several things that is a gap.

    :raises ValueError: when none of them is.

    >>> first_missing(1, MissingValue("no mkfs"), MissingValue("no fsck")).reason
    'no mkfs'
    """
    gap = missing_in(*found)
    if gap is None:
        raise ValueError("none of these is a gap")
    return gap


def missing_row(gap: MissingValue, cells: int) -> tuple[Value, ...]:
    """The figures of a row that has none: the gap once, and empty cells.

    >>> missing_row(MissingValue("no mkfs"), 3)
    (MissingValue(reason='no mkfs'), None, None)
    """
    return (gap, *(None for _ in range(cells - 1)))


@dataclass(frozen=True)
class Field:
    """A column of a table."""

    title: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Table:
    """A table of plain values.

    >>> Table("cost", "Cost", (Field("Devices", "count"), Field("Boot", "time")), ((256, 24_040_000_000),)).key
    'cost'
    """

    key: str
    """Its name in files and in JSON: lower case, with dashes."""
    title: str
    fields: tuple[Field, ...]
    rows: tuple[tuple[Value, ...], ...]
    below: tuple[str, ...] = ()
    """Sentences that belong to it."""
    band_ns: int | MissingValue | None = None
    """Changes of no more than this lie inside the noise band: they are written in parentheses."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.fields):
                raise ValueError(f"table `{self.key}`: a row of {len(row)} values for {len(self.fields)} columns")

    def gaps(self) -> tuple[tuple[int, int, str], ...]:
        """Every gap: the row's number, the column's, the reason."""
        return tuple(
            (number, column, value.reason)
            for number, row in enumerate(self.rows)
            for column, value in enumerate(row)
            if isinstance(value, MissingValue)
        )


@dataclass(frozen=True)
class Series:
    """Points that belong together."""

    name: str
    points: tuple[tuple[float | str, float], ...]
    """Abscissa and ordinate; a text as the abscissa is a category."""


@dataclass(frozen=True)
class Chart:
    """A picture of figures: bars of categories, stacked bars, lines over numbers, or a histogram (bars that touch)."""

    key: str
    title: str
    form: Literal["bars", "stacked", "lines", "histogram"]
    across: str
    """What the abscissa is, with its unit."""
    up: str
    """What the ordinate is."""
    kind: Kind
    """How its values are read."""
    series: tuple[Series, ...]
    logarithmic: bool = False
    """Both axes of lines."""


def value_text(value: Value, kind: Kind) -> str:
    """A value as the user reads it.

    >>> value_text(0.5, "share"), value_text(0.08, "percent"), value_text(1.97, "ratio"), value_text(4096, "bytes")
    ('50.0 %', '+8.0 %', '1.97', '4 KiB')
    >>> value_text(None, "time"), value_text(-250, "change"), value_text(25.86, "seconds")
    ('', '-250 ns', '25.86')
    """
    if value is None:
        return ""
    if isinstance(value, MissingValue):
        return NO_VALUE
    if isinstance(value, str):
        return value
    return quantity_text(value, kind)

"""A table of values; how a value is written follows from its column, the same in every output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from firstlight.quantities import Kind, quantity_text
from firstlight.render.model.pictures import Picture


@dataclass(frozen=True)
class Written:
    """A value that is shown by a text of its own."""

    value: str | int | float | Fraction | None
    text: str


Value = str | int | float | Fraction | Picture | Written | None
"""A text in a column of figures is a remark: it is shown as it is, and is not a value in data. None is not known."""

Datum = str | int | float | None

#: What a column of data is in, at the end of its name.
_UNITS = {"time": "_ns", "change": "_ns", "bytes": "_bytes", "seconds": "_s"}


@dataclass(frozen=True)
class Column:
    """One column: what its values are, where they come from, and how they are shown."""

    title: str
    kind: Kind = "text"
    value: str | Callable[[Any], Value] = ""
    """Where a record has it: the name of an item or attribute, or a function of the record."""
    style: str = ""
    """Colour, as rich names it; only seen on a terminal."""
    wide: int = 0
    """Left out of a terminal that is narrower; where all do not fit, that which asks for most goes first."""
    longest: int = 100
    """No cell is longer in a terminal: names may be."""
    fixed: bool = False
    """Never cut, although it is a text."""
    optional: bool = False
    """Left out where no row has anything in it."""
    name: str | None = None
    """Its name in data; by default that of the item, or the title with its unit. Without one it is not data."""
    shown: bool = True
    """Whether it is more than data."""
    write: Callable[[Any], str] | None = None
    """How its figures are written, where their kind does not say it."""

    @property
    def is_figure(self) -> bool:
        """Whether it is aligned at the right and never cut."""
        return self.kind not in ("text", "picture")

    @property
    def key(self) -> str:
        """Its name in data; nothing for what is not data.

        >>> Column("Trigger, system", "time").key, Column("Time", "time", "took_ns").key, Column("", "picture").key
        ('trigger_system_ns', 'took_ns', '')
        """
        if self.name is not None:
            return self.name
        if self.kind == "picture":
            return ""
        if isinstance(self.value, str) and self.value:
            return self.value
        words = "".join(sign if sign.isalnum() else " " for sign in self.title.lower()).split()
        return "_".join(words) + (_UNITS.get(self.kind, "") if words else "")

    def of(self, record: Any) -> Value:
        """Its value in a record."""
        found: Value
        if callable(self.value):
            found = self.value(record)
        elif isinstance(record, Mapping):
            found = record[self.value]
        else:
            found = getattr(record, self.value)
        return found

    def text(self, value: Value) -> str:
        """A value as people read it.

        >>> Column("Start", "time").text(1_500), Column("Start", "time").text(None), Column("Name").text(None)
        ('1.500 us', '-', '')
        """
        if isinstance(value, str):
            return value
        if isinstance(value, Picture):
            return value.text()
        if isinstance(value, Written):
            return value.text
        if self.kind in ("text", "picture"):
            return "" if value is None else quantity_text(value, self.kind)
        return quantity_text(value, self.kind) if self.write is None or value is None else self.write(value)

    def datum(self, value: Value) -> Datum:
        """A value as data: exact, and none where there is a remark instead.

        >>> Column("Start", "time").datum(Fraction(7, 2)), Column("Start", "time").datum("never")
        (3.5, None)
        """
        if isinstance(value, Picture):
            return value.text()
        if isinstance(value, Written):
            return self.datum(value.value)
        if isinstance(value, Fraction):
            return value.numerator if value.denominator == 1 else float(value)
        return None if isinstance(value, str) and self.kind != "text" else value


Row = Sequence[Value]


@dataclass(frozen=True)
class Table:
    """Rows of values, what they add up to, what of them is not shown, and what has to be said of them."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    footer: Sequence[Row] = ()
    """Sums, below a rule."""
    notes: Sequence[str] = ()
    left_out: Sequence[Row] = ()
    """What stands for rows that are not shown: their number and their sums."""
    sums_are_data: bool = False
    """Whether the footer is among the rows of data."""

    @property
    def data_rows(self) -> list[Row]:
        """The rows of data."""
        return [*self.rows, *(self.footer if self.sums_are_data else ())]

    @property
    def shown(self) -> list[int]:
        """The places of the columns that are shown as text; pictures are left to a terminal."""
        return [place for place, column in enumerate(self.columns) if column.shown and column.kind != "picture"]

    def texts(self, rows: Iterable[Row]) -> list[list[str]]:
        """Rows as people read them, without pictures."""
        shown = [(place, self.columns[place]) for place in self.shown]
        return [[column.text(row[place]) for place, column in shown] for row in rows]

    @property
    def untitled(self) -> Table:
        """The same table, for a report in which what stands above it says what it is."""
        return replace(self, title="")

    @property
    def foot(self) -> list[Row]:
        """The rows below the rule."""
        return [*self.left_out, *self.footer]


def table(
    title: str,
    columns: Sequence[Column],
    records: Iterable[Any],
    *,
    footer: Iterable[Mapping[str, Value] | None] = (),
    left_out: Mapping[str, Value] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """A table of some records; an optional column of which no record has anything is left out.

    :param footer: sums, by the names or titles of their columns; cells that are not named stay empty.
    :param left_out: the same for what is not shown, if anything.

    >>> rows = [{"name": "a", "ns": 5}, {"name": "b", "ns": None}]
    >>> made = table("", [Column("Name", value="name"), Column("Time", "time", "ns")], rows, footer=[{"name": "all"}])
    >>> made.texts([*made.rows, *made.footer])
    [['a', '5 ns'], ['b', '-'], ['all', '']]
    """
    rows = [[column.of(record) for column in columns] for record in records]
    kept = [
        place
        for place, column in enumerate(columns)
        if not column.optional or any(row[place] not in ("", None) for row in rows)
    ]
    columns = [columns[place] for place in kept]

    def row(cells: Mapping[str, Value]) -> Row:
        return [cells.get(column.key or column.title, cells.get(column.title, "")) for column in columns]

    return Table(
        title,
        columns,
        [[row[place] for place in kept] for row in rows],
        [row(cells) for cells in footer if cells is not None],
        notes,
        [] if left_out is None else [row(left_out)],
    )

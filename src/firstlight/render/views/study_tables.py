"""The tables of a study, as people read them."""

from __future__ import annotations

from firstlight.render.model.table import Sheet
from firstlight.render.terminal.columns import Column
from firstlight.study.outcome import Outcome
from firstlight.study.table import NO_VALUE, Hole, Kind, Table, value_text


def sheet_of(table: Table) -> Sheet:
    """A table with its values as texts; holes are named below it.

    >>> from firstlight.study.table import Field
    >>> rows = (("a", 1_500_000), ("b", Hole("no mkfs")))
    >>> sheet = sheet_of(Table("t", "T", (Field("Arm"), Field("Boot", "time")), rows))
    >>> sheet.rows, sheet.below
    ([['a', '1.500 ms'], ['b', 'none']], ['none: b, Boot: no mkfs'])
    """
    columns = [
        Column(field.title, number=field.kind != "text", style="" if place else "cyan", picture=place == 0)
        for place, field in enumerate(table.fields)
    ]
    rows = [
        [value_text(value, field.kind) for value, field in zip(row, table.fields, strict=True)] for row in table.rows
    ]
    return Sheet(
        title=table.title,
        columns=columns,
        rows=rows,
        below=[*table.below, *(f"{NO_VALUE}: {places}: {reason}" for reason, places in holes_of(table).items())],
        data_columns=[_data_name(field.title, field.kind) for field in table.fields],
        data_rows=[[None if isinstance(value, Hole) else value for value in row] for row in table.rows],
    )


def holes_of(table: Table) -> dict[str, str]:
    """By reason, where a table has holes: whole columns and rows as such, the rest cell by cell.

    >>> from firstlight.study.table import Field
    >>> gone = Hole("left out")
    >>> rows = (("a", gone, 1, 2), ("b", gone, gone, 3), ("c", gone, 4, Hole("no mkfs")))
    >>> holes_of(Table("t", "T", (Field("Arm"), Field("A"), Field("B"), Field("C")), rows))
    {'left out': 'all of A; b, B', 'no mkfs': 'c, C'}
    """
    found: dict[str, set[tuple[int, int]]] = {}
    for row, column, reason in table.holes():
        found.setdefault(reason, set()).add((row, column))
    return {reason: "; ".join(_places(table, cells)) for reason, cells in found.items()}


def _places(table: Table, cells: set[tuple[int, int]]) -> list[str]:
    rows, columns = range(len(table.rows)), range(1, len(table.fields))
    firsts = [value_text(row[0], table.fields[0].kind) for row in table.rows]
    names = firsts
    if len(set(firsts)) < len(firsts) and len(columns) > 1:
        # What tells rows of one name apart stands beside it.
        seconds = [value_text(row[1], table.fields[1].kind) for row in table.rows]
        names = [f"{first}, {second}" for first, second in zip(firsts, seconds, strict=True)]
    places = []
    for column in columns:
        if len(rows) > 1 and all((row, column) in cells for row in rows):
            places.append(f"all of {table.fields[column].title}")
            cells = cells - {(row, column) for row in rows}
    for row in rows:
        there = [column for column in columns if (row, column) in cells]
        if len(there) > 1 and len(there) == len(columns):
            places.append(f"all of {names[row]}")
        else:
            places += [f"{names[row]}, {table.fields[column].title}" for column in there]
    return places


def findings_table(outcome: Outcome) -> Table:
    """What was concluded then, and what became of it."""
    from firstlight.study.table import Field

    fields = (Field("Concluded then"), Field("Figure then"), Field("Figure here"), Field("Verdict"), Field("Why"))
    rows = tuple((each.claim, each.then, each.now, each.verdict, each.why) for each in outcome.findings)
    return Table("findings", "What was concluded then, and what holds", fields, rows)


def _data_name(title: str, kind: Kind) -> str:
    """The name of a column of data: with its unit.

    >>> _data_name("Trigger, system", "time"), _data_name("Arm", "text")
    ('trigger_system_ns', 'arm')
    """
    unit = {"time": "_ns", "change": "_ns", "bytes": "_bytes", "seconds": "_s"}.get(kind, "")
    name = "".join(sign if sign.isalnum() else "_" for sign in title.lower()).strip("_")
    while "__" in name:
        name = name.replace("__", "_")
    return name + unit

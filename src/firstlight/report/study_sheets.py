"""The tables of a study, as people read them."""

from __future__ import annotations

from firstlight.report.sheet import Sheet
from firstlight.report.terminal.columns import Column
from firstlight.report.units import count_text, signed_time, time_text
from firstlight.study.outcome import Outcome
from firstlight.study.table import Hole, Kind, Table, Value

_HOLE = "none"
_BYTES = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


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
    reasons: dict[str, list[str]] = {}
    for row, column, reason in table.holes():
        reasons.setdefault(reason, []).append(f"{row}, {column}")
    holes = [f"{_HOLE}: {'; '.join(places)}: {reason}" for reason, places in reasons.items()]
    return Sheet(
        title=table.title,
        columns=columns,
        rows=rows,
        below=[*table.below, *holes],
        data_columns=[_data_name(field.title, field.kind) for field in table.fields],
        data_rows=[[None if isinstance(value, Hole) else value for value in row] for row in table.rows],
    )


def findings_table(outcome: Outcome) -> Table:
    """What was concluded then, and what became of it."""
    from firstlight.study.table import Field

    fields = (Field("Concluded then"), Field("Figure then"), Field("Figure here"), Field("Verdict"), Field("Why"))
    rows = tuple((each.claim, each.then, each.now, each.verdict, each.why) for each in outcome.findings)
    return Table("findings", "What was concluded then, and what holds", fields, rows)


def value_text(value: Value, kind: Kind) -> str:
    """A value as a person reads it.

    >>> value_text(0.5, "share"), value_text(0.08, "percent"), value_text(1.97, "ratio"), value_text(4096, "bytes")
    ('50.0 %', '+8.0 %', '1.97', '4.0 KiB')
    >>> value_text(None, "time"), value_text(-250, "change"), value_text(25.86, "seconds")
    ('', '-250 ns', '25.86')
    """
    if value is None:
        return ""
    if isinstance(value, Hole):
        return _HOLE
    if isinstance(value, str):
        return value
    match kind:
        case "time":
            return time_text(round(value))
        case "change":
            return signed_time(round(value))
        case "count" | "text":
            return count_text(value) if isinstance(value, int) else f"{value:,.1f}"
        case "bytes":
            return _bytes_text(value)
        case "share":
            return f"{value:.1%}".replace("%", " %")
        case "percent":
            return f"{value:+.1%}".replace("%", " %")
        case "ratio" | "number" | "seconds":
            return f"{value:,}" if isinstance(value, int) else _figure(value)


def _figure(value: float) -> str:
    """A number with the digits that it was given, and no more than six of a fraction."""
    text = f"{value:,.6f}".rstrip("0")
    return text + "00"[: max(0, 2 - len(text.partition(".")[2]))]


def _bytes_text(value: float) -> str:
    for unit, size in _BYTES:
        if abs(value) >= size:
            return f"{value / size:,.1f} {unit}"
    return f"{value:,.0f} B"


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

"""A study: its tables, those of then beside them, and what holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstlight.render.model.report import BLANK, Block, Heading, Line
from firstlight.render.model.table import Column, Table, Value, Written, table
from firstlight.study.catalogue import Study
from firstlight.study.outcome import Outcome
from firstlight.study.table import NO_VALUE, MissingValue, value_text
from firstlight.study.table import Table as StudyTable
from firstlight.study.table import Value as StudyValue

_STYLES = {"holds": "green", "no longer holds": "yellow", "not testable here": "dim"}


def studies_table(studies: Sequence[Study]) -> Table:
    """The studies with their questions."""
    columns = [Column("Study", value="name", style="cyan", fixed=True), Column("What it asks", value="title")]
    return table("", columns, studies)


def study_report(outcome: Outcome) -> Iterator[Block]:
    """The whole study."""
    yield Line(outcome.title, "bold", indent=2)
    yield Line(outcome.question, "dim", indent=2)
    yield from _tables("Measured here", outcome.tables)
    yield from _tables("Measured then, by others, on machines of their time", outcome.historical)
    yield Heading("What was concluded then, and what holds")
    for finding in outcome.findings:
        yield Line([(finding.verdict, _STYLES[finding.verdict]), (f": {finding.claim}", "")], indent=2)
        figures = [f"then {finding.then}" if finding.then else "", f"here {finding.now}" if finding.now else ""]
        for text in ("; ".join(filter(None, figures)), finding.why):
            if text:
                yield Line(text, "dim", head="  ", indent=4)
    for title, lines in (
        ("Not measured", [f"{each.what}: {each.reason}" for each in outcome.missing]),
        ("To be known", list(outcome.notes)),
        ("Recipe", list(outcome.recipe)),
    ):
        if lines:
            yield Heading(title)
            yield from (Line(line, indent=2) for line in lines)


def _tables(title: str, tables: Sequence[StudyTable]) -> Iterator[Block]:
    if tables:
        yield Heading(title)
    for place, each in enumerate(tables):
        if place:
            yield BLANK
        yield Line(each.title, "bold", indent=2)
        yield study_table(each).untitled


def study_table(made: StudyTable) -> Table:
    """A table of a study; values that are missing are named below it.

    >>> from firstlight.study.table import Field
    >>> rows = (("a", 1_500_000), ("b", MissingValue("no mkfs")))
    >>> shown = study_table(StudyTable("t", "T", (Field("Arm"), Field("Boot", "time")), rows))
    >>> shown.texts(shown.rows), shown.notes
    ([['a', '1.500 ms'], ['b', 'none']], ['none: b, Boot: no mkfs'])
    """
    columns = [
        Column(field.title, field.kind, style="" if place else "cyan", fixed=place == 0)
        for place, field in enumerate(made.fields)
    ]
    rows = [[_value(value) for value in row] for row in made.rows]
    missing = [f"{NO_VALUE}: {places}: {reason}" for reason, places in holes_of(made).items()]
    return Table(made.title, columns, rows, notes=[*made.below, *missing])


def _value(value: StudyValue) -> Value:
    """A cell that has no meaning is empty, one that should have a value and has none says so."""
    if value is None:
        return Written(None, "")
    return Written(None, NO_VALUE) if isinstance(value, MissingValue) else value


def holes_of(made: StudyTable) -> dict[str, str]:
    """By reason, where a table has gaps: whole columns and rows as such, the rest cell by cell.

    >>> from firstlight.study.table import Field
    >>> gone = MissingValue("left out")
    >>> rows = (("a", gone, 1, 2), ("b", gone, gone, 3), ("c", gone, 4, MissingValue("no mkfs")))
    >>> holes_of(StudyTable("t", "T", (Field("Arm"), Field("A"), Field("B"), Field("C")), rows))
    {'left out': 'all of A; b, B', 'no mkfs': 'c, C'}
    """
    found: dict[str, set[tuple[int, int]]] = {}
    for row, column, reason in made.gaps():
        found.setdefault(reason, set()).add((row, column))
    return {reason: "; ".join(_places(made, cells)) for reason, cells in found.items()}


def _places(made: StudyTable, cells: set[tuple[int, int]]) -> list[str]:
    rows, columns = range(len(made.rows)), range(1, len(made.fields))
    firsts = [value_text(row[0], made.fields[0].kind) for row in made.rows]
    names = firsts
    if len(set(firsts)) < len(firsts) and len(columns) > 1:
        # The second column distinguishes rows of one name.
        seconds = [value_text(row[1], made.fields[1].kind) for row in made.rows]
        names = [f"{first}, {second}" for first, second in zip(firsts, seconds, strict=True)]
    places = []
    for column in columns:
        if len(rows) > 1 and all((row, column) in cells for row in rows):
            places.append(f"all of {made.fields[column].title}")
            cells = cells - {(row, column) for row in rows}
    for row in rows:
        there = [column for column in columns if (row, column) in cells]
        if len(there) > 1 and len(there) == len(columns):
            places.append(f"all of {names[row]}")
        else:
            places += [f"{names[row]}, {made.fields[column].title}" for column in there]
    return places


def findings_table(outcome: Outcome) -> Table:
    """What was concluded then, and what became of it."""
    columns = [
        Column("Concluded then", value="claim", style="cyan", fixed=True, name="concluded_then"),
        Column("Figure then", value="then", name="figure_then"),
        Column("Figure here", value="now", name="figure_here"),
        Column("Verdict", value="verdict"),
        Column("Why", value="why"),
    ]
    return table("What was concluded then, and what holds", columns, outcome.findings)

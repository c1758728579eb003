"""A study: its tables, those of then beside them, and what holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstlight.quantities import Kind
from firstlight.render.model.report import BLANK, Block, Heading, Line
from firstlight.render.model.table import Column, Table, Value, Written, table
from firstlight.study.catalogue import Study
from firstlight.study.outcome import Outcome, Verdict
from firstlight.study.recheck import Recheck
from firstlight.study.table import NO_VALUE, MissingValue, value_text
from firstlight.study.table import Table as StudyTable
from firstlight.study.table import Value as StudyValue

_STYLES = {
    Verdict.HOLDS: "green",
    Verdict.DIRECTION: "green",
    Verdict.NO_LONGER: "yellow",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.MACHINE: "dim",
    Verdict.NOT_TESTABLE: "dim",
    Verdict.COUNTED: "dim",
    Verdict.NOT_APPLICABLE: "dim",
}


def studies_table(studies: Sequence[Study]) -> Table:
    """The studies with their questions."""
    columns = [
        Column("Study", value="name", style="cyan", fixed=True),
        Column("Question", value="title"),
        Column("Guests", value=lambda study: ", ".join(study.architectures)),
    ]
    return table("", columns, studies)


def verdicts_text(outcome: Outcome) -> str:
    """How many claims got which verdict.

    >>> from firstlight.study.outcome import Finding, Outcome
    >>> found = (Finding("a", "", "", Verdict.HOLDS), Finding("b", "", "", Verdict.HOLDS))
    >>> verdicts_text(Outcome("s", "S", "?", False, (), (), (), found))
    '2 hold'
    """
    words = {Verdict.HOLDS: ("holds", "hold"), Verdict.DIRECTION: ("holds in direction", "hold in direction"),
             Verdict.NO_LONGER: ("no longer holds", "no longer hold"),
             Verdict.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
             Verdict.MACHINE: ("is decided by the machine here", "are decided by the machine here"),
             Verdict.NOT_TESTABLE: ("is not testable here", "are not testable here"),
             Verdict.COUNTED: ("is counted without a verdict", "are counted without a verdict"),
             Verdict.NOT_APPLICABLE: ("does not apply", "do not apply")}  # fmt: skip
    counts = {verdict: sum(found.verdict == verdict for found in outcome.findings) for verdict in words}
    return ", ".join(f"{count} {words[verdict][count > 1]}" for verdict, count in counts.items() if count)


def study_report(outcome: Outcome) -> Iterator[Block]:
    """A study on one screen: the verdicts, and each claim then and now; the tables are files."""
    yield Line(outcome.title, "bold", indent=2)
    yield Line(outcome.question, "dim", indent=2)
    yield Heading(f"Claims: {verdicts_text(outcome)}")
    for finding in outcome.findings:
        yield Line([(finding.verdict.value, _STYLES[finding.verdict]), (f": {finding.claim}", "")], indent=2)
        figures = [f"then {finding.then}" if finding.then else "", f"here {finding.now}" if finding.now else ""]
        yield Line("; ".join(filter(None, figures)), "dim", head="  ", indent=4)
    lines = [f"{each.what}: {each.reason}" for each in outcome.missing]
    if lines:
        yield Heading("Not measured")
        yield from (Line(line, indent=2) for line in lines)
    yield BLANK
    yield Line(f"Tables as CSV: {', '.join(file_names(outcome))}", "dim", indent=2)


def file_names(outcome: Outcome) -> dict[str, Table]:
    """The tables of a study by the names of their files: findings, what was measured, and what others measured."""
    ours = {each.key: study_table(each) for each in outcome.tables}
    theirs = {f"then-{each.key.removesuffix('-then')}": study_table(each) for each in outcome.historical}
    return {"findings": findings_table(outcome), **ours, **theirs}


def recheck_report(found: Recheck) -> Iterator[Block]:
    """The claims of a study on two kernels, those whose verdict differs first."""
    yield Line(f"{found.study}: {len(found.flipped)} of {len(found.rows)} verdicts differ", "bold", indent=2)
    columns = [
        Column("Claim", value="id", style="cyan", fixed=True), Column("Before", value="before"),
        Column("After", value="after"), Column("Figure before", value="now_before", wide=140),
        Column("Figure after", value="now_after", wide=120),
    ]  # fmt: skip
    yield table("", columns, sorted(found.rows, key=lambda row: not row.flipped))
    yield from (Line(f"{each.what}: {each.reason}", "yellow", indent=2) for each in found.missing)


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
    band = made.band_ns if isinstance(made.band_ns, int) else 0
    rows = [
        [_value(value, field.kind, band) for value, field in zip(row, made.fields, strict=True)] for row in made.rows
    ]
    inside = [f"In parentheses: inside the noise band of ±{value_text(band, 'time')}."] if band else []
    missing = [f"{NO_VALUE}: {places}: {reason}" for reason, places in gaps_of(made).items()]
    return Table(made.title, columns, rows, notes=[*made.below, *inside, *missing])


def _value(value: StudyValue, kind: Kind, band: int) -> Value:
    """A cell that has no meaning is empty, one that should have a value and has none says so, and a change inside the
    noise band stands in parentheses.
    """
    if value is None:
        return Written(None, "")
    if kind == "change" and isinstance(value, int | float) and abs(value) <= band:
        return Written(value, f"({value_text(value, kind)})")
    return Written(None, NO_VALUE) if isinstance(value, MissingValue) else value


def gaps_of(made: StudyTable) -> dict[str, str]:
    """By reason, where a table has gaps: whole columns and rows as such, the rest cell by cell.

    >>> from firstlight.study.table import Field
    >>> gone = MissingValue("left out")
    >>> rows = (("a", gone, 1, 2), ("b", gone, gone, 3), ("c", gone, 4, MissingValue("no mkfs")))
    >>> gaps_of(StudyTable("t", "T", (Field("Arm"), Field("A"), Field("B"), Field("C")), rows))
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


def claims_table(outcome: Outcome) -> Table:
    """Each claim then and now, short enough for a page."""
    columns = [
        Column("Claim", value="claim", style="cyan", fixed=True), Column("Then", value="then"),
        Column("Here", value="now"), Column("Verdict", value=lambda found: found.verdict.value),
    ]  # fmt: skip
    return table("Then and now", columns, outcome.findings)


def findings_table(outcome: Outcome) -> Table:
    """What was concluded then, and what became of it, with what each figure depends on and what would refute it."""
    columns = [
        Column("Claim", value="id"),
        Column("Concluded then", value="claim", style="cyan", fixed=True, name="concluded_then"),
        Column("Figure then", value="then", name="figure_then"),
        Column("Figure here", value="now", name="figure_here"),
        Column("Verdict", value=lambda found: found.verdict.value),
        Column("Why", value="why"),
        Column("Depends on", value=lambda found: ", ".join(found.depends), name="depends_on"),
        Column("Refuted by", value="refuted_by"),
    ]
    return table("What was concluded then, and what holds", columns, outcome.findings)

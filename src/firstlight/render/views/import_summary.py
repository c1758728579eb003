"""What an import gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from firstlight.escape import printable
from firstlight.ingest.importing import Imported
from firstlight.quantities import count_text
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Table
from firstlight.render.views.sources import MOST, WIDEST, sources_report, trust_report
from firstlight.schema.spans import Grade


def formats_table(formats: Sequence[tuple[str, str]]) -> Table:
    """What `--as` takes."""
    return Table("", [Column("Format", style="cyan"), Column("What it is")], formats)


def import_warnings(imported: Imported) -> list[str]:
    """What has to be known at once: what was left out, and why."""
    unknown = [source for source in imported.manifest.sources if source.format is None]
    notes = list(imported.notes) + list(imported.summary["warnings"])
    if len(unknown) == 1:
        notes.append(f"{unknown[0].file}: kept, but not read: {unknown[0].problems[0].detail}")
    elif unknown:
        names = ", ".join(source.file for source in unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        notes.append(f"{len(unknown)} files were stored but not read: no reader recognises them ({names})")
    warnings = [printable(note, WIDEST) for note in notes[:MOST]]
    return warnings + ([f"{len(notes) - MOST} more like this; `--json` has all"] if len(notes) > MOST else [])


def imported_data(imported: Imported) -> dict[str, Any]:
    """The same as data; times in nanoseconds."""
    manifest = imported.manifest.model_dump(mode="json")
    shown = ("clock", "totals", "completeness", "sources", "contradictions", "tables", "reproduce")
    spans: dict[str, dict[str, int]] = {}
    for kind, grade, number in imported.summary["grades"]:
        spans.setdefault(kind, {})[grade] = number
    return {
        "boot": str(imported.path),
        **{name: manifest[name] for name in shown},
        "spans": spans,
        "log": {"lines": imported.summary["lines"], "copies": imported.summary["copies"]},
        "marks": dict(imported.summary["marks"]),
        "notes": imported.notes + imported.summary["warnings"],
    }


def import_report(imported: Imported) -> Iterator[Block]:
    """What was read, as what, on which clock, how far it can be believed, and what to do next."""
    manifest, summary = imported.manifest, imported.summary
    yield Line(str(imported.path), "bold", wrap=False)
    yield BLANK
    yield from sources_report(manifest)
    yield BLANK
    for kind, figures in _by_kind(summary["grades"]).items():
        graded = ", ".join(f"{count_text(figures[grade])} {grade}" for grade in Grade if figures[grade])
        yield Line(f"{count_text(figures.total()):>9} {kind.replace('_', ' ')} spans: {graded}", wrap=False)
    for number, what in (
        (
            summary["lines"],
            ("log line" if summary["lines"] == 1 else "log lines")
            + (f", {summary['copies']:,} copies left out" if summary["copies"] else ""),
        ),
        (summary["nodes"], "nodes of the calling-context tree"),
        (summary["kd_rows"], "rows of kd's table"),
    ):
        if number:
            yield Line(f"{count_text(number):>9} {what}", wrap=False)
    yield from trust_report(manifest)
    yield BLANK
    yield Line(f"next: firstlight show {imported.path}", "dim", wrap=False)


def _by_kind(grades: Sequence[tuple[str, str, int]]) -> dict[str, Counter[str]]:
    kinds: dict[str, Counter[str]] = {}
    for kind, grade, number in grades:
        kinds.setdefault(kind, Counter())[grade] += number
    return kinds

"""What an import gave, in the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.ingest.importing import Imported
from firstlight.quantities import count_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import print_line
from firstlight.render.views.sources import MOST, WIDEST, print_sources, print_trust

_GRADES = ("exact", "good", "coarse", "bounded", "doubtful", "unknown")


def print_formats(out: Console, formats: Sequence[tuple[str, str]]) -> None:
    """Print what `--as` takes."""
    print_table(out, [Column("Format", style="cyan"), Column("What it is")], formats)


def print_notes(imported: Imported) -> None:
    """Print on standard error what a person should know at once: what was left out, and why."""
    unknown = [source for source in imported.manifest.sources if source.format is None]
    notes = list(imported.notes) + list(imported.summary["warnings"])
    if len(unknown) == 1:
        notes.append(f"{unknown[0].file}: kept, but not read: {unknown[0].problems[0].detail}")
    elif unknown:
        names = ", ".join(source.file for source in unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        notes.append(f"{len(unknown)} files were kept, but not read: no reader recognises them ({names})")
    for note in notes[:MOST]:
        print(f"warning: {printable(note, WIDEST)}", file=sys.stderr)
    if len(notes) > MOST:
        print(f"warning: {len(notes) - MOST} more of the kind; `--json` has all", file=sys.stderr)


def imported_data(imported: Imported) -> dict[str, Any]:
    """The same as data; times in nanoseconds."""
    manifest = imported.manifest.model_dump(mode="json")
    shown = ("clock", "totals", "completeness", "sources", "contradictions", "tables", "repeat")
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


def print_imported(out: Console, imported: Imported) -> None:
    """Print what was read, as what, on which clock, how far it can be believed, and what to do next."""
    manifest, summary = imported.manifest, imported.summary
    print_line(out, Text(printable(str(imported.path)), "bold"))
    print_line(out)
    print_sources(out, manifest)
    print_line(out)
    for kind, figures in _by_kind(summary["grades"]).items():
        graded = ", ".join(f"{count_text(figures[grade])} {grade}" for grade in _GRADES if figures[grade])
        print_line(out, f"{count_text(figures.total()):>9} {kind.replace('_', ' ')} spans: {graded}")
    for number, what in (
        (summary["lines"], "log lines" + (f", {summary['copies']:,} copies left out" if summary["copies"] else "")),
        (summary["nodes"], "nodes of the calling-context tree"),
        (summary["kd_rows"], "rows of kd's table"),
    ):
        if number:
            print_line(out, f"{count_text(number):>9} {what}")
    print_trust(out, manifest)
    print_line(out)
    print_line(out, Text(f"next: firstlight show {printable(str(imported.path))}", style="dim"))


def _by_kind(grades: Sequence[tuple[str, str, int]]) -> dict[str, Counter[str]]:
    kinds: dict[str, Counter[str]] = {}
    for kind, grade, number in grades:
        kinds.setdefault(kind, Counter())[grade] += number
    return kinds

"""What an import gave, in the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from firstlight.boot.manifest import Manifest, Source
from firstlight.intake.importing import Imported
from firstlight.report.terminal.columns import Column, print_table
from firstlight.report.terminal.console import print_line
from firstlight.report.terminal.printable import printable
from firstlight.report.units import count_text, time_text

#: A list of problems, notes or records has no more lines than this.
_MOST = 12
_WIDEST = 300
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
    for note in notes[:_MOST]:
        print(f"warning: {printable(note, _WIDEST)}", file=sys.stderr)
    if len(notes) > _MOST:
        print(f"warning: {len(notes) - _MOST} more of the kind; `--json` has all", file=sys.stderr)


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


def print_sources(out: Console, manifest: Manifest) -> None:
    """Print the records of an imported boot: format, what was understood, and how the clock was put onto the boot's."""
    read = [source for source in manifest.sources if source.format is not None]
    columns = [
        Column("Record", style="cyan"),
        Column("Format"),
        Column("Understood", number=True),
        Column("Clock"),
        Column("Put onto the boot's clock", wide=90),
    ]
    rows = [
        [
            source.file + (f" ({source.part})" if source.part else ""),
            source.format or "",
            count_text(source.understood),
            source.clock,
            fit_text(source),
        ]
        for source in read[: 2 * _MOST]
    ]
    if len(read) > 2 * _MOST:
        rows.append([f"({len(read) - 2 * _MOST} more)", "", "", "", ""])
    print_table(out, columns, rows)
    unknown = len(manifest.sources) - len(read)
    if unknown:
        print_line(out, f"{unknown} more kept in raw/, not recognised")


def fit_text(source: Source) -> str:
    """How a source's clock was put onto the boot's, in a few words.

    >>> from firstlight.boot.manifest import Fit
    >>> figures = dict(offset_ns=2_500, rate=1.0, shared=12, residual_median_ns=0, residual_max_ns=900)
    >>> fit = Fit(onto="bundle", how="", **figures)
    >>> blank = dict(file="", given="", sha256="", size_bytes=0, format="x", part="", understood=0, problems=[])
    >>> fit_text(Source(clock="printk", fit=fit, **blank))
    '+2.500 us by 12 shared events, median residual 0 ns, largest 900 ns'
    """
    fit = source.fit
    if fit is None:
        return "no times" if source.clock == "untimed" else "not aligned"
    offset = ("-" if fit.offset_ns < 0 else "+") + time_text(abs(fit.offset_ns))
    rate = "" if fit.rate == 1 else f", rate {fit.rate:.9g}"
    if fit.shared == 0:
        return f"{offset}{rate}: {fit.how}"
    median, largest = time_text(fit.residual_median_ns), time_text(fit.residual_max_ns)
    return f"{offset}{rate} by {fit.shared:,} shared events, median residual {median}, largest {largest}"


def print_trust(out: Console, manifest: Manifest) -> None:
    """Print what is missing from an imported boot, what is wrong with it, and where records exclude one another."""
    complete = manifest.completeness
    share = "" if complete.share is None else f" ({100 * complete.share:.4g} % of the records known of)"
    print_line(out)
    if complete.complete:
        print_line(out, "Evidence: nothing is known to be missing")
    else:
        print_line(out, f"Evidence: incomplete{share}")
        _listed(out, complete.missing)
    missing = set(complete.missing)
    problems = [
        f"{source.file}{'' if problem.line is None else f':{problem.line}'}: {problem.detail}"
        for source in manifest.sources
        for problem in source.problems
        if source.format is not None and f"{source.file}: {problem.detail}" not in missing
    ]
    if problems:
        print_line(out, "Problems:")
        _listed(out, problems)
    if manifest.contradictions:
        print_line(out, "Contradictions; the first is the one that the tables follow:")
        _listed(
            out,
            [
                f"{told.what}: " + "; ".join(f"{one.value} ({one.source})" for one in told.statements)
                for told in manifest.contradictions
            ],
        )


def _listed(out: Console, texts: Sequence[str]) -> None:
    for text in texts[:_MOST]:
        print_line(out, f"  {printable(text, _WIDEST)}")
    if len(texts) > _MOST:
        print_line(out, f"  ... and {len(texts) - _MOST} more; `firstlight show --json` has all")

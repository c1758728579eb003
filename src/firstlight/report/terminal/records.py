"""The records that an imported boot was made of, and how far they can be believed, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from firstlight.boot.manifest import Manifest, Source
from firstlight.report.terminal.columns import Column, print_table
from firstlight.report.terminal.console import print_line, print_wrapped
from firstlight.report.terminal.printable import printable
from firstlight.report.units import count_text, time_text

#: A list of problems has no more lines than this, one of records twice as many.
MOST = 12
WIDEST = 300


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
        for source in read[: 2 * MOST]
    ]
    if len(read) > 2 * MOST:
        rows.append([f"({len(read) - 2 * MOST} more)", "", "", "", ""])
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
        print_list(out, complete.missing)
    missing = set(complete.missing)
    problems = [
        f"{source.file}{'' if problem.line is None else f':{problem.line}'}: {problem.detail}"
        for source in manifest.sources
        for problem in source.problems
        if source.format is not None and f"{source.file}: {problem.detail}" not in missing
    ]
    if problems:
        print_line(out, "Problems:")
        print_list(out, problems)
    if manifest.contradictions:
        print_line(out, "Contradictions; the first is the one that the tables follow:")
        print_list(
            out,
            [
                f"{told.what}: " + "; ".join(f"{one.value} ({one.source})" for one in told.statements)
                for told in manifest.contradictions
            ],
        )


def print_list(out: Console, texts: Sequence[str]) -> None:
    """Print the first of some texts, each as an entry of its own."""
    for text in texts[:MOST]:
        print_wrapped(out, printable(text, WIDEST), "  ", 4)
    if len(texts) > MOST:
        print_line(out, f"  ... and {len(texts) - MOST} more; `firstlight show --json` has all")

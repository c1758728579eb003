"""The records that an imported boot was made of, and how far they can be believed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from firstlight.bundle.manifest import Contradiction, Manifest, Source
from firstlight.escape import printable
from firstlight.quantities import count_text, time_text
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table
from firstlight.schema.records import ClockKind, ProblemKind

#: A list of problems has no more lines than this, one of records twice as many.
MOST = 12
WIDEST = 600
#: A value of a contradiction is shown up to here; a longer one from so much before where it differs.
SHOWN = 120
BEFORE = 24


def sources_report(manifest: Manifest) -> Iterator[Block]:
    """The records of an imported boot: format, what was understood, and how the clock was aligned to the boot's."""
    read = [source for source in manifest.sources if source.format is not None]
    # What has times and says most comes first; the first of all, whose clock is the boot's, stays so.
    read[1:] = sorted(read[1:], key=lambda source: (source.clock == ClockKind.UNTIMED, -source.parsed))
    rest = read[2 * MOST :]
    yield table(
        "",
        [
            Column("Record", value=lambda each: each.file + (f" ({each.part})" if each.part else ""), style="cyan"),
            Column("Format", value="format"),
            Column("Understood", "number", understood_text),
            Column("Clock", value="clock"),
            Column("Offset (source)", value=fit_text, wide=90),
        ],
        read[: 2 * MOST],
        left_out={"Record": f"({len(rest)} more)", "Understood": count_text(sum(each.parsed for each in rest))}
        if rest
        else None,
    )
    unknown = len(manifest.sources) - len(read)
    if unknown:
        yield Line(f"{unknown} more stored in raw/, not recognised", wrap=False)


def understood_text(source: Source) -> str:
    """How many lines or records of a source were understood, and of how many where some were not.

    >>> blank = dict(file="", name="", sha256="", size_bytes=0, format="x", part="", clock="", fit=None, problems=[])
    >>> understood_text(Source(parsed=1_543, unparsed=3_506, **blank))
    '1,543 of 5,049'
    """
    if not source.unparsed:
        return count_text(source.parsed)
    return f"{count_text(source.parsed)} of {count_text(source.parsed + source.unparsed)}"


def fit_text(source: Source) -> str:
    """How a source's clock was aligned to the boot's, in a few words.

    >>> from firstlight.bundle.manifest import Fit
    >>> figures = dict(offset_ns=2_500, rate=1.0, shared_events=12, residual_median_ns=0, residual_max_ns=900)
    >>> fit = Fit(reference="bundle", basis="", **figures)
    >>> blank = dict(file="", name="", sha256="", size_bytes=0, format="x", part="", parsed=0, problems=[])
    >>> fit_text(Source(clock="printk", fit=fit, **blank))
    '+2.500 us by 12 shared events, median residual 0 ns, largest 900 ns'
    """
    fit = source.fit
    if fit is None:
        return "no times" if source.clock == ClockKind.UNTIMED else "not aligned"
    offset = ("-" if fit.offset_ns < 0 else "+") + time_text(abs(fit.offset_ns))
    rate = "" if fit.rate == 1 else f", rate {fit.rate:.9g}"
    if any(problem.kind == ProblemKind.IMPOSSIBLE_CLOCK for problem in source.problems):
        rate += ", impossible"
    if fit.shared_events == 0:
        return f"{offset}{rate}: {fit.basis}"
    median, largest = time_text(fit.residual_median_ns), time_text(fit.residual_max_ns)
    return f"{offset}{rate} by {fit.shared_events:,} shared events, median residual {median}, largest {largest}"


def trust_report(manifest: Manifest) -> Iterator[Block]:
    """What is missing from an imported boot, what is wrong with it, and where records exclude one another."""
    complete = manifest.completeness
    known = complete.lost and complete.share is not None
    share = f" ({part_text(complete.share or 0)} of the known records)" if known else ""
    yield BLANK
    if complete.complete:
        yield Line("Evidence: nothing is known to be missing", wrap=False)
    else:
        yield from _list(f"Evidence: incomplete{share}", complete.missing)
    missing = set(complete.missing)
    found: dict[bool, list[str]] = {False: [], True: []}
    for source in manifest.sources:
        for problem in source.problems:
            if source.format is not None and f"{source.file}: {problem.detail}" not in missing:
                place = "" if problem.line is None else f":{problem.line}"
                found[problem.is_note].append(f"{source.file}{place}: {problem.detail}")
    if found[False]:
        yield from _list("Problems:", found[False])
    if found[True]:
        yield from _list("Notes:", found[True])
    if manifest.contradictions:
        yield from _list(
            "Contradictions; the tables use the first statement:",
            [
                f"{each.subject}: " + "; ".join(f"{value} ({source})" for source, value in differing(each))
                for each in manifest.contradictions
            ],
        )


def part_text(share: float) -> str:
    """A share in percent that is 100 only where nothing is missing.

    >>> part_text(1.0), part_text(0.99999), part_text(0.5)
    ('100 %', '99.99 %', '50 %')
    """
    return f"{100 * share if share in (0, 1) else math.floor(10_000 * share) / 100:.4g} %"


def differing(found: Contradiction) -> list[tuple[str, str]]:
    """Source and value of each statement; long values from a little before the point where they differ.

    >>> from firstlight.bundle.manifest import Statement
    >>> texts = {"cmdline": "root=/dev/vda " * 20 + "quiet", "dmesg": "root=/dev/vda " * 20 + "debug"}
    >>> found = Contradiction(subject="", statements=[Statement(source=of, value=text) for of, text in texts.items()])
    >>> differing(found)
    [('cmdline', '... =/dev/vda root=/dev/vda quiet'), ('dmesg', '... =/dev/vda root=/dev/vda debug')]
    """
    values = [one.value for one in found.statements]
    start = 0
    if max(map(len, values), default=0) > SHOWN:
        same = (len(set(letters)) == 1 for letters in itertools.zip_longest(*values))
        start = max(sum(1 for _ in itertools.takewhile(bool, same)) - BEFORE, 0)
    return [(one.source, _cut(one.value, start)) for one in found.statements]


def _cut(value: str, start: int) -> str:
    end = start + SHOWN
    shown = value[start:end].lstrip() or "(ends here)"
    return ("... " if start else "") + shown + (" ..." if len(value) > end else "")


def _list(title: str, texts: Sequence[str]) -> Iterator[Line]:
    """The first of some texts, each as an entry of its own."""
    yield Line(title, wrap=False)
    for text in texts[:MOST]:
        yield Line(printable(text, WIDEST), head="  ", indent=4)
    if len(texts) > MOST:
        yield Line(f"  ... and {len(texts) - MOST} more; `firstlight show --json` has all", wrap=False)

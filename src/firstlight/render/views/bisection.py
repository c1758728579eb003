"""A bisection: the versions that were booted, and the one that changed the boot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.known_bands import band_for
from firstlight.escape import printable
from firstlight.history.bisection import Bisection
from firstlight.quantities import counted, signed_ns, time_text
from firstlight.render.model.pictures import Sparkline
from firstlight.render.model.report import BLANK, Block, Line, picture
from firstlight.render.model.table import Column, table


def bisection_report(found: Bisection, difference: ExactDifference, path: Sequence[str]) -> Iterator[Block]:
    """The version, its change with the phase and the call path, and every version that was tried.

    :param path: see :attr:`firstlight.FoundVersion.path`.
    """
    one = len(found.suspects) == 1
    named = found.first_bad if one else f"one of {', '.join(found.suspects)}"
    yield Line(f"{printable(named, 400)} changed the boot by {signed_ns(found.change_ns)}", "bold")
    yield Line(f"{time_text(found.before_ns)} at {found.last_good}, {time_text(found.after_ns)} at {found.first_bad}")
    known = band_for(difference.b)
    accident_ns = max(known.total_ns, known.doubt_ns)
    if abs(found.change_ns) <= accident_ns:
        yield Line(f"this may be an accident; {known.text}", head="note: ")
    if rest_ns := found.total_change_ns - found.change_ns:
        why = (
            f"the rest is within the {known.text}" if abs(rest_ns) <= accident_ns else "other versions caused the rest"
        )
        yield Line(f"the range changed it by {signed_ns(found.total_change_ns)} in total: {why}", head="note: ")
    phase = max(difference.phases.rows, key=lambda row: abs(row.change_ns), default=None)
    if phase is not None and phase.change_ns:
        yield Line(f"phase {printable(phase.name, 60)}: {signed_ns(phase.change_ns)}")
    if path:
        yield Line(f"call path: {printable(' > '.join(path), 1000)}")
    yield BLANK
    rows = sorted(found.measured, key=lambda each: found.versions.index(each.version))
    yield picture(Sparkline([each.time_ns for each in rows if each.time_ns is not None]), "blue")
    yield table(
        "",
        [
            Column("Version", value="version", style="cyan", longest=60),
            Column("Time", "time", "time_ns", style="bold"),
            Column("", value=lambda each: f"skipped: {each.skipped}" if each.skipped else "", longest=100),
        ],
        rows,
        notes=[f"{counted(len(found.versions), 'version')}, {counted(found.booted, 'boot')}"],
    )


def bisection_data(found: Bisection, difference: ExactDifference, path: Sequence[str]) -> dict[str, Any]:
    """A bisection as data; times are nanoseconds."""
    phases = [{"name": row.name, "change_ns": row.change_ns} for row in difference.phases.rows if row.change_ns]
    return {
        "versions": list(found.versions),
        "last_good": found.last_good,
        "suspects": list(found.suspects),
        "before_ns": found.before_ns,
        "after_ns": found.after_ns,
        "change_ns": found.change_ns,
        "total_change_ns": found.total_change_ns,
        "boots": found.booted,
        "measured": [asdict(each) for each in found.measured],
        "path": list(path),
        "phases": phases,
    }

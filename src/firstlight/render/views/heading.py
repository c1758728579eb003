"""What stands above every table: clock, instants and completeness; and below it: what its marks of trust mean."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.window import Window, window
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import count_text, share_text, time_text
from firstlight.render.terminal.console import print_line
from firstlight.render.views.show import clock_text

#: One character for each grade.
GRADE_MARKS = {"exact": "=", "good": "", "coarse": "~", "bounded": "<", "doubtful": "?", "unknown": "-"}


def print_heading(out: Console, boot: Boot, what: str, whole: Window | None = None) -> None:
    """Print what the figures below are: of what, on which clock, between which instants, how complete.

    :param what: what the table shows, such as `Initcalls`.
    :param whole: the two instants; those of the boot when not given.
    """
    whole = window(boot) if whole is None else whole
    instants = f"{whole.first} ({time_text(whole.first_ns)}) to {whole.last} ({time_text(whole.last_ns)})"
    print_line(out, Text(f"{what}, {clock_text(boot)}, {printable(instants, 200)}", style="bold"))
    print_line(out, Text(completeness_text(boot), style="dim"))
    print_line(out)


def completeness_text(boot: Boot) -> str:
    """How complete the evidence of a boot is, in one line.

    >>> import firstlight
    >>> completeness_text(firstlight.open(bundle))
    'Evidence: complete'
    """
    known = boot.manifest.completeness
    parts = []
    if known.share is not None and known.understood is not None:
        whole = known.understood + (known.lost or 0)
        parts.append(f"{share_text(known.understood, whole)} of {count_text(whole)} records")
    if known.complete and not known.missing:
        parts.append("complete")
    elif known.missing:
        parts.append("missing: " + printable("; ".join(known.missing), 300))
    else:
        parts.append("not complete")
    return "Evidence: " + ", ".join(parts)


def grade_mark(grade: str | None) -> str:
    """The character that stands for a grade; nothing for `good`."""
    return GRADE_MARKS.get(grade or "", "?")


def print_grades(out: Console, rows: pl.DataFrame) -> None:
    """Print what the marks of trust mean that stand in some rows, how many have them, and the commonest reasons."""
    counts = Counter(rows["grade"].to_list())
    for grade, mark in GRADE_MARKS.items():
        number = counts.get(grade, 0)
        if not number or grade == "good":
            continue
        reasons = Counter(reason for reason in rows.filter(pl.col("grade") == grade)["reason"].to_list() if reason)
        text = "; ".join(f"{printable(reason, 120)} ({often})" for reason, often in reasons.most_common(2))
        more = f"; {len(reasons) - 2} other reasons" if len(reasons) > 2 else ""
        print_line(out, Text(f"{mark} {grade} ({number:,})" + (f": {text}{more}" if text else ""), style="dim"))


def say_nothing(what: str, hint: str) -> None:
    """Say on standard error that a boot has no record of something, and which record would tell."""
    print(f"note: this boot has no record of {what}", file=sys.stderr)
    print(f"hint: {hint}", file=sys.stderr)


def timeline(start: int | None, end: int | None, whole: Window, width: int, unicode: bool = True) -> str:
    """An interval as a bar at its place in a window; a bar without an end runs to the window's.

    >>> timeline(25, 75, Window("a", 0, "b", 100), 8, unicode=False)
    '  ####'
    """
    if start is None or whole.length_ns <= 0:
        return ""
    until = whole.last_ns if end is None else end
    first = min(max(0, (start - whole.first_ns) * width // whole.length_ns), width - 1)
    last = min(max(first + 1, -(-(until - whole.first_ns) * width // whole.length_ns)), width)
    body = "█" if unicode else "#"
    if end is None:
        body = "░" if unicode else "."
    elif (until - start) * width * 2 < whole.length_ns:
        body = "▏" if unicode else "|"
    return " " * first + body * (last - first)


def heading_data(boot: Boot, whole: Window | None = None) -> dict[str, Any]:
    """The same as data, for `--json`."""
    whole = window(boot) if whole is None else whole
    return {
        "boot": str(boot.directory),
        "clock": boot.manifest.clock.model_dump(mode="json"),
        "from": {"mark": whole.first, "time_ns": whole.first_ns},
        "to": {"mark": whole.last, "time_ns": whole.last_ns},
        "completeness": boot.manifest.completeness.model_dump(mode="json"),
    }

"""What stands above every table: clock, instants and completeness; and below it: what its marks of trust mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import polars as pl

from firstlight.analysis.window import Window, window
from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import clock_text
from firstlight.escape import printable
from firstlight.quantities import count_text, share_text, time_text
from firstlight.render.model.pictures import Interval
from firstlight.render.model.report import BLANK, Line
from firstlight.render.model.table import Column
from firstlight.schema.spans import Grade

#: One character for each grade.
GRADE_MARKS = {
    Grade.EXACT: "=",
    Grade.GOOD: "",
    Grade.COARSE: "~",
    Grade.BOUNDED: "<",
    Grade.DOUBTFUL: "?",
    Grade.UNKNOWN: "-",
}


def heading(boot: Boot, what: str, whole: Window | None = None) -> list[Line]:
    """What the figures below are: of what, on which clock, between which instants, how complete.

    :param what: what the table shows, such as `Initcalls`.
    :param whole: the two instants; those of the boot when not given.
    """
    whole = window(boot) if whole is None else whole
    instants = f"{whole.first} ({time_text(whole.first_ns)}) to {whole.last} ({time_text(whole.last_ns)})"
    if not whole.length_ns:
        instants = "how long the boot took is unknown"
    return [
        Line(f"{what}, {clock_text(boot)}, {printable(instants, 200)}", "bold", wrap=False),
        Line(completeness_text(boot), "dim", wrap=False),
        BLANK,
    ]


def completeness_text(boot: Boot) -> str:
    """How complete the evidence of a boot is, in one line.

    >>> import firstlight
    >>> completeness_text(firstlight.open(bundle))
    'Evidence: complete'
    """
    known = boot.manifest.completeness
    parts = []
    if known.share is not None and known.parsed is not None:
        whole = known.parsed + (known.lost or 0)
        parts.append(f"{share_text(known.parsed, whole)} of {count_text(whole)} records")
    if known.complete and not known.missing:
        parts.append("complete")
    elif known.missing:
        parts.append("missing: " + printable("; ".join(known.missing), 300))
    else:
        parts.append("not complete")
    return "Evidence: " + ", ".join(parts)


def grade_mark(grade: str | None) -> str:
    """The character that stands for a grade; nothing for `good`."""
    return GRADE_MARKS[Grade(grade)] if grade in GRADE_MARKS else "?"


def grade_column() -> Column:
    """The mark of trust of a row."""
    return Column("", value=lambda row: grade_mark(row["grade"]), name="", longest=1)


def timeline_column(whole: Window, length: int, wide: int) -> Column:
    """Each row as a bar at its place in the boot."""
    return Column(
        "", "picture", lambda row: Interval(row["start_ns"], row["end_ns"], whole, length), style="blue", wide=wide
    )


def grade_lines(rows: pl.DataFrame) -> Iterator[Line]:
    """What the marks of trust mean that stand in some rows, how many have them, and the commonest reasons."""
    counts = Counter(rows["grade"].to_list())
    for grade, mark in GRADE_MARKS.items():
        number = counts.get(grade, 0)
        if not number or grade == "good":
            continue
        reasons = Counter(reason for reason in rows.filter(pl.col("grade") == grade)["reason"].to_list() if reason)
        text = "; ".join(f"{printable(reason, 120)} ({often})" for reason, often in reasons.most_common(2))
        more = f"; {len(reasons) - 2} other reasons" if len(reasons) > 2 else ""
        yield Line(f"{mark} {grade} ({number:,})" + (f": {text}{more}" if text else ""), "dim", wrap=False)


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

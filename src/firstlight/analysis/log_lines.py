"""The lines of a boot's log with the time between them, and the gaps in which nothing was logged."""

from __future__ import annotations

import re

import polars as pl

from firstlight.analysis.during import ran_between
from firstlight.analysis.spans import WORK, spans_of
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.errors import UsageError
from firstlight.schema.records import ProblemKind
from firstlight.schema.spans import SpanKind

#: The kernel's levels, by number.
LEVELS = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")

#: What gives a log times.
HINT = "import a log with times: `dmesg`, or a console of a kernel with `printk.time=1`"

_MOST_EXPLAINED = 1000

_GAPS = columns("gap_ns:int start_ns:int end_ns:int line_before:int before line_after:int after running")


def log_lines(
    boot: Boot, grep: str | None = None, level: int | None = None, between: tuple[int, int] | None = None
) -> pl.DataFrame:
    """The lines of a boot's log in their order.

    Columns: those of the table `log`, and `delta_ns`: since the line before that has a time, whether it is among those
    asked for or not; null where either has none.

    :param grep: only lines in which this regular expression (of Python) is found.
    :param level: only lines of this level of the kernel's or a graver one; lines without a level are left out.
    :param between: only lines from one instant to another, in nanoseconds; lines without a time are left out.
    :raises UsageError: when *grep* is no regular expression.

    >>> import firstlight
    >>> log_lines(firstlight.open(bundle), grep="^tsc")["text"].to_list()
    ['tsc: Fast TSC calibration using PIT']
    """
    frame = boot.log()
    before = pl.col("time_ns").forward_fill().shift(1)
    frame = frame.with_columns((pl.col("time_ns") - before).alias("delta_ns"))
    if between is not None:
        frame = frame.filter(pl.col("time_ns").is_between(*between).fill_null(False))
    if level is not None:
        frame = frame.filter((pl.col("level") <= level).fill_null(False))
    if grep is not None:
        try:
            wanted = re.compile(grep)
        except re.error as error:
            raise UsageError(f"`{grep}` is not a regular expression: {error}", where="--grep") from error
        frame = frame.filter(
            pl.Series([wanted.search(text or "") is not None for text in frame["text"]], dtype=pl.Boolean)
        )
    return frame


def gaps(boot: Boot, least_ns: int = 0, explained: int = 20) -> pl.DataFrame:
    """The time between lines that follow one another in time, the longest first.

    With the time before the first line and after the last one they are the whole window of the boot: with *least_ns* 0
    `gap_ns` adds up to it exactly. Lines before or after it divide nothing. If a record has more events than are
    stored, the gaps end with its last stored event: see :func:`stored_until`.

    Columns: `gap_ns`, `start_ns`, `end_ns`, `line_before` and `before` (null: the boot's first mark), `line_after` and
    `after` (null: its last), `running` (the initcalls, probes, units, ... that ran longest in the gap; only of the
    longest gaps).

    :param least_ns: leave out what is shorter, in nanoseconds.
    :param explained: of how many of the longest gaps `running` is looked up, at most 1000.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> gaps(boot)["gap_ns"].sum() == boot.manifest.totals.virtual_ns
    True
    """
    lines = boot.log().filter(pl.col("time_ns").is_not_null()).sort("time_ns", "line", maintain_order=True)
    if lines.is_empty():
        return pl.DataFrame(schema=_GAPS)
    whole = window(boot)
    edge = pl.DataFrame({"time_ns": [whole.first_ns], "line": [None], "text": [None]}, schema_overrides={
        "time_ns": pl.Int64, "line": pl.Int64, "text": pl.String})  # fmt: skip
    said = lines.select("time_ns", "line", "text")
    said = said.filter(pl.col("time_ns").is_between(whole.first_ns, whole.last_ns))
    ends = [edge.with_columns(pl.lit(at, pl.Int64).alias("time_ns")) for at in (whole.first_ns, whole.last_ns)]
    rows = pl.concat([ends[0], said, ends[1]])
    frame = (
        rows.select(
            (pl.col("time_ns") - pl.col("time_ns").shift(1)).alias("gap_ns"),
            pl.col("time_ns").shift(1).alias("start_ns"),
            pl.col("time_ns").alias("end_ns"),
            pl.col("line").shift(1).alias("line_before"),
            pl.col("text").shift(1).alias("before"),
            pl.col("line").alias("line_after"),
            pl.col("text").alias("after"),
        )
        .slice(1)
        .filter(pl.col("gap_ns") >= least_ns)
        .sort("gap_ns", "start_ns", descending=[True, False], maintain_order=True)
    )
    if (last_ns := stored_until(boot)) is not None:
        frame = frame.filter(pl.col("start_ns") < last_ns)
    running = spans_of(boot, *WORK, SpanKind.FIRMWARE, SpanKind.CONSOLE, SpanKind.MOUNT)
    names: list[str | None] = [None] * frame.height
    for place, row in enumerate(frame.head(min(explained, _MOST_EXPLAINED)).select("start_ns", "end_ns").iter_rows()):
        names[place] = ran_between(running, *row) if row[1] > row[0] else None
    return frame.with_columns(pl.Series("running", names, dtype=pl.String))


def stored_until(boot: Boot) -> int | None:
    """The time of the last stored event of a record that has more events than are stored; none without such a record.

    After this time, a gap between lines does not show that nothing happened.

    >>> import firstlight
    >>> stored_until(firstlight.open(bundle)) is None
    True
    """
    longer = [
        record.file for record in boot.manifest.sources
        if any(problem.kind == ProblemKind.OVERLONG and problem.line is None for problem in record.problems)
    ]  # fmt: skip
    ends = boot.log().filter(pl.col("source").is_in(longer)).group_by("source").agg(pl.col("time_ns").max())
    return ends["time_ns"].min()  # type: ignore[return-value]


def level_number(text: str) -> int:
    """A level of the kernel's by name or number.

    :raises UsageError: when it is none.

    >>> level_number("warning"), level_number("7")
    (4, 7)
    """
    names = {"error": 3, "warn": 4} | {name: number for number, name in enumerate(LEVELS)}
    number = names.get(text.lower(), int(text) if text.isdecimal() and len(text) == 1 else -1)
    if not 0 <= number < len(LEVELS):
        raise UsageError(f"no level `{text}`", where="--level", hint="one of " + ", ".join(LEVELS) + ", or 0 to 7")
    return number

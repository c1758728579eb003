"""The log of a boot: its lines, its gaps, and what the console cost."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from firstlight.analysis.console_cost import ConsoleCost
from firstlight.analysis.log_lines import LEVELS, stored_until
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.escape import message, printable
from firstlight.quantities import counted, ratio_text, share, time_text
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import BLANK, Block, Line, pairs
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import heading

_BAR = 16
_LONG_LINE = 400


NO_LEVELS = (
    "no line has a level, because a console prints none; `dmesg --raw`, `dmesg --decode`, /dev/kmsg and "
    "`journalctl -o json` record them"
)


def log_report(
    boot: Boot, rows: pl.DataFrame, lines: int, untimed: int, unknown_level: bool = False
) -> Iterator[Block]:
    """Lines with their time, and the time since the line before.

    :param lines: how many lines the boot has.
    :param untimed: how many of them have no time.
    :param unknown_level: lines of a level were wanted, and no line has one.
    """
    yield from heading(boot, "Log")
    levels = rows["level"].count() > 0
    for row in rows.iter_rows(named=True):
        at = "-" if row["time_ns"] is None else f"{row['time_ns'] / 1e9:.6f}"
        delta = row["delta_ns"]
        since = "" if delta is None else f"{'+' if delta >= 0 else '-'}{time_text(abs(delta))}"
        level = LEVELS[row["level"]] if row["level"] is not None and 0 <= row["level"] < 8 else ""
        text = printable(message(row["text"] or ""), _LONG_LINE)
        style = "bold" if (delta or 0) >= 100_000_000 else "dim"
        shown = f" {level:7}" if levels else ""
        yield Line([(f"{at:>12}", "cyan"), (f" {since:>13}", style), (f"{shown}  {text}", "")], wrap=False)
    yield BLANK
    without = f"; {untimed:,} of these without a time" if untimed else ""
    yield Line(f"{rows.height:,} of {lines:,} lines{without}.", "dim", wrap=False)
    if unknown_level:
        yield Line(f"Lines cannot be selected by level: {NO_LEVELS}.", "yellow")


def gaps_report(boot: Boot, rows: pl.DataFrame, limit: int, untimed: int) -> Iterator[Block]:
    """The longest gaps with the lines around them, and all others as one row."""
    yield from heading(boot, "Gaps in the log")
    whole, rest = int(rows["gap_ns"].sum()), rows.slice(limit)
    left = int(rest["gap_ns"].sum())

    def line(name: str, edge: str) -> Column:
        return Column(
            "from the line" if name == "before" else "to the line",
            value=lambda row: edge if row[name] is None else message(row[name], stamp=False),
            style="cyan" if name == "after" else "",
            wide=70 if name == "before" else 0,
            longest=70,
            name=name,
        )

    yield table(
        "",
        [
            Column("Gap", "time", "gap_ns", style="bold"),
            Column("Share", "share", lambda row: share(row["gap_ns"], whole), wide=60),
            Column("", "picture", lambda row: Bar(share(row["gap_ns"], whole), _BAR), style="blue", wide=110),
            Column("Start", "time", "start_ns"),
            line("before", "[the first mark]"),
            line("after", "[the last mark]"),
            Column("running", value="running", wide=120, longest=60),
        ],
        rows.head(limit).iter_rows(named=True),
        left_out={"gap_ns": left, "Share": share(left, whole), "after": f"({rest.height:,} shorter)"}
        if rest.height
        else None,
        footer=[{"gap_ns": whole, "Share": share(whole, whole), "after": "all"}],
    )
    if (last_ns := stored_until(boot)) is not None:
        text = f"After {time_text(last_ns)} not all events are stored, so gaps are unknown: see Evidence."
        yield Line(text, "yellow", wrap=False)
    if untimed:
        yield Line(f"Lines without a time, somewhere in these gaps: {untimed:,}.", "dim", wrap=False)
    lasts = window(boot)
    outside = boot.log().filter(~pl.col("time_ns").is_between(lasts.first_ns, lasts.last_ns)).height
    if outside:
        yield Line(f"Lines before or after the boot, in none of these gaps: {outside:,}.", "dim", wrap=False)


def _measured(cost: ConsoleCost) -> str:
    """What was measured of the console; without another machine's times what would show it."""
    if cost.measured_ns is not None:
        return f"{time_text(cost.measured_ns)} in which the kernel waited for its console"
    if cost.behind_ns is not None:
        return "none: by the capture's clock no lines had accumulated"
    return "unknown: a capture with the times of another machine would show it"


def console_cost_report(boot: Boot, cost: ConsoleCost, limit: int) -> Iterator[Block]:
    """What the console cost, computed and measured, and the lines that cost most."""
    yield from heading(boot, "Cost of the console")
    rate = "-" if cost.baud is None else f"{cost.baud:,} baud"
    if cost.baud is not None and not cost.baud_known:
        rate += ", the kernel's default, because the command line sets no rate"
    share_of = "" if cost.share is None else f", {ratio_text(cost.share)} of the boot"
    if cost.share is not None and cost.share > 1:
        share_of = ", more than the boot took: the line was faster, or it is not a real serial line"
    characters = counted(cost.characters, "character")
    diagnostics = f"{counted(cost.diagnostic_lines, 'line')} of initcall_debug, {time_text(cost.diagnostic_ns)} of this"
    yield from pairs(
        [
            ("console", printable(cost.console, 40) if cost.console else "no serial console on the command line"),
            ("rate", rate),
            ("printed", f"{counted(cost.lines, 'line')} below level {cost.level}, {characters}"),
            ("computed", f"{time_text(cost.computed_ns)}{share_of} (characters x 10 bits / rate)"),
            ("diagnostics", diagnostics),
            ("measured", _measured(cost)),
            ("behind", "-" if cost.behind_ns is None else f"lines came up to {time_text(cost.behind_ns)} late"),
        ]
    )
    yield BLANK
    rest = cost.costly.slice(limit)
    left = int(rest["cost_ns"].sum()) if cost.computed_ns is not None else None
    yield table(
        "",
        [
            Column("Cost", "time", "cost_ns", style="bold"),
            Column("Characters", "count", "characters", wide=60),
            Column("At", "time", "time_ns"),
            Column("Line", value=lambda row: message(row["text"] or ""), style="cyan", longest=200),
        ],
        cost.costly.head(limit).iter_rows(named=True),
        left_out={"cost_ns": left, "characters": int(rest["characters"].sum()), "Line": f"({rest.height:,} more)"}
        if rest.height
        else None,
    )

"""The log of a boot in the terminal: its lines, its gaps, and what the console cost."""

from __future__ import annotations

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.console_cost import ConsoleCost
from firstlight.analysis.log_lines import LEVELS
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.escape import message, printable
from firstlight.quantities import count_text, share, share_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_line
from firstlight.render.views.heading import print_heading

_BAR = 16
_LONG_LINE = 400


def print_log(out: Console, boot: Boot, rows: pl.DataFrame, lines: int, untimed: int) -> None:
    """Print lines with their time, and the time since the line before.

    :param lines: how many lines the boot has.
    :param untimed: how many of them have no time.
    """
    print_heading(out, boot, "Log")
    levels = rows["level"].count() > 0
    for row in rows.iter_rows(named=True):
        at = "-" if row["time_ns"] is None else f"{row['time_ns'] / 1e9:.6f}"
        delta = (
            ""
            if row["delta_ns"] is None
            else f"{'+' if row['delta_ns'] >= 0 else '-'}{time_text(abs(row['delta_ns']))}"
        )
        level = (
            f" {LEVELS[row['level']] if row['level'] is not None and 0 <= row['level'] < 8 else '':7}" if levels else ""
        )
        style = "bold" if (row["delta_ns"] or 0) >= 100_000_000 else "dim"
        text = printable(message(row["text"] or ""), _LONG_LINE)
        print_line(out, Text.assemble((f"{at:>12}", "cyan"), (f" {delta:>13}", style), level, f"  {text}"))
    print_line(out)
    without = f"; without a time: {untimed:,} of these" if untimed else ""
    print_line(out, Text(f"{rows.height:,} of {lines:,} lines{without}.", style="dim"))


def print_gaps(out: Console, boot: Boot, rows: pl.DataFrame, limit: int, untimed: int) -> None:
    """Print the longest gaps with the lines around them, and all others as one row."""
    print_heading(out, boot, "Gaps of the log")
    whole = int(rows["gap_ns"].sum())
    columns = [
        Column("Gap", number=True, style="bold"),
        Column("Share", number=True, wide=60),
        Column("", wide=110, style="blue"),
        Column("Start", number=True),
        Column("from the line", longest=70, wide=70),
        Column("to the line", style="cyan", longest=70),
        Column("running", wide=120, longest=60),
    ]
    body = [
        [
            time_text(row["gap_ns"]),
            share_text(row["gap_ns"], whole),
            bar(share(row["gap_ns"], whole) or 0.0, _BAR, is_unicode(out)),
            time_text(row["start_ns"]),
            message(row["before"], stamp=False) if row["before"] is not None else "[the first mark]",
            message(row["after"], stamp=False) if row["after"] is not None else "[the last mark]",
            row["running"] or "",
        ]
        for row in rows.head(limit).iter_rows(named=True)
    ]
    rest = rows.slice(limit)
    left = int(rest["gap_ns"].sum())
    footer = (
        [[time_text(left), share_text(left, whole), "", "", "", f"({rest.height:,} shorter)", ""]]
        if rest.height
        else []
    )
    footer.append([time_text(whole), share_text(whole, whole), "", "", "", "all", ""])
    print_table(out, columns, body, footer)
    if untimed:
        print_line(out, Text(f"Lines without a time, somewhere in these gaps: {untimed:,}.", style="dim"))
    boot_lasts = window(boot)
    outside = boot.log().filter(~pl.col("time_ns").is_between(boot_lasts.first_ns, boot_lasts.last_ns)).height
    if outside:
        print_line(out, Text(f"Lines before or after the boot, in none of these gaps: {outside:,}.", style="dim"))


def _measured(cost: ConsoleCost) -> str:
    """What was measured of the console; without another machine's times what would tell."""
    if cost.measured_ns is not None:
        return f"{time_text(cost.measured_ns)} in which the kernel waited for its console"
    if cost.behind_ns is not None:
        return "no waiting: by the capture's clock no lines had piled up that the kernel waited for"
    return "not told: a capture with the times of another machine would tell"


def print_console_cost(out: Console, boot: Boot, cost: ConsoleCost, limit: int) -> None:
    """Print what the console cost, computed and measured, and the lines that cost most."""
    print_heading(out, boot, "Cost of the console")
    rate = "-" if cost.baud is None else f"{cost.baud:,} baud"
    if cost.baud is not None and not cost.baud_known:
        rate += ", the kernel's default: the command line names no rate"
    share_of = "" if cost.share is None else f", {cost.share:.1%} of the boot".replace("%", " %")
    if cost.share is not None and cost.share > 1:
        share_of = ", more than the whole boot: the line was faster than that, or is no real one"
    pairs = [
        ("console", printable(cost.console, 40) if cost.console else "no serial console on the command line"),
        ("rate", rate),
        ("printed", f"{cost.lines:,} lines below level {cost.level}, {cost.characters:,} characters"),
        ("computed", f"{time_text(cost.computed_ns)}{share_of} (characters x 10 bits / rate)"),
        ("diagnostics", f"{cost.diagnostic_lines:,} lines of initcall_debug, {time_text(cost.diagnostic_ns)} of it"),
        ("measured", _measured(cost)),
        ("behind", "-" if cost.behind_ns is None else f"lines came up to {time_text(cost.behind_ns)} late"),
    ]  # fmt: skip
    for name, value in pairs:
        print_line(out, Text.assemble((f"  {name:13}", "dim"), value))
    print_line(out)
    columns = [
        Column("Cost", number=True, style="bold"),
        Column("Characters", number=True, wide=60),
        Column("At", number=True),
        Column("Line", style="cyan", longest=200),
    ]
    rows = [
        [
            time_text(row["cost_ns"]),
            count_text(row["characters"]),
            time_text(row["time_ns"]),
            message(row["text"] or ""),
        ]
        for row in cost.costly.head(limit).iter_rows(named=True)
    ]
    rest = cost.costly.slice(limit)
    left = int(rest["cost_ns"].sum()) if cost.computed_ns is not None else None
    footer = [[time_text(left), count_text(int(rest["characters"].sum())), "", f"({rest.height:,} more)"]]
    print_table(out, columns, rows, footer if rest.height else [])

"""The result of a gate, for a person."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.comparison.sample import OTHER_FUNCTIONS
from firstlight.escape import printable
from firstlight.gate.bridge import Bridge, GateChange, bridge, function_changes, phase_changes
from firstlight.gate.verdict import GateResult
from firstlight.quantities import percent_text, signed_time, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import print_line, print_wrapped

_STYLES = {"pass": "green", "improvement": "green", "regression": "bold red", "inconclusive": "yellow",
           "unhealthy": "bold red"}  # fmt: skip
_CLOCKS = {"virtual": "virtual time", "host": "time of the host", "imported": "time of the log"}


def print_gate(out: Console, result: GateResult) -> None:
    """Print the verdict, every rule, and the phases and functions that changed."""
    bed, baseline = result.testbed, result.baseline
    verdict = Text.assemble("Gate: ", (result.verdict, _STYLES[result.verdict]))
    print_line(out, verdict)
    print_wrapped(out, f"{_CLOCKS[bed.clock]}, {printable(bed.first_mark, 60)} to {printable(bed.last_mark, 60)}, "
                       f"{bed.mode} mode")  # fmt: skip
    print_wrapped(out, Text(f"baseline {printable(baseline.name)} of {printable(baseline.blessed_at)}: "
                            f"{printable(baseline.because, 200)}", style="dim"))  # fmt: skip
    print_line(out)
    columns = [
        Column("Rule", style="cyan", longest=60),
        Column("Verdict", picture=True),
        Column("Limit", number=True, wide=70),
        Column("Baseline", number=True, wide=90),
        Column("Measured", number=True, style="bold"),
        Column("Change", number=True),
    ]
    print_table(out, columns, [
        [check.name, check.outcome, time_text(check.limit_ns), time_text(check.baseline_ns),
         time_text(check.measured_ns), percent_text(check.change_percent)]
        for check in result.checks
    ])  # fmt: skip
    _three_figures(out, result)
    for check in result.checks:
        if check.outcome != "pass" or check.change_ns:
            print_wrapped(out, printable(check.text, 300), Text(f"  {printable(check.name, 60)}: ", style="dim"), 4)
    means = "" if result.exact else ", mean"
    _changes(out, f"Phase{means}", phase_changes(result))
    _changes(out, f"Function, by self{means}", function_changes(result))
    between = bridge(result)
    if between is not None:
        print_line(out)
        print_wrapped(out, Text(bridge_text(between), style="dim"), indent=2)
    if result.confirmation is not None:
        print_line(out)
        print_wrapped(out, printable(result.confirmation.text, 300), "Booted again: ", 2)
    for flag in result.flags:
        print_wrapped(out, printable(flag, 300), Text("note: ", style="yellow"), 2)


def _three_figures(out: Console, result: GateResult) -> None:
    """Of exact boots virtual time, instructions and idle, apart."""
    one, other = result.baseline.samples[0], next((each for each in result.samples if each.healthy), None)
    if not result.exact or other is None:
        return
    parts = [f"virtual time {other.virtual_ns - one.virtual_ns:+,} ns"]
    if one.instructions is not None and other.instructions is not None:
        parts.append(f"instructions {other.instructions - one.instructions:+,}")
    if one.idle_ns is not None and other.idle_ns is not None:
        parts.append(f"idle {other.idle_ns - one.idle_ns:+,} ns")
    print_wrapped(out, Text(", ".join(parts), style="bold"), "  ", 2)


def _changes(out: Console, title: str, rows: list[GateChange]) -> None:
    others = [row for row in rows[:-1] if row.name == OTHER_FUNCTIONS]
    changed = [row for row in rows[:-1] if row.change_ns and row not in others]
    if not any(row.change_ns for row in rows):
        return
    whole = rows[-1]
    same = [row for row in rows[:-1] if not row.change_ns and row not in others]
    columns = [
        Column(title, style="cyan", longest=60),
        Column("Baseline", number=True, wide=70),
        Column("Measured", number=True),
        Column("Change", number=True, style="bold"),
    ]
    footer = [[row.name, *_figures(row)] for row in (*others, whole)]
    if same:
        sums = GateChange("", sum(row.before_ns or 0 for row in same), sum(row.after_ns or 0 for row in same), 0)
        footer.insert(0, [f"({len(same)} unchanged)", *_figures(sums)])
    print_line(out)
    ordered = sorted(changed, key=lambda row: -abs(row.change_ns))
    print_table(out, columns, [[row.name, *_figures(row)] for row in ordered], footer)


def _figures(row: GateChange) -> list[str]:
    return [time_text(row.before_ns), time_text(row.after_ns), f"{row.change_ns:+,} ns" if row.change_ns else "0 ns"]


def bridge_text(bridge: Bridge) -> str:
    """Why the rules and the tables of boots with noise have different figures.

    >>> bridge_text(Bridge(9_000_000, 7_500_000, -1_500_000)).rpartition("; ")[2]
    'bridge -1.500 ms'
    """
    if bridge.headline_ns is None or bridge.bridge_ns is None:
        return f"Rules have medians; the tables are means and add up to {signed_time(bridge.mean_ns)}"
    return (
        f"Rules have medians and the Hodges-Lehmann change, of the total {signed_time(bridge.headline_ns)}; the tables "
        f"are means and add up to {signed_time(bridge.mean_ns)}; bridge {signed_time(bridge.bridge_ns)}"
    )

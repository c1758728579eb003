"""The result of a gate: the verdict, every rule, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstlight.bundle.describe import CLOCKS
from firstlight.comparison.boot_figures import OTHER_FUNCTIONS
from firstlight.escape import printable
from firstlight.gate.bridge import Bridge, GateChange, bridge, function_changes, phase_changes, process_changes
from firstlight.gate.checks import Check
from firstlight.gate.verdict import GateResult
from firstlight.quantities import joined, percent_text, signed_ns, signed_time
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Row, Table, table

_STYLES = {"pass": "green", "improvement": "green", "regression": "bold red", "inconclusive": "yellow",
           "unhealthy": "bold red"}  # fmt: skip


def gate_report(result: GateResult) -> Iterator[Block]:
    """The verdict, every rule, and the phases and functions that changed."""
    bed, baseline = result.testbed, result.baseline
    yield Line([("Gate: ", ""), (result.verdict, _STYLES[result.verdict])], wrap=False)
    first, last = printable(bed.first_mark, 60), printable(bed.last_mark, 60)
    yield Line(f"{CLOCKS[bed.clock]}, {first} to {last}, {bed.mode} mode")
    yield Line(f"baseline {baseline.name} of {baseline.blessed_at}: {printable(baseline.because, 200)}", "dim")
    yield BLANK
    yield rules_table(result.checks)
    yield from _three_figures(result)
    for text, names in _reasons(result).items():
        yield Line(printable(text, 300), head=f"  {printable(joined(names, 3), 200)}: ", head_style="dim", indent=4)
    for made in changes_tables(result):
        yield BLANK
        yield made
    if (between := bridge(result)) is not None:
        yield BLANK
        yield Line(bridge_text(between), "dim", indent=2)
    if result.confirmation is not None:
        yield BLANK
        yield Line(printable(result.confirmation.text, 300), head="Booted again: ", indent=2)
    if result.noise_band is not None:
        yield Line(printable(result.noise_band, 300), "dim", head="  ", indent=2)
    for flag in result.flags:
        yield Line(printable(flag, 300), head="note: ", head_style="yellow", indent=2)


def _reasons(result: GateResult) -> dict[str, list[str]]:
    """Every reason that the table does not show, with the rules that have it."""
    reasons: dict[str, list[str]] = {}
    for check in result.checks:
        if not _is_unchanged(check):
            reasons.setdefault(check.text, []).append(check.name)
    return reasons


def _is_unchanged(check: Check) -> bool:
    """Whether a rule passes and what it is about took as long as in the baseline."""
    return check.outcome == "pass" and not check.change_ns


def rules_table(checks: Sequence[Check], *further: Column) -> Table:
    """Rules with their limits and figures.

    :param further: columns of a check.
    """
    columns = [
        Column("Rule", value="name", style="cyan", longest=60),
        Column("Verdict", value="outcome", fixed=True),
        Column("Limit", "time", "limit_ns", wide=70),
        Column("Baseline", "time", "baseline_ns", wide=90),
        Column("Measured", "time", "measured_ns", style="bold"),
        Column("Change", "percent", "change_percent", write=percent_text),
    ]
    return table("", [*columns, *further], checks)


def _three_figures(result: GateResult) -> Iterator[Line]:
    """Of exact boots virtual time, instructions and idle, apart."""
    one, other = result.baseline.samples[0], next((each for each in result.samples if each.healthy), None)
    if not result.exact or other is None:
        return
    parts = [f"virtual time {other.virtual_ns - one.virtual_ns:+,} ns"]
    if one.instructions is not None and other.instructions is not None:
        parts.append(f"instructions {other.instructions - one.instructions:+,}")
    if one.idle_ns is not None and other.idle_ns is not None:
        parts.append(f"idle {other.idle_ns - one.idle_ns:+,} ns")
    yield Line(", ".join(parts), "bold", head="  ", indent=2)


def changes_tables(result: GateResult) -> Iterator[Table]:
    """Phases, functions and processes, where any of them changed."""
    means = "" if result.exact else ", mean"
    tables = (
        ("Phase", phase_changes(result)),
        ("Function, by self", function_changes(result)),
        ("Process, by program", process_changes(result)),
    )
    for title, changes in tables:
        if any(change.change_ns for change in changes):
            yield _changes(f"{title}{means}", changes)


def _changes(title: str, rows: list[GateChange]) -> Table:
    """What changed, the largest first; below it what did not, the functions that have no row, and the sum."""
    *parts, whole = rows
    others = [row for row in parts if row.name == OTHER_FUNCTIONS]
    changed = [row for row in parts if row.change_ns and row not in others]
    same = [row for row in parts if not row.change_ns and row not in others]
    columns = [
        Column(title, value="name", style="cyan", longest=60),
        Column("Baseline", "time", "before_ns", wide=70),
        Column("Measured", "time", "after_ns"),
        Column("Change", "change", "change_ns", style="bold", write=signed_ns),
    ]

    def cells(row: GateChange) -> Row:
        return [column.of(row) for column in columns]

    before, after = (sum(getattr(row, side) or 0 for row in same) for side in ("before_ns", "after_ns"))
    return Table(
        "",
        columns,
        [cells(row) for row in sorted(changed, key=lambda row: -abs(row.change_ns))],
        [cells(row) for row in (*others, whole)],
        left_out=[[f"({len(same)} unchanged)", before, after, 0]] if same else [],
    )


def bridge_text(bridge: Bridge) -> str:
    """Why the rules and the tables of boots with noise have different figures.

    >>> bridge_text(Bridge(9_000_000, 7_500_000, -1_500_000)).rpartition("; ")[2]
    'bridge -1.500 ms'
    """
    if bridge.headline_ns is None or bridge.bridge_ns is None:
        return f"Rules use medians; the tables are means and add up to {signed_time(bridge.mean_ns)}"
    return (
        f"Rules use medians and the Hodges-Lehmann change, for the total {signed_time(bridge.headline_ns)}; the tables "
        f"are means and add up to {signed_time(bridge.mean_ns)}; bridge {signed_time(bridge.bridge_ns)}"
    )

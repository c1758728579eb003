"""The difference of two boots in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.analysis.window import window
from firstlight.compare.exact.data import added
from firstlight.compare.exact.difference import ExactDifference
from firstlight.compare.exact.level import Level
from firstlight.compare.exact.rows import Row
from firstlight.compare.inputs import InputChange
from firstlight.report.terminal.columns import Column, print_table
from firstlight.report.terminal.console import bar, is_unicode, print_line, print_wrapped
from firstlight.report.terminal.printable import printable
from firstlight.report.terminal.show import clock_text
from firstlight.report.units import count_text, signed_count, signed_share, signed_time, time_text

_BAR = 16

#: What each level is called above its table, and its first column.
_TITLES = {"phases": ("Phases", "Phase"), "functions": ("Functions, by self", "Function")}


def print_difference(out: Console, difference: ExactDifference, limit: int) -> None:
    """Print what changed from A to B: inputs, totals, and each level with its largest changes first.

    :param limit: how many rows of each level have a line of their own.
    """
    _heading(out, difference)
    if difference.is_equal:
        print_line(out, Text("Equal: every table of one boot is that of the other.", style="bold green"))
        return
    _totals(out, difference)
    for level in difference.levels:
        print_level(out, level, limit)


def _heading(out: Console, difference: ExactDifference) -> None:
    a, b = difference.a, difference.b
    names = f"A {printable(str(a.path), 200)}, B {printable(str(b.path), 200)}"
    print_wrapped(out, Text(names, style="bold"), indent=2)
    one = window(a)
    instants = f"{printable(one.first, 100)} to {printable(one.last, 100)}"
    print_line(out, Text(f"{a.manifest.mode} mode, {clock_text(a)}, {instants}", style="dim"))
    for change in difference.inputs:
        print_wrapped(out, _input(change), head="  differs: ", indent=11)
    if not difference.inputs:
        print_line(out, "  no input differs")
    for flag in difference.flags:
        print_wrapped(out, printable(flag.text, 500), head=Text(f"  {flag.kind}: ", style="yellow"), indent=4)
    print_line(out)


def _input(change: InputChange) -> str:
    name = printable(change.name.replace("_", " "), 60)
    if change.detail:
        return f"{name}: {printable(change.detail, 400)}"
    one, other = (("nothing" if text is None else printable(text, 100)) for text in (change.a, change.b))
    digests = all(text is None or len(text) == 64 for text in (change.a, change.b))
    return f"{name} ({one[:12]} became {other[:12]})" if digests else f"{name}: {one} became {other}"


def _totals(out: Console, difference: ExactDifference) -> None:
    whole = difference.whole
    columns = [Column("Total"), Column("A", number=True), Column("B", number=True),
               Column("Change", number=True, style="bold"), Column("", number=True, wide=60)]  # fmt: skip
    rows = []
    for name, figure, text, signed in (
        (clock_text(difference.a), "ns", time_text, signed_time),
        ("instructions", "instructions", count_text, signed_count),
        ("idle", "idle_ns", time_text, signed_time),
    ):
        one, other = getattr(whole.a, figure), getattr(whole.b, figure)
        if one is not None and other is not None:
            rows.append([name, text(one), text(other), signed(other - one), signed_share(other - one, one)])
    print_table(out, columns, rows)


def print_level(out: Console, level: Level, limit: int) -> None:
    """Print the largest changes of a level, and below a rule what was left out, what did not change, and the sum."""
    title, first = _TITLES[level.name]
    print_line(out)
    print_line(out, Text(title, style="bold underline"))
    changed = level.changed
    if not changed:
        print_line(out, f"none of {len(level.rows):,} changed")
        return
    columns = [
        Column(first, style="cyan"),
        Column("", picture=True),
        Column("A", number=True, wide=90),
        Column("B", number=True, wide=90),
        Column("Change", number=True, style="bold"),
        Column("of A", number=True, wide=60),
        Column("Calls", number=True, wide=76),
        Column("more calls", number=True, wide=120),
        Column("cost each", number=True, wide=120),
        Column("", wide=100, style="blue", picture=True),
    ]
    largest = max(abs(row.change_ns) for row in changed)
    body = [_cells(out, row, level, largest) for row in changed[:limit]]
    footer = []
    small = changed[limit:]
    if small:
        footer.append(_cells(out, added(small, f"({len(small):,} smaller, added up)"), level, 0))
    unchanged = len(level.rows) - len(changed)
    if unchanged:
        footer.append([f"({unchanged:,} unchanged)", *[""] * 9])
    footer.append(_cells(out, level.whole, level, 0))
    print_table(out, columns, body, footer)


def _cells(out: Console, row: Row, level: Level, largest: int) -> list[str]:
    name = row.name if row.module is None else f"{row.name} [{row.module}]"
    parts = row.split
    one, other = (None if side is None else side.ns for side in (row.a, row.b))
    return [
        name,
        {"only_a": "gone", "only_b": "new", "both": ""}[row.presence],
        time_text(one),
        time_text(other),
        signed_time(row.change_ns),
        signed_share(row.change_ns, level.whole.a.ns if level.whole.a else None),
        "" if row.kind in ("whole", "sum") else signed_count(row.change_calls) if row.change_calls is not None else "",
        _half(None if parts is None else parts.calls_doubled_ns),
        _half(None if parts is None else parts.cost_doubled_ns),
        bar(abs(row.change_ns) / largest, _BAR, is_unicode(out)) if largest else "",
    ]


def _half(doubled: int | None) -> str:
    """Half of a whole number of nanoseconds."""
    if doubled is None:
        return ""
    if doubled % 2 and abs(doubled) < 2_000:
        return f"{doubled / 2:+.1f} ns"
    # A half is below what these units show.
    return signed_time(doubled // 2 if doubled > 0 else -(-doubled // 2))

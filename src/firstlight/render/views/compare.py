"""The difference of two boots in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from firstlight.analysis.window import window
from firstlight.comparison.common.input_changes import InputChange
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.json import added
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.rows import Row, RowDelta
from firstlight.escape import printable
from firstlight.quantities import (
    count_text,
    signed_count,
    signed_half,
    signed_share,
    signed_time,
    small_share_text,
    time_text,
)
from firstlight.render.terminal.columns import Column, print_table, table_width
from firstlight.render.terminal.console import bar, is_unicode, print_line, print_wrapped
from firstlight.render.views.compare_tree import print_moved, print_only, print_tree
from firstlight.render.views.show import clock_text

_BAR = 16

#: What each level is called above its table, and its first column.
TITLES = {
    "phases": ("Phases", "Phase"),
    "initcalls": ("Initcalls, the time that each owned", "Initcall"),
    "functions": ("Functions, by self", "Function"),
    "path": ("Critical path, elapsed time by owner", "Owner"),
    "devices": ("Devices, time on the critical path", "Device"),
    "units": ("Units, time on the critical path", "Unit"),
}


def print_difference(
    out: Console, difference: ExactDifference, limit: int, min_share: float = 0.05, names: tuple[str, str] | None = None
) -> None:
    """Print what changed from A to B: inputs, totals, each level with its largest changes first, and the tree.

    :param limit: how many rows of each level have a line of their own.
    :param min_share: the least share of all changes, from 0 to 1, that has a line in the tree.
    :param names: what the two boots are called; by default their bundles' paths.
    """
    _heading(out, difference, names or (str(difference.a.directory), str(difference.b.directory)))
    if difference.is_equal:
        print_line(out, Text("Equal: every table of one boot is that of the other.", style="bold"))
        return
    _totals(out, difference)
    for level in difference.levels:
        if level.name != "path" or tells_more(level):
            print_level(out, level, limit)
    print_hidden(out, difference, limit)
    if difference.tree is not None:
        print_tree(out, difference.tree, [each.node for each in difference.moved], min_share)
        print_only(out, difference.tree, difference.functions, limit)
        print_moved(out, difference.moved, difference.renamed, limit)
    _facts(out, difference, limit)


def print_summary(out: Console, differences: Sequence[ExactDifference]) -> None:
    """Print the totals of several boots against one baseline."""
    first = differences[0]
    columns = [Column("Boot", style="cyan"), Column(clock_text(first.a), number=True),
               Column("Change", number=True, style="bold"), Column("", number=True, wide=60),
               Column("Instructions", number=True, wide=90), Column("Idle", number=True, wide=100)]  # fmt: skip
    rows = []
    for path, side, row in (
        (first.a.directory, first.whole.a, None),
        *((each.b.directory, each.whole.b, each.whole) for each in differences),
    ):
        change = "baseline" if row is None else signed_time(row.change_ns)
        part = "" if row is None else signed_share(row.change_ns, row.a.ns if row.a else None)
        figures = [None, None] if side is None else [side.instructions, side.idle_ns]
        rows.append([str(path), _side_text(side), change, part, count_text(figures[0]), time_text(figures[1])])
    print_table(out, columns, rows)


def _heading(out: Console, difference: ExactDifference, names: tuple[str, str]) -> None:
    a = difference.a
    print_wrapped(out, Text(f"A {printable(names[0], 200)}, B {printable(names[1], 200)}", style="bold"), indent=2)
    whole = window(a)
    instants = f"{printable(whole.first, 100)} to {printable(whole.last, 100)}"
    print_line(out, Text(f"{a.manifest.mode} mode, {clock_text(a)}, {instants}", style="dim"))
    for change in difference.inputs:
        print_wrapped(out, input_text(change), head="  differs: ", indent=11)
    if not difference.inputs:
        print_line(out, "  no input differs" if a.manifest.mode != "imported" else "  the inputs were not recorded")
    for flag in difference.flags:
        print_wrapped(out, printable(flag.text, 500), head=Text(f"  {flag.kind}: ", style="yellow"), indent=4)
    print_line(out)


def input_text(change: InputChange) -> str:
    """An input that differs, in one line.

    >>> input_text(InputChange("memory", "512M", "1G")), input_text(InputChange("kernel", "a" * 64, "b" * 64))
    ('memory: 512M became 1G', 'kernel (aaaaaaaaaaaa became bbbbbbbbbbbb)')
    """
    name = printable(change.name.replace("_", " "), 60)
    if change.detail:
        return f"{name}: {printable(change.detail, 400)}"
    one, other = (("nothing" if text is None else printable(text, 100)) for text in (change.a, change.b))
    digests = all(text is None or len(text) == 64 for text in (change.a, change.b))
    return f"{name} ({one[:12]} became {other[:12]})" if digests else f"{name}: {one} became {other}"


def _totals(out: Console, difference: ExactDifference) -> None:
    columns = [Column("Total"), Column("A", number=True), Column("B", number=True),
               Column("Change", number=True, style="bold"), Column("", number=True, wide=60)]  # fmt: skip
    rows = total_rows(difference)
    if table_width(columns, rows, out.width) > out.width:
        # Figures are never cut: the share goes, which the others tell.
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    print_table(out, columns, rows)


def total_rows(difference: ExactDifference) -> list[list[str]]:
    """Time, instructions and idle, apart: name, A, B, change, change in percent of A."""
    whole, rows = difference.whole, []
    for name, figure, text, signed in (
        (clock_text(difference.a), "ns", time_text, signed_time),
        ("instructions", "instructions", count_text, signed_count),
        ("idle", "idle_ns", time_text, signed_time),
    ):
        one, other = getattr(whole.a, figure), getattr(whole.b, figure)
        if one is not None and other is not None:
            rows.append([name, text(one), text(other), signed(other - one), signed_share(other - one, one)])
    return rows


def print_level(out: Console, level: Level, limit: int) -> None:
    """Print the largest changes of a level, and below a rule what was left out, what did not change, and the sum."""
    first = TITLES[level.name][1]
    print_line(out)
    print_line(out, Text(level_title(level), style="bold underline"))
    changed = level.changed
    if not changed:
        print_line(out, f"none of {len(level.rows):,} changed")
        return
    counted = any(row.split is not None for row in changed)
    columns = [
        Column(first, style="cyan"),
        Column("", picture=True),
        Column("A", number=True, wide=90),
        Column("B", number=True, wide=90),
        Column("Change", number=True, style="bold"),
        Column("of A", number=True, wide=60),
        *([Column("Calls", number=True, wide=76), Column("more calls", number=True, wide=120),
           Column("cost each", number=True, wide=120)] if counted else []),
        Column("", wide=100, style="blue", picture=True),
    ]  # fmt: skip
    largest = max(abs(row.change_ns) for row in changed)
    rows = [*changed[:limit]]
    lines = [_cells(out, row, level, largest, counted) for row in rows]
    footer = []
    small = changed[limit:]
    if small:
        footer.append(_cells(out, added(small, left_out_text(small)), level, 0, counted))
    unchanged = len(level.rows) - len(changed)
    if unchanged:
        footer.append([f"({unchanged:,} unchanged)", *[""] * (len(columns) - 1)])
    footer.append(_cells(out, level.whole, level, 0, counted))
    print_table(out, columns, lines, footer)


def level_title(level: Level) -> str:
    """What a level is called: with profiles an initcall has what it and its callees did, else the time it owned."""
    if level.name == "initcalls" and level.whole.a is not None and level.whole.a.instructions is not None:
        return "Initcalls, each with its callees on its own task"
    return TITLES[level.name][0]


def tells_more(path: Level) -> bool:
    """Whether a critical path says more than the phases: it is those where nothing else owns a part of it."""
    return any(row.kind not in ("phase", "rest") for row in path.rows)


def row_name(row: Row) -> str:
    """What a row is called: its module in brackets, and its kind where the name does not tell it."""
    name = row.name if row.module is None else f"{row.name} [{row.module}]"
    shown = row.kind in ("task", "interrupt", "exception", "syscall", "probe", "unit", "async", "uevent_service")
    return f"{name} ({row.kind.removesuffix('_service')})" if shown else name


def left_out_text(rows: Sequence[Row]) -> str:
    """What rows without a line of their own are called.

    >>> left_out_text([Row("x", None, None), Row("y", None, None)])
    '(2 smaller, added up)'
    """
    doubtful = " or doubtful" if any(row.doubtful is not None for row in rows) else ""
    return f"({len(rows):,} smaller{doubtful}, added up)"


def presence_text(row: Row) -> str:
    """Whether a row is new, gone or doubtful; nothing for what is in both boots.

    >>> presence_text(Row("x", None, None, doubtful=0.25))
    'new, 25 % doubtful'
    """
    there = {"only_a": "gone", "only_b": "new", "both": ""}[row.presence]
    doubtful = "" if row.doubtful is None else f"{small_share_text(row.doubtful)} doubtful"
    return ", ".join(filter(None, (there, doubtful)))


def _cells(out: Console, row: Row, level: Level, largest: int, counted: bool) -> list[str]:
    parts = row.split
    one, other = (None if side is None else side.ns for side in (row.a, row.b))
    calls = "" if row.kind in ("whole", "sum", "rest") or row.change_calls is None else signed_count(row.change_calls)
    split = ["", ""] if parts is None else [signed_half(parts.calls_doubled_ns), signed_half(parts.cost_doubled_ns)]
    return [
        row_name(row),
        presence_text(row),
        time_text(one),
        time_text(other),
        signed_time(row.change_ns),
        signed_share(row.change_ns, level.whole.a.ns if level.whole.a else None),
        *([calls, *split] if counted else []),
        bar(abs(row.change_ns) / largest, _BAR, is_unicode(out)) if largest else "",
    ]


def print_hidden(out: Console, difference: ExactDifference, limit: int) -> None:
    """Print the changed work off the critical path, which contributes nothing to the change."""
    hidden = difference.path.hidden
    if not hidden:
        return
    print_line(out)
    print_line(out, Text("Hidden work, off the critical path: contributes 0", style="bold underline"))
    columns = [
        Column("Step", style="cyan"),
        Column("", picture=True),
        Column("A", number=True, wide=90),
        Column("B", number=True, wide=90),
        Column("Change", number=True, style="bold"),
        Column("slack in A", number=True, wide=60),
        Column("in B", number=True, wide=60),
    ]
    rows = [
        [row_name(each.row), presence_text(each.row), _side_text(each.row.a),
         _side_text(each.row.b), signed_time(each.row.change_ns), time_text(each.slack_a_ns),
         time_text(each.slack_b_ns)]
        for each in hidden[:limit]
    ]  # fmt: skip
    left = len(hidden) - limit
    print_table(out, columns, rows, [[f"({left:,} smaller)", *[""] * 6]] if left > 0 else [])


def _side_text(side: RowDelta | None) -> str:
    return time_text(None if side is None else side.ns)


def _facts(out: Console, difference: ExactDifference, limit: int) -> None:
    if not difference.facts:
        return
    print_line(out)
    print_line(out, Text("Facts that differ", style="bold underline"))
    columns = [Column("Fact", style="cyan"), Column("A", longest=60), Column("B", longest=60)]
    rows = [
        [change.fact, *("-" if value is None else value for value in (change.a, change.b))]
        for change in difference.facts[:limit]
    ]  # fmt: skip
    left = len(difference.facts) - limit
    print_table(out, columns, rows, [[f"({left:,} more)", "", ""]] if left > 0 else [])

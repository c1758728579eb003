"""The merged tree of two boots in the terminal: a flame graph of changes in text, what vanished, and what moved."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from firstlight.comparison.exact.functions import function_key, one_sided
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.moved import Moved, Renamed
from firstlight.comparison.exact.rows import Presence
from firstlight.comparison.exact.tree import TreeDifference, TreeRow
from firstlight.escape import printable
from firstlight.quantities import count_text, signed_time, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import is_unicode, print_line, print_wrapped

_BAR = 24
_DEEPEST = 24


def print_tree(out: Console, tree: TreeDifference, folded: Sequence[int], min_share: float) -> None:
    """Print the merged tree; the bar of a line is as wide as all changes in it, whichever way they went.

    Callers that changed by nothing but one callee are left out; its line names the first of them.

    :param folded: callers below which cost only moved; their callees stand in one line.
    :param min_share: the least share of all changes, from 0 to 1, that has a line.
    """
    rows = tree.walk(min_share, folded, through=True)
    if tree.nodes["gross_ns"][0] == 0:
        return
    print_line(out)
    print_line(out, Text("Where it changed: the tree, as wide as its changes", style="bold underline"))
    columns = [
        Column("Function", style="cyan", longest=90),
        Column("", picture=True),
        Column("Change", number=True, style="bold"),
        Column("by itself", number=True, wide=76),
        Column("", picture=True, wide=60, style="blue"),
    ]
    whole = rows[0].gross_ns
    width = _BAR if out.width >= 90 else 10
    lines = []
    for line in rows:
        in_both = line.row.presence == "both" or line.pruned
        name = line.row.name if line.row.module is None else f"{line.row.name} [{line.row.module}]"
        if line.through:
            more = f" …{len(line.through) - 1:,}…" if len(line.through) > 1 else ""
            name = f"{line.through[0]}{more} > {name}"
        indent = " " * min(line.depth, _DEEPEST) + ("" if line.depth <= _DEEPEST else f"({line.depth}) ")
        lines.append(
            [
                indent + name,
                "" if in_both else "gone" if line.row.b is None else "new",
                signed_time(line.change_ns),
                "" if line.pruned else signed_time(line.row.change_ns),
                two_way_bar(line.change_ns, line.gross_ns, whole, width, is_unicode(out)),
            ]
        )
    rest = tree.rest
    if rest.change_ns:
        lines.append([rest.name, "", signed_time(rest.change_ns), "", ""])
    print_table(out, columns, lines, [["all", "", signed_time(tree.whole.change_ns), "", ""]])
    full, light = ("█", "░") if is_unicode(out) else ("#", "-")
    text = f"{full} slower, {light} faster; {tree.nodes.height:,} of {tree.all_nodes:,} nodes differ in or below them."
    print_line(out, Text(text, style="dim"))


def two_way_bar(change: int, gross: int, whole: int, width: int, unicode: bool = True) -> str:
    """What got slower and what got faster side by side, together as wide as the size of all changes.

    >>> two_way_bar(2, 6, 6, 6), two_way_bar(-6, 6, 12, 6, unicode=False)
    ('████░░', '---')
    """
    if whole <= 0:
        return ""
    slower = (gross + change) // 2
    full, light = ("█", "░") if unicode else ("#", "-")
    ends = round(width * slower / whole), round(width * gross / whole)
    return full * ends[0] + light * (ends[1] - ends[0])


def print_only(out: Console, tree: TreeDifference, functions: Level | None, limit: int) -> None:
    """Print what vanished and what is new: functions that are in one boot only, then further calls of those in both.

    :param functions: by function, to tell the two apart.
    """
    one_boot = {side: one_sided(functions, presence) for side, presence in _SIDES}
    for side, title in (("a", "Vanished: functions only in A"), ("b", "New: functions only in B")):
        _print_calls(out, tree, side, title, tree.calls_of(one_boot[side], side), limit)
    for side, name in (("a", "A"), ("b", "B")):
        calls = [line for line in tree.only(side) if function_key(line.row) not in one_boot[side]]
        _print_calls(out, tree, side, f"Call paths only in {name}, of functions that are in both", calls, limit)


_SIDES: tuple[tuple[str, Presence], ...] = (("a", "only_a"), ("b", "only_b"))


def _print_calls(
    out: Console, tree: TreeDifference, side: str, title: str, calls: Sequence[TreeRow], limit: int
) -> None:
    """Calls that are in one boot only, by function."""
    by_function: dict[tuple[str, str | None], list[TreeRow]] = {}
    for line in calls:
        by_function.setdefault((line.row.name, line.row.module), []).append(line)
    if not by_function:
        return
    print_line(out)
    print_line(out, Text(title, style="bold underline"))
    columns = [
        Column("Function", style="cyan"),
        Column("with callees", number=True, style="bold"),
        Column("Contexts", number=True, wide=70),
        Column("most of it called by", wide=60, longest=100),
    ]
    rows = []
    for (function, module), lines in by_function.items():
        took = sum(line.total_a_ns if side == "a" else line.total_b_ns for line in lines)
        name = function if module is None else f"{function} [{module}]"
        rows.append((took, name, len(lines), " < ".join(reversed(tree.path_of(lines[0].node or 0)[-4:-1]))))
    rows.sort(key=lambda row: (-row[0], row[1]))
    cells = [[name, time_text(took), count_text(number), callers] for took, name, number, callers in rows[:limit]]
    left = rows[limit:]
    sums = [f"({len(left):,} smaller, added up)", time_text(sum(row[0] for row in left)),
            count_text(sum(row[2] for row in left)), ""]  # fmt: skip
    print_table(out, columns, cells, [sums] if left else [])


def print_moved(out: Console, moved: Sequence[Moved], renamed: Sequence[Renamed], limit: int) -> None:
    """Print what cost only moved, and which functions may only have a new name."""
    if moved:
        print_line(out)
        print_line(out, Text("Moved, not changed", style="bold underline"))
    for move in moved[:limit]:
        lost, gained = (_names(parts) for parts in (move.lost, move.gained))
        text = f"{time_text(move.moved_ns)} from {lost} to {gained}; net {signed_time(move.net_ns)}"
        print_wrapped(out, text, head=f"under {printable(move.caller, 60)}: ", indent=2)
    if len(moved) > limit:
        print_line(out, Text(f"({len(moved) - limit:,} smaller moves)", style="dim"))
    if renamed:
        print_line(out)
        print_line(out, Text("Renamed? Suggested only, never matched", style="bold underline"))
    for pair in renamed[:limit]:
        names = f"{printable(pair.old, 80)} → {printable(pair.new, 80)}"
        names = names if is_unicode(out) else names.replace("→", "->")
        text = f"{names}: {pair.why} ({time_text(pair.total_a_ns)}, {time_text(pair.total_b_ns)})"
        print_wrapped(out, text, indent=2)
    if len(renamed) > limit:
        print_line(out, Text(f"({len(renamed) - limit:,} more)", style="dim"))


def _names(parts: Sequence[tuple[str, int]]) -> str:
    named = ", ".join(printable(name, 60) for name, _ in parts[:2])
    return named if len(parts) <= 2 else f"{named} and {len(parts) - 2} more"

"""The merged tree of two boots: a flame graph of changes in text, what vanished, and what moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from firstlight.comparison.exact.functions import function_key, one_sided
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.moved import Moved, Renamed
from firstlight.comparison.exact.rows import Presence
from firstlight.comparison.exact.tree import TreeDifference, TreeRow
from firstlight.escape import printable
from firstlight.quantities import joined, signed_time, time_text
from firstlight.render.model.pictures import TwoWayBar
from firstlight.render.model.report import Block, Heading, Line
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.row_names import with_module

_DEEPEST = 24
_SIDES: tuple[tuple[str, Presence], ...] = (("a", "only_a"), ("b", "only_b"))


def tree_table(tree: TreeDifference, folded: Sequence[int], min_share: float) -> Iterator[Table]:
    """The merged tree; the bar of a line is as wide as all changes in it, whichever way they went.

    Callers that changed by nothing but one callee are left out; its line names the first of them.

    :param folded: callers below which cost only moved; their callees stand in one line.
    :param min_share: the least share of all changes, from 0 to 1, that has a line.
    """
    if tree.nodes["gross_ns"][0] == 0:
        return
    rows: list[Any] = tree.walk(min_share, folded, through=True)
    whole, rest = rows[0].gross_ns, tree.rest
    yield table(
        "Where it changed: the tree, with widths by change",
        [
            Column("Function", value=_line_name, style="cyan", longest=90),
            Column("", value=_line_presence, fixed=True),
            Column("Change", "change", "change_ns", style="bold"),
            Column("by itself", "change", lambda line: "" if line.pruned else line.row.change_ns, wide=76),
            Column("", "picture", lambda line: TwoWayBar(line.change_ns, line.gross_ns, whole), "blue", 60),
        ],
        rows,
        left_out={"Function": rest.name, "change_ns": rest.change_ns} if rest.change_ns else None,
        footer=[{"Function": "all", "change_ns": tree.whole.change_ns}],
        notes=[
            f"█ slower, ░ faster; {tree.nodes.height:,} of {tree.all_nodes:,} nodes changed in themselves or below."
        ],
    )


def _line_name(line: TreeRow) -> str:
    name = with_module(line.row.name, line.row.module)
    if line.through:
        more = f" …{len(line.through) - 1:,}…" if len(line.through) > 1 else ""
        name = f"{line.through[0]}{more} > {name}"
    return " " * min(line.depth, _DEEPEST) + ("" if line.depth <= _DEEPEST else f"({line.depth}) ") + name


def _line_presence(line: TreeRow) -> str:
    return "" if line.row.presence == "both" or line.pruned else "gone" if line.row.b is None else "new"


def one_sided_tables(tree: TreeDifference, functions: Level | None, limit: int) -> Iterator[Table]:
    """What vanished and what is new: functions that are in one boot only, then further calls of those in both.

    :param functions: by function, to distinguish the two.
    """
    one_boot = {side: one_sided(functions, presence) for side, presence in _SIDES}
    for side, title in (("a", "Vanished: functions only in A"), ("b", "New: functions only in B")):
        yield from _calls(tree, side, title, tree.calls_of(one_boot[side], side), limit)
    for side, name in (("a", "A"), ("b", "B")):
        calls = [line for line in tree.only(side) if function_key(line.row) not in one_boot[side]]
        yield from _calls(tree, side, f"Call paths only in {name}, of functions that are in both", calls, limit)


def _calls(tree: TreeDifference, side: str, title: str, calls: Sequence[TreeRow], limit: int) -> Iterator[Table]:
    """Calls that are in one boot only, by function."""
    by_function: dict[tuple[str, str | None], list[TreeRow]] = {}
    for line in calls:
        by_function.setdefault((line.row.name, line.row.module), []).append(line)
    if not by_function:
        return
    rows: list[dict[str, Any]] = [
        {
            "function": with_module(*key),
            "total_ns": sum(line.total_a_ns if side == "a" else line.total_b_ns for line in lines),
            "contexts": len(lines),
            "callers": " < ".join(reversed(tree.path_of(lines[0].node or 0)[-4:-1])),
        }
        for key, lines in by_function.items()
    ]
    rows.sort(key=lambda row: (-row["total_ns"], row["function"]))
    left = rows[limit:]
    yield table(
        title,
        [
            Column("Function", value="function", style="cyan"),
            Column("with callees", "time", "total_ns", style="bold"),
            Column("Contexts", "count", "contexts", wide=70),
            Column("mainly called by", value="callers", wide=60),
        ],
        rows[:limit],
        left_out={
            "function": f"({len(left):,} smaller, added up)",
            "total_ns": sum(row["total_ns"] for row in left),
            "contexts": sum(row["contexts"] for row in left),
        }
        if left
        else None,
    )


def moved_report(moved: Sequence[Moved], renamed: Sequence[Renamed], limit: int) -> Iterator[Block]:
    """What cost only moved, and which functions may only have a new name."""
    if moved:
        yield Heading("Moved, not changed")
    for move in moved[:limit]:
        lost, gained = (joined([printable(name, 60) for name, _ in parts], 2) for parts in (move.lost, move.gained))
        text = f"{time_text(move.moved_ns)} from {lost} to {gained}; net {signed_time(move.net_ns)}"
        yield Line(text, head=f"under {printable(move.caller, 60)}: ", indent=2)
    if len(moved) > limit:
        yield Line(f"({len(moved) - limit:,} smaller moves)", "dim", wrap=False)
    if renamed:
        yield Heading("Possibly renamed: suggestions, not matched")
    for pair in renamed[:limit]:
        names = f"{printable(pair.old, 80)} → {printable(pair.new, 80)}"
        yield Line(f"{names}: {pair.why} ({time_text(pair.total_a_ns)}, {time_text(pair.total_b_ns)})", indent=2)
    if len(renamed) > limit:
        yield Line(f"({len(renamed) - limit:,} more)", "dim", wrap=False)

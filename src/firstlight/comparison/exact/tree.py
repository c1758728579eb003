"""The calling-context trees of two boots as one, in which every change has its place and its width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from firstlight import _core
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.functions import REST, function_key
from firstlight.comparison.exact.rows import Key, Row, RowDelta

_SUMS = ("change_ns", "gross_ns", "total_ns_a", "total_ns_b")


@dataclass(frozen=True)
class TreeRow:
    """One line of the merged tree, in the order of a walk through it."""

    depth: int
    row: Row
    """The figures of the node by itself."""
    change_ns: int
    """Of the node and all below it."""
    gross_ns: int
    """The sizes of all changes in it and below it: its width. Those of the lines below a node and the size of its own
    change add up to its own."""
    total_a_ns: int
    total_b_ns: int
    node: int | None = None
    """Number of the node; none of a line that stands for several."""
    pruned: bool = False
    """The line stands for callees that are too small to show."""
    through: tuple[str, ...] = ()
    """Callers between the line above and this one that changed by nothing but what this one did."""


class TreeDifference:
    """Two trees as one.

    `nodes` has a row for every node in which or below which anything differs, parents first. Columns: `node`, `parent`
    (null for the root), `function`, `module`, `kind`, `in_a`, `in_b`, and in A and in B `calls`, `self_instructions`,
    `self_ns`, `total_instructions`, `total_ns` (each with `_a` and `_b`), `self_change_ns`, `change_ns` (with all
    below), `gross_ns` (the sizes of all changes in it and below it), `number` (among the nodes of both trees).

    `places` are, for each node of A and of B as the bundles number them, these numbers.
    """

    def __init__(self, nodes: pl.DataFrame, all_nodes: int, whole: Row, places: tuple[pl.Series, pl.Series]) -> None:
        self.nodes = nodes
        self.places = places
        self.all_nodes = all_nodes
        self.whole = whole
        self._check()

    @cached_property
    def rest(self) -> Row:
        """What the trees do not hold of the whole; 0 where a profile is complete."""
        root = self.nodes.row(0, named=True)
        sides = [side or RowDelta(0) for side in (self.whole.a, self.whole.b)]
        left = [side.ns - root[f"total_ns_{name}"] for side, name in zip(sides, "ab", strict=True)]
        return Row(REST, RowDelta(left[0]), RowDelta(left[1]), kind="rest")

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        return self.nodes.to_dict(as_series=False)

    def _check(self) -> None:
        """Every node changed by what it changed itself and what its callees did; the root by the whole."""
        nodes = self.nodes
        below = nodes.group_by("parent").agg(pl.col("change_ns", "gross_ns").sum().name.suffix("_below"))
        sums = nodes.join(below.drop_nulls("parent"), left_on="node", right_on="parent", how="left").fill_null(0)
        wrong = sums.filter(
            (pl.col("change_ns") != pl.col("self_change_ns") + pl.col("change_ns_below"))
            | (pl.col("gross_ns") != pl.col("self_change_ns").abs() + pl.col("gross_ns_below"))
        )
        if not wrong.is_empty():
            raise AssertionError(f"the tree: node {wrong['node'][0]} is not the sum of what is below it")
        root = int(nodes["change_ns"][0])
        if root + self.rest.change_ns != self.whole.change_ns or root != int(nodes["self_change_ns"].sum()):
            raise AssertionError(f"the tree: its changes add up to {root}, not to {self.whole.change_ns}")

    def walk(self, min_share: float = 0.02, folded: Sequence[int] = (), *, through: bool = False) -> list[TreeRow]:
        """Walk the tree from its root, the widest callee first.

        Callees below *min_share* stand together in one line, so that all lines add up to the whole change.

        :param min_share: the least share, from 0 to 1, of the width of all.
        :param folded: nodes whose callees stand in one line, whatever their width.
        :param through: leave out callers that changed by nothing but one callee; its line names them.
        """
        callees: dict[int, list[int]] = {}
        for node, parent in self.nodes.select("node", "parent").iter_rows():
            if parent is not None:
                callees.setdefault(parent, []).append(node)
        columns = self._columns
        gross, fold = columns["gross_ns"], set(folded)
        least = max(1, min_share * gross[0])
        rows: list[TreeRow] = []
        # A walk with a stack of its own: the kernel may call deeper than Python does.
        waiting: list[tuple[int, int, tuple[str, ...]] | TreeRow] = [(0, 0, ())]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, TreeRow):
                rows.append(entry)
                continue
            node, depth, above = entry
            below = sorted(
                callees.get(node, ()), key=lambda number: (-gross[number], columns["function"][number], number)
            )
            shown = [] if node in fold else [number for number in below if gross[number] >= least]
            small = below[len(shown) :]
            if through and node and len(below) == len(shown) == 1 and _passes(columns, node):
                waiting.append((shown[0], depth, (*above, columns["function"][node])))
                continue
            rows.append(replace(_tree_row(columns, node, depth), through=above))
            if small:
                waiting.append(_gathered(columns, small, depth + 1, node in fold))
            waiting.extend((number, depth + 1, ()) for number in reversed(shown))
        return rows

    def only(self, side: str) -> list[TreeRow]:
        """The outermost nodes that are in one boot only, the largest total first: what vanished, or what is new.

        :param side: `a` for what vanished, `b` for what is new.
        """
        other = "in_b" if side == "a" else "in_a"
        there = self.nodes.select("node", pl.col(other).alias("there_above"))
        outermost = (
            self.nodes.filter(~pl.col(other))
            .join(there, left_on="parent", right_on="node", how="left")
            .filter(pl.col("there_above").fill_null(True))
            .sort(f"total_ns_{side}", "function", "node", descending=[True, False, False])
        )
        return [_tree_row(self._columns, node, 0) for node in outermost["node"].to_list()]

    def calls_of(self, functions: set[Key], side: str) -> list[TreeRow]:
        """The outermost calls of some functions among the nodes that are in one boot only, the largest total first.

        :param side: `a` or `b`.
        """
        other = "in_b" if side == "a" else "in_a"
        named = [
            not there and function_key(Row(function, None, None, module, kind)) in functions
            for there, function, module, kind in self.nodes.select(other, "function", "module", "kind").iter_rows()
        ]
        within: list[bool] = []
        found = []
        # Parents come first.
        for node, parent in enumerate(self._columns["parent"]):
            around = parent is not None and within[parent]
            within.append(around or named[node])
            if named[node] and not around:
                found.append(_tree_row(self._columns, node, 0))
        return sorted(found, key=lambda line: (-(line.total_a_ns if side == "a" else line.total_b_ns), line.node or 0))

    def path_of(self, node: int) -> list[str]:
        """The functions from the root to a node, the root left out."""
        names, parents = self.nodes["function"], self.nodes["parent"]
        path = []
        at: int | None = node
        while at:
            path.append(names[at])
            at = parents[at]
        return path[::-1]


def tree_difference(a: Boot, b: Boot, whole: Row) -> TreeDifference | None:
    """Merge the trees of two boots by stable names; none where a boot has no profile.

    :raises BundleError: when the tables cannot be read, or their figures cannot be added up.

    >>> import firstlight
    >>> from firstlight.comparison.exact.totals import whole
    >>> boot = firstlight.open(bundle)
    >>> tree = tree_difference(boot, boot, whole(boot, boot))
    >>> tree.nodes["change_ns"].to_list(), tree.all_nodes == boot.calls().height
    ([0], True)
    """
    if a.calls().is_empty() or b.calls().is_empty():
        return None
    merged = _core.tree_difference(str(a.directory), str(b.directory))
    one, other = (pl.DataFrame(side)["number"] for side in merged.places)
    return TreeDifference(_frame(merged), merged.all_nodes, whole, (one, other))


def _frame(merged: _core.TreeDifference) -> pl.DataFrame:
    node = pl.int_range(pl.len(), dtype=pl.Int64)
    frame = pl.DataFrame(merged.nodes).with_columns(
        node.alias("node"),
        pl.when(node > 0).then(pl.col("parent")).alias("parent"),
        pl.col("in_a", "in_b").cast(pl.Boolean),
        self_change_ns=pl.col("self_ns_b") - pl.col("self_ns_a"),
        change_ns=pl.col("total_ns_b") - pl.col("total_ns_a"),
    )
    if not merged.instructions:
        unknown = pl.lit(None, pl.Int64)
        frame = frame.with_columns(unknown.alias(name) for name in frame.columns if "_instructions_" in name)
    return frame


def _passes(columns: dict[str, list[Any]], node: int) -> bool:
    """Whether a node is in both boots and changed in no figure of its own."""
    figures = ("calls", "self_instructions", "self_ns")
    return (
        columns["in_a"][node]
        and columns["in_b"][node]
        and all(columns[f"{figure}_a"][node] == columns[f"{figure}_b"][node] for figure in figures)
    )


def _tree_row(columns: dict[str, list[Any]], node: int, depth: int) -> TreeRow:
    def side(name: str) -> RowDelta | None:
        if not columns[f"in_{name}"][node]:
            return None
        figures = (columns[f"{figure}_{name}"][node] for figure in ("self_ns", "self_instructions", "calls"))
        ns, instructions, calls = figures
        return RowDelta(ns, instructions, None, calls)

    row = Row(columns["function"][node], side("a"), side("b"), columns["module"][node], columns["kind"][node])
    change, gross, a, b = (columns[name][node] for name in _SUMS)
    return TreeRow(depth, row, change, gross, a, b, node=node)


def _gathered(columns: dict[str, list[Any]], nodes: list[int], depth: int, folded: bool) -> TreeRow:
    change, gross, a, b = (sum(columns[name][node] for node in nodes) for name in _SUMS)
    text = f"({len(nodes):,} folded)" if folded else f"({len(nodes):,} smaller)"
    return TreeRow(depth, Row(text, None, None, kind="sum"), change, gross, a, b, pruned=True)

"""The calling-context tree, pruned to what weighs something."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.analysis.function_options import Unit
from firstlight.analysis.partial_sums import together
from firstlight.bundle.boot import Boot


@dataclass(frozen=True)
class ContextRow:
    """One line of the tree, in the order of a walk through it."""

    depth: int
    function: str
    kind: str
    calls: int | None
    total: int | None
    """Of the node and all below it, in the unit that was asked for; none where the record has no such figures."""
    own: int | None
    """Of the node by itself."""
    pruned: bool = False
    """The line stands for the callees of its parent that are too small to show."""


def context_tree(
    boot: Boot,
    phase: str | None = None,
    under: str | None = None,
    unit: Unit = "time",
    min_share: float = 0.01,
    raw_names: bool = False,
    between: tuple[int, int] | None = None,
) -> list[ContextRow]:
    """Walk the calling-context tree from its root, the largest callee first.

    Callees below *min_share* stand together in one line, so that the totals of the lines below a node, with its own,
    add up to its total. Where a record only counts calls, callees weigh what is called in and below them.

    :param phase: only what ran in this phase.
    :param under: begin at each outermost call of this function instead of the root.
    :param unit: nanoseconds of the boot's clock, or instructions.
    :param min_share: the least share, from 0 to 1, of all that is walked.
    :param raw_names: split-off parts of functions (`f.cold`) stand apart.
    :param between: only what ran between two instants, in nanoseconds: in the slices between the edges nearest to them.
    :raises firstlight.errors.BundleError: when the boot has no profile, or does not know the phase or the function.

    >>> import firstlight
    >>> rows = context_tree(firstlight.open(bundle), min_share=0.4)
    >>> [(row.depth, row.function) for row in rows][:3]
    [(0, '[boot]'), (1, 'kernel_init'), (2, 'kernel_init_freeable')]
    """
    boot.check_profile()
    if phase is not None:
        phase = boot.check_phase(phase)
    if under is not None:
        boot.check_function(under, raw_names)
    tree = _Tree(_own(boot, phase, unit, raw_names, between))
    roots = [0] if under is None else tree.outermost(under)
    least = min_share * sum(tree.totals[node] for node in roots)
    rows: list[ContextRow] = []
    # A walk with a stack of its own: the kernel may call deeper than Python does.
    waiting: list[tuple[int, int] | ContextRow] = [(node, 0) for node in reversed(tree.by_weight(roots))]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, ContextRow):
            rows.append(entry)
            continue
        node, depth = entry
        rows.append(tree.row(node, depth))
        callees = tree.by_weight([callee for callee in tree.callees[node] if tree.totals[callee]])
        shown = [callee for callee in callees if tree.totals[callee] >= least]
        small = callees[len(shown) :]
        if small:
            total = sum(tree.totals[callee] for callee in small) if tree.measured else None
            text = f"({len(small)} smaller)"
            waiting.append(ContextRow(depth + 1, text, "", None, total, None, pruned=True))
        waiting.extend((callee, depth + 1) for callee in reversed(shown))
    return rows


def _own(boot: Boot, phase: str | None, unit: Unit, raw_names: bool, between: tuple[int, int] | None) -> pl.DataFrame:
    """The nodes with their calls and what they did by themselves, in a part or in the whole boot."""
    own = "self_ns" if unit == "time" else "self_instructions"
    calls = boot.calls(raw_names)
    if between is not None:
        figures = boot.interval_calls(*between, raw_names=raw_names).select("node", "calls", own=pl.col(own))
    elif phase is None:
        figures = calls.select("node", "calls", own=pl.col(own))
    else:
        there = boot.phase_calls(raw_names).filter(pl.col("phase") == phase)
        figures = there.group_by("node").agg(pl.col("calls").sum(), pl.col(own).sum().alias("own"))
    return (
        calls.select("node", "parent", "function", "kind")
        .join(figures, on="node", how="left")
        .with_columns(pl.col("calls").fill_null(0))
        .sort("node")
    )


class _Tree:
    """Totals and callees of the nodes, by number."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.functions: list[str] = frame["function"].to_list()
        self.kinds: list[str] = frame["kind"].to_list()
        self.calls: list[int] = frame["calls"].to_list()
        self.measured = together(frame["own"]) is not None
        self.own: list[int] = frame["own"].fill_null(0).to_list() if self.measured else self.calls
        self.parents: list[int | None] = frame["parent"].to_list()
        self.totals = list(self.own)
        self.callees: list[list[int]] = [[] for _ in self.own]
        # Parents come before their children, so that from the end every total is whole before it is passed on.
        for node in range(len(self.own) - 1, 0, -1):
            parent = self.parents[node]
            if parent is not None:
                self.totals[parent] += self.totals[node]
                self.callees[parent].append(node)

    def by_weight(self, nodes: list[int]) -> list[int]:
        return sorted(nodes, key=lambda node: (-self.totals[node], self.functions[node], node))

    def outermost(self, function: str) -> list[int]:
        """The nodes of a function that has not called itself on the way there."""
        inside = [False] * len(self.own)
        found = []
        for node, name in enumerate(self.functions):
            parent = self.parents[node]
            above = parent is not None and inside[parent]
            if name == function and not above:
                found.append(node)
            inside[node] = above or name == function
        return found

    def row(self, node: int, depth: int) -> ContextRow:
        own, total = (self.own[node], self.totals[node]) if self.measured else (None, None)
        return ContextRow(depth, self.functions[node], self.kinds[node], self.calls[node], total, own)

"""The calling-context tree as a page can carry it: small call paths put together, every sum kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

#: Children of a frame that hold less than this share of the boot are put together in one `(N smaller)` frame.
FOLD_SHARE = 0.00005

#: The same of kernel functions below the system calls of a process: the tree of call paths has the finer ones.
CALL_FUNCTION_SHARE = 0.0003

#: No frame holds less than this share.
NO_SHARE = -1.0

#: Call paths deeper than this are put together too, whatever they hold.
FOLD_DEPTH = 400


@dataclass
class PageTree:
    """The kept nodes as columns, in the order of the bundle, and where each node of the bundle went."""

    parent: list[int] = field(default_factory=list)
    function: list[str] = field(default_factory=list)
    module: list[str | None] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    self_instructions: list[int] = field(default_factory=list)
    self_ns: list[int | None] = field(default_factory=list)
    folded: list[int] = field(default_factory=list)
    #: For every node of the bundle, the node of the page that holds it.
    place: list[int] = field(default_factory=list)
    #: For every node of the bundle, whether its calls count as calls of that node of the page.
    counted: list[bool] = field(default_factory=list)
    #: How many call paths the bundle has.
    nodes: int = 0


def fold(
    calls: pl.DataFrame, share: float = FOLD_SHARE, depth: int = FOLD_DEPTH, function_share: float | None = None
) -> PageTree:
    """Put the small children of every node together, so that every level still adds up.

    A child is small when it holds less than *share* of the boot's instructions and less than *share* of its time.
    The small children of one node, with all below them, become one node `folded` = their number, whose self is the
    sum of all of theirs and whose calls are those of the children. One small child alone, without callees, stays.

    :param calls: the table `calls` of a bundle.
    :param share: of the boot, between 0 and 1, or :data:`NO_SHARE`.
    :param depth: nodes deeper than this are put together, too.
    :param function_share: the share for functions; :data:`share` when not given.

    >>> tree = fold(firstlight.open(bundle).calls(), share=0.01)
    >>> sum(tree.self_instructions) == firstlight.open(bundle).manifest.totals.instructions
    True
    """
    number = {node: row for row, node in enumerate(calls["node"].to_list())}
    parent = [-1 if node is None else number.get(node, -1) for node in calls["parent"].to_list()]
    size = len(parent)
    instructions, ns = calls["total_instructions"].to_list(), calls["total_ns"].to_list()
    small = _smallness(instructions, ns, share)
    if function_share is not None:
        few, function = _smallness(instructions, ns, function_share), (calls["kind"] == "function").to_list()
        small = _either(small, few, function)
    level = [0] * size
    callees = [0] * size
    for row in range(1, size):
        above = parent[row] = parent[row] if 0 <= parent[row] < row else 0
        level[row] = level[above] + 1
        callees[above] += 1
    below = [row > 0 and (small(row) or level[row] > depth) for row in range(size)]
    fellows = [0] * size
    for row in range(1, size):
        fellows[parent[row]] += below[row]
    for row in range(1, size):
        if below[row] and fellows[parent[row]] == 1 and callees[row] == 0 and level[row] <= depth:
            below[row] = False
    return _kept(calls, parent, below)


def _smallness(instructions: Sequence[int | None], ns: Sequence[int | None], share: float) -> Callable[[int], bool]:
    """A test whether a row is small, by instructions and by time."""
    few = share * ((instructions[0] if instructions else 0) or 0)
    short = share * ((ns[0] if ns else 0) or 0)
    return lambda row: (instructions[row] or 0) <= few and (ns[row] or 0) <= short


def _either(small: Callable[[int], bool], few: Callable[[int], bool], function: list[bool]) -> Callable[[int], bool]:
    return lambda row: few(row) if function[row] else small(row)


def _kept(calls: pl.DataFrame, parent: list[int], below: list[bool]) -> PageTree:
    """Walk the tree once, parents first: each node is kept, or goes into the folded node of its nearest kept one."""
    page = PageTree(nodes=len(parent))
    function, module, kind = (calls[name].to_list() for name in ("function", "module", "kind"))
    count, executed, ns = (calls[name].to_list() for name in ("calls", "self_instructions", "self_ns"))
    folds: dict[int, int] = {}
    inside = [False] * len(parent)
    for row, above in enumerate(parent):
        heads = False
        if row > 0 and inside[above]:
            inside[row] = True
            place = page.place[above]
        elif below[row]:
            inside[row] = heads = True
            kept = page.place[above]
            if kept not in folds:
                folds[kept] = _add(page, kept, "", None, "folded")
            place = folds[kept]
        else:
            place = _add(page, page.place[above] if row > 0 else -1, function[row], module[row], kind[row])
        page.place.append(place)
        page.counted.append(heads or not inside[row])
        page.folded[place] += heads
        page.calls[place] += count[row] if page.counted[row] else 0
        page.self_instructions[place] += executed[row] or 0
        if ns[row] is not None:
            page.self_ns[place] = (page.self_ns[place] or 0) + ns[row]
    return page


def _add(page: PageTree, parent: int, function: str, module: str | None, kind: str) -> int:
    """Append an empty node; returns its number."""
    page.parent.append(parent)
    page.function.append(function)
    page.module.append(module)
    page.kind.append(kind)
    for column in (page.calls, page.self_instructions, page.folded):
        column.append(0)
    page.self_ns.append(None)
    return len(page.parent) - 1


def fold_parts(rows: pl.DataFrame, calls: pl.DataFrame, tree: PageTree, part: str) -> pl.DataFrame:
    """What the nodes of the page did in each part of the boot: the columns of *rows*, in any order.

    :param rows: the table `phase_calls` or `slice_calls`.
    :param calls: the table `calls` of the same bundle.
    :param part: the column that names the part.
    """
    places = pl.DataFrame({"node": calls["node"], "place": tree.place, "counted": tree.counted})
    own = pl.when("counted").then("calls").otherwise(0).alias("calls")
    placed = rows.join(places, on="node", how="inner").with_columns(own, node="place").drop("place", "counted")
    return placed.group_by(part, "node").agg(pl.all().sum())


def fold_phases(phase_calls: pl.DataFrame, calls: pl.DataFrame, tree: PageTree) -> dict[str, dict[str, list[int]]]:
    """The table `phase_calls` on the nodes of the page, by phase: `node`, `calls`, `self_instructions`, `self_ns`."""
    if phase_calls.is_empty() or calls.is_empty():
        return {}
    sums = fold_parts(phase_calls, calls, tree, "phase").sort("phase", "node")
    return {
        str(key[0]): frame.drop("phase").to_dict(as_series=False)
        for key, frame in sums.partition_by("phase", as_dict=True, maintain_order=True).items()
    }

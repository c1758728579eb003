"""The kernel functions below the system calls of the tree of processes."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.processes.call_functions import CALLER, call_functions
from firstlight.analysis.processes.process_stacks import Frame, call_places
from firstlight.bundle.boot import Boot
from firstlight.bundle.slices import Interval
from firstlight.render.page.process_nodes import PARTS, ProcessTree
from firstlight.render.page.tree import NO_SHARE
from firstlight.schema.spans import CallKind

#: What calls executed in slices in which several callers made such calls: it is not known in which functions.
SEVERAL = Frame("[several callers]", CallKind.GROUP)
_KEYS = ["name", *CALLER]
FIGURES = ("calls", "self_instructions")


def add_functions(tree: ProcessTree, boot: Boot, interval: Interval | None = None, share: float = NO_SHARE) -> None:
    """Give system calls the functions that executed them, as far as it is known whose they are.

    What is moved from a call to its functions stays below the call, so every sum above stays as it was.

    :param tree: has the stacks of the boot; its `parts` become those of the functions.
    :param interval: only what was executed in these slices of time.
    :param share: a function with less of the boot, over all callers, is small below each call. All that it called is
        one node, so that a tree of some ten thousand nodes stands for hundreds of thousands.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> tree = ProcessTree()
    >>> add_functions(tree, firstlight.open(bundle))
    >>> len(tree.parent)
    0
    """
    found = call_functions(boot)
    functions, several = (_inside(rows, interval) for rows in (found.functions, found.several))
    if functions.is_empty():
        return
    callers = pl.concat([rows.select(_KEYS) for rows in (functions, several)])
    kinds = call_places(boot, callers, tree.place).rename({"node": "at"})
    functions = functions.join(kinds, on=_KEYS, how="inner", nulls_equal=True).select("slice", "at", "node", *FIGURES)
    calls = boot.calls().filter(pl.col("node").is_in(list(found.inside)))
    paths = functions.select("at", "node").unique().height
    if share > 0:
        functions, calls = _merged(functions, calls, boot, share)
    places = _nodes(tree, calls, functions)
    tree.merged += paths - places.height
    below = functions.join(places, on=["at", "node"], how="inner")
    apart = several.join(kinds, on=_KEYS, how="inner", nulls_equal=True).join(
        functions.select("at").unique(), on="at", how="semi"
    )
    apart = apart.group_by("slice", "at").agg(pl.col("own").sum().alias("self_instructions"), calls=pl.lit(0, pl.Int64))
    together = {at: tree.child(at, SEVERAL) for at in sorted(apart["at"].unique())}
    apart = apart.with_columns(place=pl.col("at").replace_strict(together, return_dtype=pl.Int64))
    rows = pl.concat([each.select("slice", "at", "place", *FIGURES) for each in (below, apart)])
    less = rows.group_by("slice", "at").agg(calls=pl.lit(0, pl.Int64), self_instructions=-pl.col(FIGURES[1]).sum())
    tree.parts = pl.concat(
        [each.select(*PARTS) for each in (rows.rename({"place": "node"}), less.rename({"at": "node"}))]
    )
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    for node, count, executed in tree.parts.group_by("node").agg(pl.col(FIGURES).sum()).iter_rows():
        tree.count[node] += count
        tree.instructions[node] += executed
        tree.ns[node] += executed * step


def _inside(rows: pl.DataFrame, interval: Interval | None) -> pl.DataFrame:
    return rows if interval is None else rows.filter(pl.col("slice").is_between(interval.first, interval.last))


def _merged(
    functions: pl.DataFrame, calls: pl.DataFrame, boot: Boot, share: float
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What functions executed, and the nodes, with all that a small function called as one node below it."""
    root = boot.calls().row(0, named=True)
    few, short = (share * (root[total] or 0) for total in ("total_instructions", "total_ns"))
    small = (pl.col("total_instructions").fill_null(0) <= few) & (pl.col("total_ns").fill_null(0) <= short)
    first = 1 + max(calls["node"].to_list(), default=0)
    within: dict[int, int] = {}
    instead: dict[int, int] = {}
    for node, parent, is_small in calls.select("node", "parent", small.alias("small")).iter_rows():
        if not is_small:
            continue
        outermost = within[node] = within.get(parent, node)
        if outermost != node:
            instead[node] = first + outermost
    rest = sorted(set(instead.values()))
    nodes = pl.DataFrame({"node": rest}, {"node": pl.Int64}).with_columns(
        parent=pl.col("node") - first, function=pl.lit(""), module=pl.lit(None, pl.String), kind=pl.lit("function")
    )
    changed = pl.DataFrame(
        {"node": list(instead), "instead": list(instead.values())}, dict.fromkeys(("node", "instead"), pl.Int64)
    )
    rows = functions.join(changed, on="node", how="left").with_columns(node=pl.coalesce("instead", "node"))
    kept = calls.select(nodes.columns)
    return rows.group_by("slice", "at", "node").agg(pl.col(FIGURES).sum()), pl.concat([kept, nodes])


def _nodes(tree: ProcessTree, calls: pl.DataFrame, functions: pl.DataFrame) -> pl.DataFrame:
    """The `place` in the tree of each `node` of the kernel's tree below a call, whose place is `at`."""
    inside = set(calls["node"].to_list())
    columns = [calls[column].to_list() for column in ("parent", "function", "module", "kind")]
    parents, *named = (dict(zip(calls["node"].to_list(), column, strict=True)) for column in columns)
    width = 1 + max(inside, default=0)
    first = len(tree.parent)
    made: dict[int, int] = {}
    above: list[int] = []
    nodes: list[int] = []
    pairs = functions.select("at", "node").unique().sort("at", "node")
    for at, node in pairs.iter_rows():
        chain = []
        while node in inside and at * width + node not in made:
            chain.append(node)
            node = parents[node]
        place = made.get(at * width + node, at)
        for each in reversed(chain):
            above.append(place)
            nodes.append(each)
            place = made[at * width + each] = first + len(above) - 1
    names, modules, kinds = named
    frames = {
        node: Frame(f"{names[node]} [{modules[node]}]" if modules[node] else names[node], CallKind(kinds[node]))
        for node in set(nodes)
    }
    tree.extend(above, [frames[node] for node in nodes])
    places = pairs.select(place=pl.col("at") * width + pl.col("node")).to_series()
    return pairs.with_columns(place=pl.Series([made[key] for key in places], dtype=pl.Int64))

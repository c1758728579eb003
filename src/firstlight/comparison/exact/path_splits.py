"""Calls and cost of functions, split call path by call path and added up."""

from __future__ import annotations

from dataclasses import astuple, replace

import polars as pl

from firstlight.comparison.exact.functions import function_key, key_of_function
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.rows import Key, Split, split
from firstlight.comparison.exact.tree import TreeDifference
from firstlight.schema.spans import CallKind

#: Kinds of nodes whose entries are not calls.
_NOT_CALLED = (CallKind.USER, CallKind.IDLE, CallKind.GROUP, CallKind.ROOT)


def split_by_path(level: Level, tree: TreeDifference) -> Level:
    """The functions of two boots, each with the split of its change over its call paths.

    The mean cost per call of a function changes with the mix of its callers. Path by path it does not: a path that is
    gone or new is neither more calls nor cost.

    >>> import firstlight
    >>> from firstlight.comparison.exact.difference import exact_difference
    >>> boot = firstlight.open(bundle)
    >>> difference = exact_difference(boot, boot)
    >>> {row.by_path for row in split_by_path(difference.functions, difference.tree).rows}
    {None}
    """
    splits = path_splits(tree)
    return replace(level, rows=tuple(replace(row, by_path=splits.get(function_key(row))) for row in level.rows))


def path_splits(tree: TreeDifference) -> dict[Key, Split]:
    """The split of each function that changed; the parts of one add up to twice its change."""
    columns = ("function", "module", "kind", "in_a", "in_b", "calls_a", "calls_b", "self_ns_a", "self_ns_b")
    changed = tree.nodes.filter(pl.col("self_change_ns") != 0).select(columns)
    sums: dict[Key, list[int]] = {}
    for function, module, kind, in_a, in_b, calls_a, calls_b, ns_a, ns_b in changed.iter_rows():
        if kind in _NOT_CALLED:
            continue
        parts = sums.setdefault(key_of_function(function, module, kind), [0, 0, 0, 0])
        if not in_b:
            parts[0] -= 2 * ns_a
        elif not in_a:
            parts[1] += 2 * ns_b
        elif calls_a and calls_b:
            for number, part in enumerate(astuple(split(calls_a, ns_a, calls_b, ns_b))):
                parts[number] += part
        else:
            parts[3] += 2 * (ns_b - ns_a)
    return {key: Split(*parts) for key, parts in sums.items()}

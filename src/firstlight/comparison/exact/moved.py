"""Cost that moved: opposite changes under one caller, and functions that may only have a new name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

import polars as pl

from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.tree import TreeDifference

#: Cost counts as moved where at most this share of what moved is left as a change.
_LEFT = 0.25
#: A move below this share of all changes is not reported.
_LEAST = 0.005
#: Names that are as alike as this may be one function's.
_ALIKE = 0.75
_MOST_PAIRED = 40
_ITSELF = "itself"


@dataclass(frozen=True)
class Moved:
    """Cost that went from some callees of one caller to others."""

    caller: str
    node: int
    """The caller's number in the tree."""
    lost: tuple[tuple[str, int], ...]
    """Who took less, by how many nanoseconds (negative), the largest first; `itself` is the caller's own work."""
    gained: tuple[tuple[str, int], ...]
    moved_ns: int
    """What moved."""
    net_ns: int
    """What is left as a change."""


@dataclass(frozen=True)
class Renamed:
    """A suggestion: a function that is gone and one that is new look like one. They are never matched."""

    old: str
    new: str
    contexts: int
    """Callers under which one stands for the other."""
    total_a_ns: int
    total_b_ns: int
    why: str


def moved(tree: TreeDifference) -> list[Moved]:
    """Callers whose callees changed in opposite directions and nearly cancel out, the largest move first.

    What a caller did itself takes part: a callee that was inlined went to `itself`.

    >>> import firstlight
    >>> from firstlight.comparison.exact.totals import whole
    >>> from firstlight.comparison.exact.tree import tree_difference
    >>> boot = firstlight.open(bundle)
    >>> moved(tree_difference(boot, boot, whole(boot, boot)))
    []
    """
    nodes = tree.nodes
    parts = pl.concat(
        [
            nodes.select(pl.col("node").alias("at"), pl.lit(_ITSELF).alias("name"), ns=pl.col("self_change_ns")),
            nodes.filter(pl.col("parent").is_not_null()).select(
                pl.col("parent").alias("at"), pl.col("function").alias("name"), ns=pl.col("change_ns")
            ),
        ]
    ).filter(pl.col("ns") != 0)
    gained = pl.col("ns").filter(pl.col("ns") > 0).sum()
    lost = -pl.col("ns").filter(pl.col("ns") < 0).sum()
    least = max(1.0, _LEAST * float(nodes["gross_ns"][0]))
    found = (
        parts.group_by("at")
        .agg(pl.min_horizontal(gained, lost).alias("moved"), pl.col("ns").sum().alias("net"))
        .filter((pl.col("moved") >= least) & (pl.col("net").abs() <= _LEFT * pl.col("moved")))
        .sort("moved", "at", descending=[True, False])
    )
    by_caller = parts.join(found.select("at"), on="at", how="semi").partition_by("at", as_dict=True)
    moves = []
    for at, size, net in found.iter_rows():
        changes = sorted(
            by_caller[(at,)].select("name", "ns").iter_rows(), key=lambda change: (-abs(change[1]), change[0])
        )
        down, up = (tuple(change for change in changes if (change[1] > 0) == sign) for sign in (False, True))
        moves.append(Moved(nodes["function"][at], at, down, up, size, net))
    return moves


def renamed(tree: TreeDifference, functions: Level) -> list[Renamed]:
    """Functions of A alone that look like a function of B alone, the largest first.

    Two are suggested where they stand under the same caller, were called as often and cost nearly the same, or where
    their names are alike.
    """
    gone, new = (
        {(row.name, row.module) for row in functions.rows if row.presence == presence}
        for presence in ("only_a", "only_b")
    )
    pairs: Counter[tuple[str, str]] = Counter()
    costs: dict[tuple[str, str], tuple[int, int]] = {}
    why: dict[tuple[str, str], str] = {}
    columns = ("parent", "function", "module", "in_a", "calls_a", "calls_b", "total_ns_a", "total_ns_b")
    alone = tree.nodes.filter((pl.col("in_a") != pl.col("in_b")) & (pl.col("kind") == "function")).select(columns)
    for siblings in alone.partition_by("parent", maintain_order=True):
        rows = siblings.to_dicts()
        before = [row for row in rows if row["in_a"] and (row["function"], row["module"]) in gone]
        after = [row for row in rows if not row["in_a"] and (row["function"], row["module"]) in new]
        before, after = ([*side][:_MOST_PAIRED] for side in (before, after))
        for one in before:
            best = max(((_likeness(one, other), other) for other in after), key=lambda pair: pair[0], default=None)
            if best is None or best[0] == (0.0, ""):
                continue
            pair = (one["function"], best[1]["function"])
            known = costs.get(pair, (0, 0))
            costs[pair] = (known[0] + one["total_ns_a"], known[1] + best[1]["total_ns_b"])
            pairs[pair] += 1
            why.setdefault(pair, best[0][1])
    found = [Renamed(*pair, number, *costs[pair], why[pair]) for pair, number in pairs.items()]
    return sorted(found, key=lambda each: (-max(each.total_a_ns, each.total_b_ns), each.old, each.new))


def _likeness(one: dict[str, object], other: dict[str, object]) -> tuple[float, str]:
    alike = SequenceMatcher(None, str(one["function"])[:200], str(other["function"])[:200]).ratio()
    took = (int(str(one["total_ns_a"])), int(str(other["total_ns_b"])))
    same = one["calls_a"] == other["calls_b"] and abs(took[0] - took[1]) * 10 <= max(took)
    if alike >= _ALIKE:
        return (1 + alike, "similar names, same number of calls" if same else "names alike")
    return (alike, "same caller, same number of calls, similar cost") if same else (0.0, "")

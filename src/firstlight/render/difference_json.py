"""The difference of two boots as data: the shape that `docs/reference/formats/comparison.md` specifies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.functions import function_key, one_sided
from firstlight.comparison.exact.headline import headline
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.parts import ChangePart, Parts, ordered_parts
from firstlight.comparison.exact.parts import added as sum_of_parts
from firstlight.comparison.exact.path import Hidden
from firstlight.comparison.exact.rows import Key, Row, RowDelta
from firstlight.comparison.exact.tree import TreeDifference, TreeRow

#: The version of the shape.
VERSION = 1

#: Nodes of the tree below this share of all changes stand together.
MIN_SHARE = 0.001


def difference_data(
    difference: ExactDifference, limit: int | None = None, min_share: float = MIN_SHARE
) -> dict[str, Any]:
    """An exact difference as plain data.

    :param limit: so many changed rows of each level, the largest; all of them when not given. The rows that are left
        out are added up in one, so that the sums hold.
    :param min_share: nodes of the tree below this share of all changes stand together in one row.

    >>> import firstlight
    >>> from firstlight.comparison.exact.difference import exact_difference
    >>> boot = firstlight.open(bundle)
    >>> difference_data(exact_difference(boot, boot))["totals"]["change"]["ns"]
    0
    """
    levels = {level.name: level_data(level, limit, difference.parts.get(level.name)) for level in difference.levels}
    return {
        "regime": difference.a.manifest.mode,
        "a": boot_data(difference.a),
        "b": boot_data(difference.b),
        "equal": difference.is_equal,
        "flags": [asdict(flag) for flag in difference.flags],
        "inputs": [asdict(change) for change in difference.inputs],
        "headline": headline(difference),
        "causes": [asdict(cause) for cause in difference.causes],
        "ledger": ledger_data(difference),
        "totals": row_data(difference.whole),
        "levels": levels,
        "hidden": [hidden_data(each) for each in difference.path.hidden[:limit]],
        "moved": [asdict(each) for each in difference.moved[:limit]],
        "renamed": [asdict(each) for each in difference.renamed[:limit]],
        "facts": [asdict(each) for each in difference.facts],
        "tree": None if difference.tree is None else tree_data(difference.tree, difference.functions, min_share, limit),
    }


def ledger_data(difference: ExactDifference) -> dict[str, Any] | None:
    """The parts of the change at every level; each level adds up to `total`."""
    ledger = difference.ledger
    if ledger is None:
        return None
    return {
        "total": asdict(ledger.total),
        "instructions": {part: getattr(ledger.instructions, f"{part}_ns") for part in ChangePart},
        "band": difference.tolerance.source,
        "levels": {
            name: [{**key._asdict(), **asdict(parts)} for key, parts in ordered_parts(level)]
            for name, level in ledger.levels.items()
        },
    }


def boot_data(boot: Boot) -> dict[str, Any]:
    """What one side is: its path, clock, and the two marks that its figures lie between."""
    whole = window(boot)
    return {
        "boot": str(boot.directory),
        "mode": boot.manifest.mode,
        "clock": boot.manifest.clock.model_dump(mode="json"),
        "from": {"mark": whole.first, "time_ns": whole.first_ns},
        "to": {"mark": whole.last, "time_ns": whole.last_ns},
        "completeness": boot.manifest.completeness.model_dump(mode="json"),
    }


def level_data(level: Level, limit: int | None = None, parts: Mapping[Key, Parts] | None = None) -> dict[str, Any]:
    """A level: its changed rows, largest first, then what was left out and what did not change, each added up.

    :param parts: what of each row is caused, what moved, and what is an accident.
    """
    changed = level.changed
    shown = changed if limit is None else changed[:limit]
    unchanged = [row for row in level.rows if not row.changed]
    return {
        "rows": [row_data(row) | _parts_data(parts, [row]) for row in shown],
        "left_out": _added(level, changed[len(shown) :], "left out") | _parts_data(parts, changed[len(shown) :]),
        "unchanged": _added(level, unchanged, "unchanged") | _parts_data(parts, unchanged),
        "whole": row_data(level.whole) | _parts_data(parts, level.rows),
        "sum_less_whole_ns": sum(row.change_ns for row in level.rows) - level.whole.change_ns,
    }


def _parts_data(parts: Mapping[Key, Parts] | None, rows: Iterable[Row]) -> dict[str, Any]:
    return {"parts": None if parts is None else asdict(sum_of_parts(parts[row.key] for row in rows))}


def row_data(row: Row) -> dict[str, Any]:
    """One row; `a` or `b` is null where the thing is not there."""
    parts = row.split
    return {
        "name": row.name,
        "module": row.module,
        "kind": row.kind,
        "presence": row.presence,
        "doubtful": row.doubtful,
        "a": None if row.a is None else asdict(row.a),
        "b": None if row.b is None else asdict(row.b),
        "change": {
            "ns": row.change_ns,
            "instructions": row.change_instructions,
            "idle_ns": row.change_idle_ns,
            "calls": row.change_calls,
        },
        "split": None if parts is None else asdict(parts),
        **({"unsure": True} if row.is_unsure else {}),
    }


def hidden_data(hidden: Hidden) -> dict[str, Any]:
    """Work off the critical path, which contributes nothing."""
    return {
        **row_data(hidden.row),
        "slack_a_ns": hidden.slack_a_ns,
        "slack_b_ns": hidden.slack_b_ns,
        "contributes_ns": 0,
    }


def tree_data(
    tree: TreeDifference, functions: Level | None, min_share: float = MIN_SHARE, limit: int | None = None
) -> dict[str, Any]:
    """The merged tree as a walk: what a differential flame graph draws, with the absolute change as width.

    :param functions: by function, to say of a context that is in one boot only whether its function is, too.
    """
    vanished, new = tree.only("a"), tree.only("b")
    gone, come = (one_sided(functions, side) for side in ("only_a", "only_b"))
    return {
        "rows": [_tree_row(row) for row in tree.walk(min_share)],
        "vanished": [_only_row(tree, row, gone) for row in vanished[:limit]],
        "vanished_sum": {"count": len(vanished), "total_ns": sum(row.total_a_ns for row in vanished)},
        "new": [_only_row(tree, row, come) for row in new[:limit]],
        "new_sum": {"count": len(new), "total_ns": sum(row.total_b_ns for row in new)},
        "rest": row_data(tree.rest),
        "nodes": tree.all_nodes,
        "changed_nodes": tree.nodes.height,
    }


def _only_row(tree: TreeDifference, line: TreeRow, functions: set[Key]) -> dict[str, Any]:
    elsewhere = function_key(line.row) not in functions
    return {**_tree_row(line), "path": tree.path_of(line.node or 0), "elsewhere": elsewhere}


def _tree_row(line: TreeRow) -> dict[str, Any]:
    return {
        "depth": line.depth,
        **row_data(line.row),
        "total_a_ns": line.total_a_ns,
        "total_b_ns": line.total_b_ns,
        "total_change_ns": line.change_ns,
        "width_ns": line.gross_ns,
        "pruned": line.pruned,
        "node": line.node,
    }


def added(rows: list[Row], name: str) -> Row:
    """Several rows as one.

    >>> added([Row("x", RowDelta(1), None), Row("y", RowDelta(2), RowDelta(5))], "two").change_ns
    2
    """
    sides: list[RowDelta] = []
    for side in ("a", "b"):
        total = RowDelta(0, 0, 0, 0)
        for row in rows:
            figures = getattr(row, side)
            total = total if figures is None else total + figures
        sides.append(total)
    return Row(name, sides[0], sides[1], kind="sum")


def _added(level: Level, rows: list[Row], name: str) -> dict[str, Any]:
    total = (
        added(rows, name) if rows else replace(level.whole, name=name, kind="sum", a=_nothing(level), b=_nothing(level))
    )
    return {"count": len(rows), **row_data(total)}


def _nothing(level: Level) -> RowDelta:
    """What no rows of a level are: 0 of each figure that its rows know."""
    known = [row.a or row.b for row in level.rows if row.kind != "rest"] or [level.whole.a]

    def nothing(figure: str) -> int | None:
        return None if any(getattr(figures, figure) is None for figures in known) else 0

    return RowDelta(0, nothing("instructions"), nothing("idle_ns"), nothing("calls"))

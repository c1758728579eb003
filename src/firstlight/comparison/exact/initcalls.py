"""Initcalls of two boots, each with what it did itself or caused to be done on its own task."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.initcalls import initcalls as table_of
from firstlight.analysis.interval_union import clipped
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.exclusive_time import exclusive_ns
from firstlight.comparison.exact.level import Level, LevelPart, add_part, make_level
from firstlight.comparison.exact.rows import Key, Row, RowDelta
from firstlight.comparison.sides.stable_names import stable_name
from firstlight.schema.spans import SpanKind

#: What of the boot lies in no initcall.
REST = "[outside all initcalls]"

#: The kernel's function that calls every initcall.
_CALLER = "do_one_initcall"


def initcalls(a: Boot, b: Boot, whole: Row, *, called: bool = True) -> Level | None:
    """Match the initcalls by stable name and module; none where a boot has none.

    With a profile an initcall has what it and its callees did on its own task: what another task did meanwhile is in
    no initcall. Without one it has the time that it owned, shared out as :func:`exclusive_ns` says. An initcall within
    another, such as a module's, is its own row either way.

    :param called: take the figures from the profile where both boots have one.

    >>> import firstlight
    >>> from firstlight.comparison.exact.totals import whole
    >>> boot = firstlight.open(bundle)
    >>> level = initcalls(boot, boot, whole(boot, boot))
    >>> len(level.rows), level.changed
    (34, [])
    """
    one, other = (_called(a), _called(b)) if called else ({}, {})
    if not (one and other):
        one, other = _owning(a), _owning(b)
    return make_level("initcalls", one, other, whole, REST) if one and other else None


def _called(boot: Boot) -> dict[Key, LevelPart]:
    """The contexts right below the kernel's caller of initcalls, without those of other initcalls within them.

    The kernel's caller calls other functions, too: it looks for names that the user blacklisted, and traces.
    """
    calls = boot.calls()
    caller = pl.col("function") == _CALLER
    above = calls.filter(caller)["node"].to_list()
    shift = boot.manifest.clock.icount_shift
    if not above or shift is None:
        return {}
    known = {stable_name(name) for name in table_of(boot)["function"].to_list()}
    named = [name for name in calls["function"].unique().to_list() if not known or stable_name(name) in known]
    rows = calls.filter(pl.col("parent").is_in(above) & ~caller & pl.col("function").is_in(named)).select(
        "node", "parent", "function", "module", "calls", "total_ns", "total_instructions"
    )
    parents = calls["parent"].to_list()
    inside = set(rows["node"].to_list())
    own: dict[int, list[int]] = {}
    for node, parent, _, _, _, ns, instructions in rows.iter_rows():
        figures = own.setdefault(node, [0, 0])
        figures[0] += ns or 0
        figures[1] += instructions or 0
        at = parents[parent]
        while at is not None and at not in inside:
            at = parents[at]
        if at is not None:
            around = own.setdefault(at, [0, 0])
            around[0] -= ns or 0
            around[1] -= instructions or 0
    parts: dict[Key, LevelPart] = {}
    for node, _, function, module, number, _, _ in rows.iter_rows():
        ns, instructions = own[node]
        _add(parts, function, module, RowDelta(ns, instructions, ns - (instructions << shift), number))
    return parts


def _owning(boot: Boot) -> dict[Key, LevelPart]:
    """The intervals of the initcalls, each instant with one owner."""
    limits = window(boot)
    table = table_of(boot).select("function", "module", "start_ns", "end_ns").drop_nulls("start_ns")
    rows = list(table.iter_rows())
    intervals = []
    for _, _, start, end in rows:
        inside = clipped([(start, start if end is None else end)], limits.first_ns, limits.last_ns)
        intervals.append(inside[0] if inside else (start, start))
    parts: dict[Key, LevelPart] = {}
    for (function, module, _, _), owns in zip(rows, exclusive_ns(intervals), strict=True):
        _add(parts, function, module, RowDelta(owns, None, None, 1))
    return parts


def _add(parts: dict[Key, LevelPart], function: str, module: str | None, figures: RowDelta) -> None:
    add_part(parts, Key(stable_name(function), module or "", SpanKind.INITCALL), function, figures)

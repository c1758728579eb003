"""Functions of two boots, by what each did itself: that adds up, totals do not."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import polars as pl

from firstlight.analysis.doubtful import MOST_DOUBTFUL, doubtful_share
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.level import Level, LevelPart, make_level, ordered
from firstlight.comparison.exact.rows import Key, Presence, Row, RowDelta
from firstlight.comparison.sides.stable_names import stable_name

#: What of the boot the profile does not hold.
REST = "[not in the profile]"

#: Kinds of contexts that are functions.
ENTERED = ("function", "task", "interrupt", "exception", "syscall")


def functions(a: Boot, b: Boot, whole: Row) -> Level | None:
    """Match the functions by stable name, module and kind; none where a boot has no profile.

    Functions too many of whose calls are doubtful in either boot come last, and their rows say so.

    >>> import firstlight
    >>> from firstlight.comparison.exact.totals import whole
    >>> boot = firstlight.open(bundle)
    >>> level = functions(boot, boot, whole(boot, boot))
    >>> level.changed, [row.name for row in level.rows if row.kind == "rest"]
    ([], [])
    """
    if a.calls().is_empty() or b.calls().is_empty():
        return None
    level = make_level("functions", _functions(a), _functions(b), whole, REST)
    doubtful = doubtful_functions(a, b)
    if not doubtful:
        return level
    rows = [replace(row, doubtful=doubtful.get(function_key(row))) for row in level.rows]
    return replace(level, rows=tuple(ordered(rows)))


def doubtful_functions(a: Boot, b: Boot) -> dict[Key, float]:
    """The functions of either boot with more than :data:`MOST_DOUBTFUL` of their calls doubtful, and the larger share.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> doubtful_functions(boot, boot)
    {}
    """
    found: dict[Key, float] = {}
    for boot in (a, b):
        for key, share in _doubtful_shares(boot).items():
            if share > MOST_DOUBTFUL:
                found[key] = max(share, found.get(key, 0.0))
    return found


def _doubtful_shares(boot: Boot) -> dict[Key, float]:
    calls = boot.calls()
    doubtful = calls.filter(pl.col("doubtful_calls") > 0)["function"].unique().to_list()
    table = (
        calls.filter(pl.col("function").is_in(doubtful))
        .group_by("function", "module", "kind")
        .agg(pl.col("doubtful_calls", "calls").fill_null(0).sum())
    )
    sums: dict[Key, tuple[int, int]] = {}
    for function, module, kind, doubtful, number in table.iter_rows():
        key = Key(stable_name(function), module or "", entered_as_one(kind))
        known = sums.get(key, (0, 0))
        sums[key] = (known[0] + doubtful, known[1] + number)
    return {key: doubtful_share(*both) or 0.0 for key, both in sums.items()}


def _functions(boot: Boot) -> dict[Key, LevelPart]:
    shift = boot.manifest.clock.icount_shift
    counted = boot.calls()["self_instructions"].count() > 0
    table = (
        boot.calls()
        .group_by("function", "module", "kind")
        .agg(pl.col("calls", "self_instructions", "self_ns").fill_null(0).sum())
    )
    parts: dict[Key, LevelPart] = {}
    for function, module, kind, calls, instructions, ns in table.iter_rows():
        idle = ns - (instructions << shift) if counted and shift is not None else None
        figures = RowDelta(ns, instructions if counted else None, idle, calls)
        key = Key(stable_name(function), module or "", entered_as_one(kind))
        known = parts.get(key)
        # Several clones of one function on one side go by the name that they share.
        parts[key] = LevelPart(figures, function) if known is None else LevelPart(known.figures + figures, key.name)
    return parts


def one_sided(level: Level | None, presence: Presence) -> set[Key]:
    """The functions that are in one boot only, in whatever context.

    :param presence: `only_a` or `only_b`.
    """
    return set() if level is None else {function_key(row) for row in level.rows if row.presence == presence}


def function_key(row: Row) -> Key:
    """What a function is matched by, whether its row is of the level or of the tree.

    >>> function_key(Row("f.constprop.0", None, None, kind="function")).name
    'f'
    """
    return key_of_function(row.name, row.module, row.kind)


@lru_cache(maxsize=1 << 16)
def key_of_function(name: str, module: str | None, kind: str) -> Key:
    """The same of the columns of a row: trees have many rows of one function.

    >>> key_of_function("f.constprop.0", None, "interrupt") == function_key(Row("f", None, None, kind="function"))
    True
    """
    return Row(name, None, None, module, kind).key._replace(kind=entered_as_one(kind))


def entered_as_one(kind: str) -> str:
    """The kind that a function is matched by: one function may be called, begin a task and answer an interrupt.

    >>> entered_as_one("task"), entered_as_one("user")
    ('function', 'user')
    """
    return "function" if kind in ENTERED else kind

"""Functions of two boots, by what each did itself: that adds up, totals do not."""

from __future__ import annotations

import polars as pl

from firstlight.boot.boot import Boot
from firstlight.compare.exact.level import Key, Level, Part, make_level
from firstlight.compare.exact.rows import Figures, Presence, Row
from firstlight.compare.keys import stable_name

#: What of the boot the profile does not hold.
REST = "[not in the profile]"

#: Kinds of contexts that are functions.
ENTERED = ("function", "task", "interrupt", "exception", "syscall")


def functions(a: Boot, b: Boot, whole: Row) -> Level | None:
    """Match the functions by stable name, module and kind; none where a boot has no profile.

    >>> import firstlight
    >>> from firstlight.compare.exact.totals import whole
    >>> boot = firstlight.open(bundle)
    >>> level = functions(boot, boot, whole(boot, boot))
    >>> level.changed, [row.name for row in level.rows if row.kind == "rest"]
    ([], [])
    """
    if a.calls().is_empty() or b.calls().is_empty():
        return None
    return make_level("functions", _functions(a), _functions(b), whole, REST)


def _functions(boot: Boot) -> dict[Key, Part]:
    shift = boot.manifest.clock.icount_shift
    counted = boot.calls()["self_instructions"].count() > 0
    table = (
        boot.calls()
        .group_by("function", "module", "kind")
        .agg(pl.col("calls", "self_instructions", "self_ns").fill_null(0).sum())
    )
    parts: dict[Key, Part] = {}
    for function, module, kind, calls, instructions, ns in table.iter_rows():
        idle = ns - (instructions << shift) if counted and shift is not None else None
        figures = Figures(ns, instructions if counted else None, idle, calls)
        key = Key(stable_name(function), module or "", entered_as_one(kind))
        known = parts.get(key)
        # Several clones of one function on one side go by the name that they share.
        parts[key] = Part(figures, function) if known is None else Part(known.figures + figures, key.name)
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
    return Key(stable_name(row.name), row.module or "", entered_as_one(row.kind))


def entered_as_one(kind: str) -> str:
    """The kind that a function is matched by: one function may be called, begin a task and answer an interrupt.

    >>> entered_as_one("task"), entered_as_one("user")
    ('function', 'user')
    """
    return "function" if kind in ENTERED else kind

"""Functions of one name on two architectures, with what each boot did in them side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.rows import Key, Row, RowDelta
from firstlight.recipe.isa import Architecture, architectures
from firstlight.schema.spans import CallKind


@dataclass(frozen=True)
class OnBoth:
    """Which functions two boots of different architectures have in common."""

    both: tuple[Row, ...]
    """Those that both called, by the larger number of instructions of their own, the largest first."""
    only_a: int
    """How many functions only A called."""
    only_b: int
    """The same of B."""


def on_both(level: Level | None, a: Boot, b: Boot) -> OnBoth | None:
    """Match functions of two architectures; none of one architecture, of an unknown one, or without profiles.

    :param level: the functions of both boots.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> on_both(None, boot, boot) is None
    True
    """
    one, other = (architectures().get(boot.manifest.recipe_text("architecture") or "") for boot in (a, b))
    if level is None or one is None or other is None or one.name == other.name:
        return None
    return matched(level.rows, one, other)


def matched(rows: Iterable[Row], one: Architecture, other: Architecture) -> OnBoth:
    """Match functions by name and module, and the entry of a system call by the call.

    :param one: the architecture of A.

    >>> from firstlight.recipe.isa import architecture_of
    >>> pair = architecture_of("x86_64"), architecture_of("aarch64")
    >>> def row(prefix, a, b):
    ...     return Row(prefix + "sys_read", a, b, kind="function")
    >>> entries = [
    ...     row(pair[0].system_call_prefix, RowDelta(5, 5, 0, 1), None),
    ...     row(pair[1].system_call_prefix, None, RowDelta(7, 7, 0, 2)),
    ... ]
    >>> [(row.name, row.a.calls, row.b.calls) for row in matched(entries, *pair).both]
    [('sys_read', 1, 2)]
    """
    sides: dict[Key, tuple[RowDelta | None, RowDelta | None]] = {}
    for row in rows:
        if row.kind != CallKind.FUNCTION:
            continue
        for place, side, architecture in ((0, row.a, one), (1, row.b, other)):
            if side is not None and side.calls:
                key = Key(_common(row.key.name, architecture), row.module or "")
                known = list(sides.get(key, (None, None)))
                before = known[place]
                known[place] = side if before is None else before + side
                sides[key] = (known[0], known[1])
    found = [Row(key.name, *both, key.module or None, str(CallKind.FUNCTION)) for key, both in sides.items()]
    together = [row for row in found if row.presence == "both"]
    return OnBoth(
        tuple(sorted(together, key=lambda row: (-_largest(row), row.name, row.module or ""))),
        sum(row.presence == "only_a" for row in found),
        sum(row.presence == "only_b" for row in found),
    )


def _common(name: str, architecture: Architecture) -> str:
    prefix = architecture.system_call_prefix
    return name.removeprefix(prefix) if prefix and name.startswith(f"{prefix}sys_") else name


def _largest(row: Row) -> int:
    return max((side.instructions or side.ns) for side in (row.a, row.b) if side is not None)

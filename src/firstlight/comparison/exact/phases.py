"""Phases of two boots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.phase_bounds import unsure_phases
from firstlight.comparison.exact.level import Level, LevelPart, make_level
from firstlight.comparison.exact.rows import Key, Row, RowDelta

#: What of the boot lies in no phase.
REST = "[outside all phases]"


def phases(a: Boot, b: Boot, whole: Row) -> Level:
    """Match the phases by their names; the second of one name is matched with the second.

    >>> import firstlight
    >>> from firstlight.comparison.exact.totals import whole
    >>> boot = firstlight.open(bundle)
    >>> phases(boot, boot, whole(boot, boot)).changed
    []
    """
    level = make_level("phases", _phases(a, whole.a), _phases(b, whole.b), whole, REST)
    off = [_off(boot) for boot in (a, b)]
    if not any(off):
        return level
    return replace(level, rows=tuple(replace(row, is_unsure=_is_unsure(row, off)) for row in level.rows))


def _is_unsure(row: Row, off: Sequence[Mapping[str, int | None]]) -> bool:
    far = [side[row.name] for side in off if row.name in side]
    known = [ns for ns in far if ns is not None]
    return bool(far) and row.change_ns != 0 and (len(known) < len(far) or abs(row.change_ns) <= sum(known))


def _off(boot: Boot) -> dict[str, int | None]:
    """How far the durations of phases may be off, in nanoseconds; none of one without a bound."""
    return dict(unsure_phases(boot.phases()).select("phase", "unsure_ns").iter_rows())


def _phases(boot: Boot, whole: RowDelta | None) -> dict[Key, LevelPart]:
    limits = window(boot)
    counted = whole is not None and whole.instructions is not None
    last = limits.last_ns if whole is None else max(limits.last_ns, limits.first_ns + whole.ns)
    seen: Counter[str] = Counter()
    parts = {}
    columns = ("phase", "start_ns", "end_ns", "instructions", "idle_ns")
    for name, start, end, instructions, idle in boot.phases().select(columns).iter_rows():
        seen[name] += 1
        if start is None or end is None:
            continue
        # Of what reaches out of the window, it is unknown how many instructions lie inside.
        length = max(0, min(end, last) - max(start, limits.first_ns))
        inside = counted and length == end - start
        label = name if seen[name] == 1 else f"{name} ({seen[name]})"
        figures = RowDelta(length, instructions if inside else None, idle if inside else None)
        parts[Key(label)] = LevelPart(figures, label)
    return parts

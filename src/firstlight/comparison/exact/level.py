"""A level of a difference: rows that add up to the whole, on both sides and in their change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from firstlight.comparison.exact.rows import Key, Row, RowDelta

_FIGURES = ("ns", "instructions", "idle_ns")


@dataclass(frozen=True)
class LevelPart:
    """One thing on one side."""

    figures: RowDelta
    label: str
    """What it is called there; the key's name may be shorter."""


@dataclass(frozen=True)
class Level:
    """One way to part the whole; checked when it is made."""

    name: str
    rows: tuple[Row, ...]
    """Largest change first; what the level does not attribute is a row of kind `rest`."""
    whole: Row
    """Of a figure that some row does not know (instructions of what stands on the critical path) nothing is known here
    either, so that every column adds up or is not there."""

    def __post_init__(self) -> None:
        for figure in _FIGURES:
            for side in ("a", "b"):
                whole = getattr(getattr(self.whole, side), figure)
                parts = [getattr(getattr(row, side), figure) for row in self.rows if getattr(row, side) is not None]
                if whole is None:
                    continue
                if None in parts:
                    raise AssertionError(f"{self.name}: {figure} of {side} is known of the whole, and not of every row")
                if sum(parts) != whole:
                    raise AssertionError(f"{self.name}: {figure} of {side} add up to {sum(parts)}, not to {whole}")
            change = getattr(self.whole, f"change_{figure}")
            changes = [getattr(row, f"change_{figure}") for row in self.rows]
            if change is not None and sum(changes) != change:
                raise AssertionError(f"{self.name}: changes of {figure} add up to {sum(changes)}, not to {change}")

    @property
    def changed(self) -> list[Row]:
        """The rows in which anything differs, the largest change first."""
        return [row for row in self.rows if row.changed]


def add_part(parts: dict[Key, LevelPart], key: Key, name: str, figures: RowDelta) -> None:
    """Add the figures of something called *name* to the part of its key; parts of several names go by the key's.

    >>> parts = {}
    >>> for name in ("f", "f.cold"):
    ...     add_part(parts, Key("f"), name, RowDelta(1))
    >>> parts[Key("f")].label, parts[Key("f")].figures.ns
    ('f', 2)
    """
    known = parts.get(key)
    label = name if known is None or known.label == name else key.name
    parts[key] = LevelPart(figures if known is None else known.figures + figures, label)


def make_level(name: str, a: Mapping[Key, LevelPart], b: Mapping[Key, LevelPart], whole: Row, rest: str) -> Level:
    """Match the parts of two boots by their keys, and add what they leave of the whole as a row of its own.

    A figure that not every part knows on both sides is left out of the level's whole.

    :param rest: what that row is called, in brackets.
    :raises AssertionError: when the sums do not hold: a fault of the program.

    >>> whole = Row("all", RowDelta(10), RowDelta(12))
    >>> one, other = {Key("x"): LevelPart(RowDelta(9), "x")}, {Key("y"): LevelPart(RowDelta(12), "y")}
    >>> level = make_level("phases", one, other, whole, "[rest]")
    >>> [(row.name, row.presence, row.change_ns) for row in level.rows]
    [('y', 'only_b', 12), ('x', 'only_a', -9), ('[rest]', 'both', -1)]
    """
    rows = []
    for key in a.keys() | b.keys():
        one, other = a.get(key), b.get(key)
        labels = {part.label for part in (one, other) if part is not None}
        label = labels.pop() if len(labels) == 1 else key.name
        figures = [None if part is None else part.figures for part in (one, other)]
        rows.append(Row(label, figures[0], figures[1], module=key.module or None, kind=key.kind))
    whole = _known(whole, [side.figures for side in (*a.values(), *b.values())])
    left = [_left(getattr(whole, side), [getattr(row, side) for row in rows]) for side in ("a", "b")]
    if any(value for side in left for value in (side.ns, side.instructions, side.idle_ns)):
        rows.append(Row(rest, left[0], left[1], kind="rest"))
    return Level(name, tuple(ordered(rows)), whole)


def ordered(rows: list[Row]) -> list[Row]:
    """Rows with the largest change first, whatever its sign; what is doubtful comes after all that is not."""
    return sorted(
        rows,
        key=lambda row: (row.doubtful is not None, -abs(row.change_ns), -abs(row.change_instructions or 0),
                         -abs(row.change_calls or 0), row.name, row.module or "", row.kind),
    )  # fmt: skip


def _known(whole: Row, parts: list[RowDelta]) -> Row:
    """The whole, without the figures that some part does not know."""

    def known(side: RowDelta | None) -> RowDelta | None:
        if side is None:
            return None
        instructions = None if any(part.instructions is None for part in parts) else side.instructions
        idle_ns = None if any(part.idle_ns is None for part in parts) else side.idle_ns
        return replace(side, instructions=instructions, idle_ns=idle_ns)

    return replace(whole, a=known(whole.a), b=known(whole.b))


def _left(whole: RowDelta, parts: list[RowDelta | None]) -> RowDelta:
    def left(figure: str) -> int | None:
        values = [getattr(part, figure) for part in parts if part is not None]
        total: int | None = getattr(whole, figure)
        return None if total is None or None in values else total - sum(values)

    return RowDelta(left("ns") or 0, left("instructions"), left("idle_ns"))

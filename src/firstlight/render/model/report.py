"""A report: tables and lines in their order, which one printer prints and which can be written as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from firstlight.render.model.pictures import Picture
from firstlight.render.model.table import Table

Spans = Sequence[tuple[str, str]]
"""Pieces of text, each with its style as rich names it."""


@dataclass(frozen=True)
class Line:
    """One line, or a paragraph that goes on below itself where the width does not suffice."""

    text: str | Spans
    style: str = ""
    head: str = ""
    """What stands before it, in the first line."""
    head_style: str = ""
    indent: int = 0
    """Where further lines begin."""
    wrap: bool = True
    """Else it is printed as it is."""
    cut: bool = False
    """Else it is cut where the width ends."""

    @property
    def plain(self) -> str:
        """Its text without styles."""
        return self.text if isinstance(self.text, str) else "".join(part for part, _ in self.text)


@dataclass(frozen=True)
class Heading:
    """The title of a part, with a blank line above."""

    text: str


@dataclass(frozen=True)
class Drawing:
    """Lines that are drawn for a terminal."""

    draw: Callable[[int, bool], Sequence[str]]
    """From the width and whether there is Unicode."""
    style: str = ""


Block = Table | Line | Heading | Drawing
Report = Iterable[Block]

BLANK = Line("")


def picture(of: Picture, style: str = "") -> Drawing:
    """One picture as a line of its own."""
    return Drawing(lambda width, unicode: [of.draw(width, unicode)], style)


def pairs(named: Iterable[tuple[str, str | None]], width: int | None = None) -> list[Line]:
    """Names with what is known by them, one below the other; a name of which nothing is known is left out.

    :param width: of the names with the blanks behind them.

    >>> [line.head + line.plain for line in pairs([("clock", "virtual time"), ("idle", None), ("mode", "exact")])]
    ['  clock  virtual time', '  mode   exact']
    """
    named = list(named)
    width = max((len(name) for name, _ in named), default=0) + 2 if width is None else width
    return [Line(value, head=f"  {name:{width}}", head_style="dim", indent=width + 2) for name, value in named if value]

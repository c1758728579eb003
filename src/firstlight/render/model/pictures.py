"""Cells that a terminal draws: bars, intervals at their places, steps of a tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstlight.analysis.window import Window

_BLOCKS = "▁▂▃▄▅▆▇█"
_PLAIN_BLOCKS = "_.,-=+*#"
#: A narrower terminal gets shorter pictures, so that they fit beside the figures.
_WIDE = 100


class Picture(ABC):
    """What is drawn in the width of a terminal."""

    @abstractmethod
    def draw(self, width: int, unicode: bool) -> str:
        """The picture.

        :param width: of the terminal, in characters.
        :param unicode: whether more than ASCII can be shown.
        """

    def text(self) -> str:
        """What it says without being drawn."""
        return ""

    def html(self) -> str:
        """The picture in HTML; nothing for what only a terminal draws."""
        return ""


@dataclass(frozen=True)
class Bar(Picture):
    """A share as a bar, to an eighth of a character.

    >>> Bar(0.5, 4).draw(80, True), Bar(0.3, 4).draw(80, True), Bar(0.5, 4).draw(80, False)
    ('██', '█▎', '##')
    >>> Bar(0.5, 20).draw(100, False), Bar(0.5, 20).draw(80, False)
    ('##########', '##')
    """

    part: float | None
    length: int

    def draw(self, width: int, unicode: bool) -> str:
        part = max(0.0, min(self.part or 0.0, 1.0))
        length = self.length if width >= _WIDE else max(4, self.length // 4)
        if not unicode:
            return "#" * round(part * length)
        eighths = round(part * length * 8)
        return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]

    def html(self) -> str:
        return "" if self.part is None else f'<meter min="0" max="1" value="{self.part:.6f}">{self.part:.1%}</meter>'


@dataclass(frozen=True)
class Meter(Picture):
    """A share beside its limit, as a bar that begins at the lowest share; what is below that is all the same.

    >>> Meter(0.995, limit=0.999, lowest=0.99, length=4).draw(80, True), Meter(0.5, 0.999, 0.99, 4).draw(80, True)
    ('██', '')
    """

    part: float
    limit: float
    lowest: float
    length: int

    def draw(self, width: int, unicode: bool) -> str:
        return Bar((self.part - self.lowest) / (1 - self.lowest), self.length).draw(width, unicode)

    def html(self) -> str:
        value = max(self.part, self.lowest)
        limits = f'min="{self.lowest:g}" max="1" low="{self.limit:g}" optimum="1"'
        return f'<meter {limits} value="{value:.6f}">{self.part:.4%}</meter>'


@dataclass(frozen=True)
class WideBar(Picture):
    """A share as a bar that takes the room of the terminal beside *beside* characters."""

    part: float
    beside: int = 40

    def draw(self, width: int, unicode: bool) -> str:
        return Bar(self.part, max(10, min(50, width - self.beside))).draw(width, unicode)


@dataclass(frozen=True)
class TwoWayBar(Picture):
    """What got slower and what got faster side by side, together as wide as the size of all changes.

    >>> TwoWayBar(2, 6, 6, 6).draw(100, True), TwoWayBar(-6, 6, 12, 6).draw(100, False)
    ('████░░', '---')
    """

    change: int
    gross: int
    whole: int
    length: int | None = None

    def draw(self, width: int, unicode: bool) -> str:
        length = self.length or (24 if width >= 90 else 10)
        if self.whole <= 0:
            return ""
        slower = (self.gross + self.change) // 2
        full, light = ("█", "░") if unicode else ("#", "-")
        ends = round(length * slower / self.whole), round(length * self.gross / self.whole)
        return full * ends[0] + light * (ends[1] - ends[0])


@dataclass(frozen=True)
class Interval(Picture):
    """An interval as a bar at its place in a window, after the time that it waited as dots; without an end it runs on.

    >>> from firstlight.analysis.window import Window
    >>> Interval(25, 75, Window("a", 0, "b", 100), 8).draw(80, False)
    '  ####'
    >>> Interval(50, 100, Window("a", 0, "b", 100), 8, waits_from=25).draw(80, False)
    '  ..####'
    """

    start: int | None
    end: int | None
    window: Window
    length: int
    waits_from: int | None = None

    def draw(self, width: int, unicode: bool) -> str:
        if self.start is None or self.window.length_ns <= 0:
            return ""
        length = self.length if width >= _WIDE else max(8, self.length // 2)
        first, last = self._places(self.start, self.window.last_ns if self.end is None else self.end, length)
        body = "█" if unicode else "#"
        if self.end is None:
            body = "░" if unicode else "."
        elif (self.end - self.start) * length * 2 < self.window.length_ns:
            body = "▏" if unicode else "|"
        waits = first if self.waits_from is None else min(first, self._places(self.waits_from, self.start, length)[0])
        return " " * waits + ("·" if unicode else ".") * (first - waits) + body * (last - first)

    def _places(self, start: int, end: int, length: int) -> tuple[int, int]:
        whole = self.window
        first = min(max(0, (start - whole.first_ns) * length // whole.length_ns), length - 1)
        last = min(max(first + 1, -(-(end - whole.first_ns) * length // whole.length_ns)), length)
        return first, last


@dataclass(frozen=True)
class States(Picture):
    """What a process did over time, in the width that a terminal has beside *beside* characters.

    In each character running goes before ready to run, and that before sleeping.

    >>> from firstlight.analysis.window import Window
    >>> states = States([(2, 0, 50), (0, 50, 52), (1, 52, 100)], Window("a", 0, "b", 200), beside=20)
    >>> states.draw(30, True), states.draw(30, False)
    ('··█▒▒', '..#--')
    """

    parts: Sequence[tuple[int, int, int]]
    """Intervals: 0 running, 1 ready to run, 2 blocked; a start and an end."""
    window: Window
    beside: int
    least: int = 10
    most: int = 100

    def draw(self, width: int, unicode: bool) -> str:
        length, whole = max(self.least, min(self.most, width - self.beside)), self.window
        cells = [3] * length
        for rank, start, end in self.parts if whole.length_ns > 0 else ():
            first = (start - whole.first_ns) * length // whole.length_ns
            last = -(-(end - whole.first_ns) * length // whole.length_ns)
            for place in range(max(0, first), min(length, max(last, first + 1))):
                cells[place] = min(cells[place], rank)
        return "".join(("█▒· " if unicode else "#-. ")[rank] for rank in cells).rstrip()


@dataclass(frozen=True)
class ConfidenceInterval(Picture):
    """An interval around its estimate on a scale from -reach to +reach, with a line at 0.

    >>> ConfidenceInterval(-1, 2, 5, 10, 20).draw(80, True), ConfidenceInterval(2, 4, 6, 8, 17).draw(80, False)
    ('         ├─╋──┤     ', '        | ==+==  ')
    """

    low: float
    estimate: float
    high: float
    reach: float
    length: int

    def draw(self, width: int, unicode: bool) -> str:
        line, estimate, zero, left, right = ("─", "╋", "│", "├", "┤") if unicode else ("=", "+", "|", "=", "=")
        first, middle, last, at_zero = (self._place(each) for each in (self.low, self.estimate, self.high, 0.0))
        cells = [" "] * self.length
        cells[at_zero] = zero
        cells[first : last + 1] = [line] * (last + 1 - first)
        cells[first], cells[last], cells[middle] = left, right, estimate
        return "".join(cells)

    def _place(self, value: float) -> int:
        share = 0.5 if self.reach <= 0 else (value / self.reach + 1) / 2
        return min(max(0, round(share * (self.length - 1))), self.length - 1)


@dataclass(frozen=True)
class Sparkline(Picture):
    """Figures as a line of blocks, the least one lowest; of more figures than characters each is the last of its share.

    >>> Sparkline([1, 1, 2, 3, 3], 10).draw(80, True), Sparkline([1, 1, 2, 3, 3], 10).draw(80, False)
    ('▁▁▅██', '__=##')
    """

    values: Sequence[float]
    length: int | None = None

    def draw(self, width: int, unicode: bool) -> str:
        if not self.values:
            return ""
        length = self.length or max(10, width - 2 if width < 200 else 78)
        number = min(length, len(self.values))
        shown = [self.values[(place + 1) * len(self.values) // number - 1] for place in range(number)]
        low, high = min(shown), max(shown)
        blocks = _BLOCKS if unicode else _PLAIN_BLOCKS
        if high == low:
            return blocks[0] * number
        return "".join(blocks[round((value - low) / (high - low) * (len(blocks) - 1))] for value in shown)


@dataclass(frozen=True)
class Nested(Picture):
    """A name in a tree, with a line for each level above it.

    >>> Nested("open", 2, 2).draw(80, True), Nested("open", 2, 40).draw(80, True), Nested("open", 2, 2).text()
    ('│ │ open', '││ open', 'open')
    """

    name: str
    depth: int
    deepest: int

    def draw(self, width: int, unicode: bool) -> str:
        # A deep tree takes one character for each level, so that names stay in sight.
        narrow = 4 * self.deepest > width
        step = ("│" if unicode else "|") + ("" if narrow else " ")
        return step * self.depth + (" " if self.depth and narrow else "") + self.name

    def text(self) -> str:
        return self.name

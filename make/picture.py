"""Draws `docs/assets/demo.svg` from a recorded boot: its phases and the functions with the largest self time.

`make demo && python make/picture.py demo.boot docs/assets/demo.svg` writes the picture of the README.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

import firstlight
from firstlight.quantities import time_text

WIDTH, LEFT, BAR, ROW, FUNCTIONS = 880, 16, 34, 22, 8
COLOURS = ("#4e79a7", "#f28e2b", "#76b7b2", "#e15759", "#59a14f", "#edc948", "#b07aa1", "#9c755f")
OTHERS = "#c8ccd0"
LEGEND = 0.03
"""Phases with a smaller share of the boot have no name in the picture."""


def text(x: float, y: float, content: str, *, anchor: str = "start", size: int = 12, fill: str = "#222") -> str:
    """One line of text."""
    style = f'font-size="{size}" text-anchor="{anchor}" fill="{fill}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(content)}</text>'


def rectangle(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    """A bar that names itself to the pointer."""
    shape = f'<rect x="{x:.2f}" y="{y:.1f}" width="{max(width, 0.3):.2f}" height="{height}" fill="{colour}">'
    return f"{shape}<title>{escape(title)}</title></rect>"


def picture(boot: firstlight.Boot) -> str:
    """The SVG of one exact boot; every length in it is a duration of the bundle."""
    phases = boot.phases().select("phase", "duration_ns").rows()
    total = sum(duration for _, duration in phases)
    inner = WIDTH - 2 * LEFT
    parts = [text(LEFT, 24, f"One boot, {time_text(total)} of virtual time, by phase", size=14)]
    x = float(LEFT)
    legend: list[tuple[str, str]] = []
    for phase, duration in phases:
        width, colour = inner * duration / total, OTHERS
        if duration / total >= LEGEND:
            colour = COLOURS[len(legend) % len(COLOURS)]
            legend.append((colour, f"{phase} {duration / total:.1%}"))
        parts.append(rectangle(x, 36, width, BAR, colour, f"{phase}: {time_text(duration)}"))
        x += width
    for index, (colour, name) in enumerate(legend):
        column, row = index % 4, index // 4
        parts.append(rectangle(LEFT + column * inner / 4, 82 + row * 18, 11, 11, colour, name))
        parts.append(text(LEFT + column * inner / 4 + 17, 92 + row * 18, name))
    top = 82 + (len(legend) + 3) // 4 * 18 + 28
    parts.append(text(LEFT, top, "Functions with the largest self time", size=14))
    functions = boot.functions().filter(~pl.col("function").str.starts_with("["))
    rows = functions.top_k(FUNCTIONS, by="self_ns").select("function", "self_ns").rows()
    for index, (function, self_ns) in enumerate(rows):
        y = top + 12 + index * ROW
        width = (inner - 400) * self_ns / rows[0][1]
        parts.append(text(LEFT + 200, y + 13, function, anchor="end"))
        parts.append(rectangle(LEFT + 210, y, width, ROW - 6, COLOURS[0], function))
        parts.append(text(LEFT + 218 + width, y + 13, f"{time_text(self_ns)}  {self_ns / total:.1%}", fill="#555"))
    height = top + 12 + len(rows) * ROW + 8
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(firstlight.open(sys.argv[1])))

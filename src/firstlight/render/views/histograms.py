"""The kernel's histograms, which a boot has among its facts."""

from __future__ import annotations

import re

from rich.console import Console
from rich.text import Text

from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import count_text
from firstlight.render.terminal.console import print_line, print_wrapped

_FACT = re.compile(r"hist\.(\d{1,9})\.(\d{1,9}|[a-z_]{1,40})")
_MOST_ROWS = 15


def print_histograms(out: Console, boot: Boot) -> None:
    """Print what each histogram is of, its first rows and its sums; nothing where there is none."""
    found: dict[int, dict[str, str]] = {}
    for fact, value in boot.facts().select("fact", "value").iter_rows():
        match = _FACT.fullmatch(fact)
        if match:
            found.setdefault(int(match[1]), {})[match[2]] = value
    for number, told in sorted(found.items()):
        rows = sorted(int(name) for name in told if name.isdecimal())
        print_line(out)
        title = f"Histogram {number}, facts hist.{number}.…"
        print_wrapped(out, Text(title, style="bold underline"))
        trigger = told.get("trigger")
        if trigger:
            print_wrapped(out, printable(trigger, 400), Text("  "), 2)
        for row in rows[:_MOST_ROWS]:
            print_wrapped(out, printable(told[str(row)], 400), Text("  "), 4)
        left = len(rows) - _MOST_ROWS
        if left > 0:
            print_wrapped(out, f"{count_text(left)} more rows", Text("  "), 2)
        sums = [f"{name} {told[name]}" for name in ("hits", "entries", "dropped") if name in told]
        if sums:
            print_wrapped(out, printable(", ".join(sums), 400), Text("  "), 2)

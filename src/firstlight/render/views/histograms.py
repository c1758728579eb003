"""The kernel's histograms, which a boot has among its facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.quantities import count_text
from firstlight.render.model.report import Block, Heading, Line

_FACT = re.compile(r"hist\.(\d{1,9})\.(\d{1,9}|[a-z_]{1,40})")
_MOST_ROWS = 15


def histograms_report(boot: Boot) -> Iterator[Block]:
    """What each histogram is of, its first rows and its sums; nothing where there is none."""
    found: dict[int, dict[str, str]] = {}
    for fact, value in boot.facts().select("fact", "value").iter_rows():
        match = _FACT.fullmatch(fact)
        if match:
            found.setdefault(int(match[1]), {})[match[2]] = value
    for number, facts in sorted(found.items()):
        rows = sorted(int(name) for name in facts if name.isdecimal())
        yield Heading(f"Histogram {number}, facts hist.{number}.…")
        if facts.get("trigger"):
            yield Line(printable(facts["trigger"], 400), head="  ", indent=2)
        yield from (Line(printable(facts[str(row)], 400), head="  ", indent=4) for row in rows[:_MOST_ROWS])
        left = len(rows) - _MOST_ROWS
        if left > 0:
            yield Line(f"{count_text(left)} more rows", head="  ", indent=2)
        sums = [f"{name} {facts[name]}" for name in ("hits", "entries", "dropped") if name in facts]
        if sums:
            yield Line(printable(", ".join(sums), 400), head="  ", indent=2)

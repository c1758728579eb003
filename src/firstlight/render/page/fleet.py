"""The page of a fleet: distributions, quantiles, what changed, outliers, tails and causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from firstlight.errors import UsageError
from firstlight.escape import escape_html
from firstlight.fleet.causes import causes_of_fleet
from firstlight.fleet.distribution import Distribution, distributions
from firstlight.fleet.layout import Fleet
from firstlight.fleet.questions import Asked, Question, answer
from firstlight.quantities import time_text
from firstlight.render.html.table import html_table
from firstlight.render.page.frame import framed
from firstlight.render.views.fleet import answer_notes, answer_table, causes_table

_BY = ("model", "kernel")
_ROWS = {
    Question.PHASES: 120,
    Question.INITCALLS: 60,
    Question.REGRESSED: 100,
    Question.OUTLIERS: 50,
    Question.TAIL: 30,
}
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 760, 260, 48, 34
#: Groups are shown by their dashes as well as by their colours.
_COLORS = ("#3b82c4", "#c2611f", "#3f9a4f", "#9b5fc0", "#a5790a", "#c2477f", "#3d8d9b", "#8a6d5a")
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 2", "12 4", "4 2", "3 6")


def fleet_html(fleet: Fleet, where: str = "") -> str:
    """The page of a fleet as HTML; it loads nothing and runs nothing.

    :param where: conditions on attributes.
    :raises UsageError: for an empty fleet, or conditions that no boot meets.
    :raises LabError: when the report page, whose style this one has, has not been built.
    """
    boots = answer(fleet, Asked(Question.PHASES, where)).boots
    parts = [
        '<header><p class="brand"><span class="sun" aria-hidden="true"></span>Firstlight fleet</p>',
        f"<h1>{boots:,} boot{'' if boots == 1 else 's'}</h1>",
        f'<p class="note">{escape_html(where) if where else "all boots that came up"}</p></header><main id="main">',
        "<section><h2>Totals</h2>" + _picture(distributions(fleet, _BY, where)) + "</section>",
    ]
    for question, limit in _ROWS.items():
        try:
            found = answer(fleet, Asked(question, where))
        except UsageError as error:
            # One kernel alone: there is nothing to compare.
            parts.append(f"<section><h2>Parts that changed</h2><p>{escape_html(error.message)}</p></section>")
            continue
        made = answer_table(found, limit)
        notes = "".join(f"<p>{escape_html(note)}</p>" for note in answer_notes(found))
        if made.rows or question == Question.REGRESSED:
            body = html_table(replace(made, title=""))
            parts.append(f"<section><h2>{escape_html(made.title)}</h2>{notes}{body}</section>")
    try:
        made = causes_table(causes_of_fleet(fleet, where))
        parts.append(f"<section><h2>{escape_html(made.title)}</h2>{html_table(replace(made, title=''))}</section>")
    except UsageError:
        pass
    return framed("Firstlight fleet", "\n".join([*parts, "</main>"]))


def _picture(groups: Sequence[Distribution]) -> str:
    """Which share of the boots of each group took no longer than so long."""
    lows, highs = [each.totals_ns[0] for each in groups], [each.totals_ns[-1] for each in groups]
    low, high = min(lows), max(highs)
    span = high - low or 1.0

    def place(ns: float, share: float) -> str:
        x = _LEFT + (ns - low) / span * (_WIDTH - _LEFT - 10)
        return f"{x:.1f},{10 + (1 - share) * (_HEIGHT - _BOTTOM - 10):.1f}"

    lines, legend = [], []
    for number, group in enumerate(groups):
        steps = max(len(group.totals_ns) - 1, 1)
        points = " ".join(place(ns, index / steps) for index, ns in enumerate(group.totals_ns))
        dash = f' stroke-dasharray="{_DASHES[number % len(_DASHES)]}"' if number % len(_DASHES) else ""
        color = _COLORS[number % len(_COLORS)]
        name = escape_html(" · ".join(group.group))
        lines.append(f'<polyline fill="none" stroke="{color}" stroke-width="2"{dash} points="{points}">'
                     f"<title>{name}: {group.boots:,} boots</title></polyline>")  # fmt: skip
        key = f'<svg width="34" height="10" aria-hidden="true"><line x1="0" y1="5" x2="34" y2="5" stroke="{color}" '
        legend.append(f'<li>{key}stroke-width="2"{dash}/></svg> {name}, {group.boots:,} boots, median '
                      f"{time_text(round(group.totals_ns[len(group.totals_ns) // 2]))}</li>")  # fmt: skip
    marks = "".join(
        f'<text x="{_LEFT - 6}" y="{14 + (1 - share) * (_HEIGHT - _BOTTOM - 10):.0f}" text-anchor="end" '
        f'font-size="11" fill="currentColor">{share:.0%}</text>'
        for share in (0.0, 0.5, 0.9, 1.0)
    )
    marks += "".join(
        f'<text x="{_LEFT + part * (_WIDTH - _LEFT - 10):.0f}" y="{_HEIGHT - 12}" font-size="11" fill="currentColor" '
        f'text-anchor="{anchor}">{time_text(round(low + part * span))}</text>'
        for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    )
    label = "Share of boots that took at most a given time, for each group"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" width="100%">{marks}{"".join(lines)}'
        f"</svg><ul>{''.join(legend)}</ul>"
    )

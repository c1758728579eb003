"""A history of the folder: one series with its changes, the parts that changed, and regressions that last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast, get_args
from urllib.parse import urlencode

from firstlight.escape import escape_html
from firstlight.history.open_history import open_history
from firstlight.history.series import PARTS, Kind, Series, changing_series, read_series
from firstlight.quantities import counted, time_text
from firstlight.render.html.report import html_report
from firstlight.render.views.history import regressions_report, series_report
from firstlight.ui.folder import Entry
from firstlight.ui.frame import Page, ui_page

_POINTS = 500
_NAMES = 1_000
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 760, 220, 80, 24


def history_page(entry: Entry, query: Mapping[str, str]) -> Page:
    """The page of a history.

    :param query: `kind` and `name` of the series; the total when they are not given.
    :raises UsageError: when the history is empty, or has no such series.
    :raises FirstlightError: when the history cannot be read.
    """
    kind = query.get("kind", "total")
    chosen: Kind = cast(Kind, kind) if kind in get_args(Kind) else "total"
    name = query.get("name", "").strip() if chosen != "total" else "total"
    with open_history(Path(entry.path)) as history:
        if chosen != "total" and not name:
            name = next(iter(history.names(chosen)), "")
        series = read_series(history, chosen, name)
        others = [each for part in PARTS for each in changing_series(history, part)] if chosen == "total" else []
        names = history.names(chosen)[:_NAMES] if chosen != "total" else []
    found = [(each, change) for each in [series, *others] for change in each.regressions()]
    found.sort(key=lambda each: (each[0].kind != "total", -(each[1].after - each[1].before)))
    address = f"/histories/{entry.id}"
    parts = [_chooser(address, chosen, name, names), f"<section><h2>{_title(series)}</h2>{_picture(series)}"]
    parts += [html_report(series_report(series, [], _POINTS)), "</section>"]
    if chosen == "total":
        looked_at = "the total, and parts that changed by at least 0.1 % of the boot"
        report = html_report(regressions_report(found[:200], looked_at))
        parts += [f"<section><h2>Regressions</h2>{report}</section>", _others(address, others)]
    return ui_page(entry.name, "\n".join(parts))


def _title(series: Series) -> str:
    return "Total" if series.kind == "total" else f"{escape_html(series.kind)} {escape_html(series.name, 100)}"


def _chooser(address: str, chosen: str, name: str, names: Sequence[str]) -> str:
    options = "".join(
        f'<option value="{kind}"{" selected" if kind == chosen else ""}>{kind.replace("_", " ")}</option>'
        for kind in get_args(Kind)
    )
    known = "".join(f'<option value="{escape_html(each)}"></option>' for each in names)
    value = "" if chosen == "total" else escape_html(name)
    return (
        f'<section><form class="toolbar" method="get" action="{address}"><label for="kind">Series of</label> '
        f'<select id="kind" name="kind">{options}</select> <label for="name">Name</label> '
        f'<input type="search" id="name" name="name" value="{value}" list="names" maxlength="300">'
        f'<datalist id="names">{known}</datalist> <button type="submit">Show</button></form></section>'
    )


def _others(address: str, others: Sequence[Series]) -> str:
    if not others:
        return ""
    lines = "".join(
        f'<li><a href="{escape_html(address + "?" + urlencode({"kind": each.kind, "name": each.name}))}">'
        f"{escape_html(each.kind.replace('_', ' '))} {escape_html(each.name, 100)}</a>: "
        f"{time_text(each.points[0].level)} to {time_text(each.points[-1].level)}</li>"
        for each in others[:200]
    )
    return f"<section><h2>Parts that changed</h2><ul>{lines}</ul></section>"


def _picture(series: Series) -> str:
    """The levels as a line, each point with its name and its figure."""
    levels = [point.level for point in series.points]
    low, high = min(levels), max(levels)
    span = (high - low) or 1
    step = (_WIDTH - _LEFT - 10) / max(1, len(levels) - 1)

    def place(number: int) -> tuple[float, float]:
        y = 10 + (1 - (levels[number] - low) / span) * (_HEIGHT - _BOTTOM - 10) if high > low else _HEIGHT / 2
        return _LEFT + number * step, y

    points = [place(number) for number in range(len(levels))]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="currentColor"><title>{escape_html(point.at, 80)}: '
        f"{time_text(point.level)}</title></circle>"
        for (x, y), point in list(zip(points, series.points, strict=True))[-_POINTS:]
    )
    changes = "".join(
        f'<line x1="{points[change.place][0]:.1f}" x2="{points[change.place][0]:.1f}" y1="6" y2="{_HEIGHT - _BOTTOM}" '
        'stroke="currentColor" stroke-dasharray="3 3" opacity="0.5"/>'
        for change in series.changes
    )
    labels = "".join(
        f'<text x="{_LEFT - 8}" y="{y:.0f}" text-anchor="end" font-size="11" fill="currentColor">'
        f"{time_text(value)}</text>"
        for value, y in ([(high, 14), (low, _HEIGHT - _BOTTOM)] if high > low else [(high, _HEIGHT / 2 + 4)])
    )
    said = f"Time of {counted(len(levels), 'point')}, from {time_text(levels[0])} to {time_text(levels[-1])}"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="100%" role="img" aria-label="{said}">{labels}{changes}'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>{dots}</svg>'
    )

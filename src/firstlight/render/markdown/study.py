"""A study as a page of Markdown of one screen: the verdicts, a picture, and each claim then and now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from firstlight.escape import escape_markdown
from firstlight.quantities import counted
from firstlight.render.markdown.table import markdown_table
from firstlight.render.views.study import claims_table, file_names, verdicts_text
from firstlight.study.outcome import Outcome
from firstlight.study.table import Chart, Series, value_text

_BAR = 40
"""Signs of the longest bar."""
_BARS = 24
"""Of a picture at most."""


def outcome_markdown(outcome: Outcome) -> str:
    """The study; the same outcome gives the same text."""
    return "\n\n".join(_parts(outcome)) + "\n"


def _parts(outcome: Outcome) -> Iterator[str]:
    yield f"# {escape_markdown(outcome.title)}"
    yield escape_markdown(outcome.question)
    yield f"Of {counted(len(outcome.findings), 'claim')}, {verdicts_text(outcome)}."
    if outcome.quick:
        yield "A quick run: fewer arms and smaller sizes."
    if outcome.charts:
        yield _picture(outcome.charts[0])
    yield markdown_table(claims_table(outcome))
    if outcome.missing:
        yield from ("## Not measured", _list(f"{each.what}: {each.reason}" for each in outcome.missing))
    if outcome.notes:
        yield from ("## Read the figures", _list(outcome.notes))
    tables = (f"`tables/{name}.csv`: {made.title}" for name, made in file_names(outcome).items())
    yield from ("## All tables", _list(tables, escaped=False))
    yield from ("## Recipe", _list(outcome.recipe))


def _picture(chart: Chart) -> str:
    """The points as bars of text; of stacked ones the sums, or where the parts are more, those of the first column."""
    columns = dict.fromkeys(across for series in chart.series for across, _ in series.points)
    if chart.form == "stacked" and len(columns) < len(chart.series):
        first = next(iter(columns), "")
        parts = ((series.name, up) for series in chart.series for across, up in series.points if across == first)
        points = tuple(sorted(parts, key=lambda part: -part[1]))
        chart = replace(chart, title=f"{chart.title} ({first})", form="bars", series=(Series(chart.up, points),))
    sums: dict[str, float] = {}
    for series in chart.series:
        for across, up in series.points:
            label = f"{across:,.6g}" if isinstance(across, int | float) else across
            name = f"{series.name}, {label}" if chart.form != "stacked" and len(chart.series) > 1 else label
            sums[name] = sums.get(name, 0) + up
    most = max(map(abs, sums.values()), default=0) or 1
    wide = max(map(len, sums), default=0)
    rows = [
        f"{name.ljust(wide)}  {'#' * round(abs(value) / most * _BAR):<{_BAR}}  {value_text(value, chart.kind)}"
        for name, value in list(sums.items())[:_BARS]
    ]
    if len(sums) > _BARS:
        rows.append(f"and {len(sums) - _BARS} more in study.html")
    # An indented block: nothing in it is markup.
    return "\n".join([f"{escape_markdown(chart.title)}:", "", *(f"    {row.rstrip()}" for row in rows)])


def _list(texts: Iterable[str], *, escaped: bool = True) -> str:
    return "\n".join(f"- {escape_markdown(text) if escaped else text}" for text in texts)

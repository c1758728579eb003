"""The comparison of two arms whose boots vary as Markdown, for a pull request or a note."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.comparison.statistical.comparison import NoisyComparison
from firstlight.comparison.statistical.levels import MeanLevel, MeanRow
from firstlight.quantities import percent_text, signed_time, time_text
from firstlight.render.markdown.compare import table, text
from firstlight.render.views.compare import TITLES
from firstlight.render.views.noisy import (
    bridge_text,
    description_rows,
    estimate_text,
    exclusions,
    headline,
    interval_text,
    p_text,
    split_rows,
    too_few,
    why,
)

_LONGEST = 500


def noisy_markdown(found: NoisyComparison, limit: int) -> str:
    """The verdict, what it rests on, and what changed in each level.

    :param limit: how many rows of each level that differ have a line of their own.
    """
    lines = [
        f"### {text(found.a)} → {text(found.b)}",
        "",
        f"{found.mode} mode, {text(found.first)} to {text(found.last)}, {len(found.a_ns)} and {len(found.b_ns)} boots",
        "",
        f"**{found.verdict.word}**: {_text(headline(found))}",
        "",
    ]
    for name, said in (
        ("why", why(found)), ("estimate", estimate_text(found)), ("interval", interval_text(found)),
        ("chance", f"p = {p_text(found.test.p)}, {found.test.method}"),
        *(("note", note) for note in found.notes), *(("left out", each) for each in exclusions(found)),
    ):  # fmt: skip
        lines.append(f"- {name}: {_text(said)}")
    if found.description is not None:
        rows = description_rows(found.description["a"], found.description["b"])
        lines += ["", *table(("", "A", "B"), ([_text(cell) for cell in row] for row in rows))]
    for level in found.levels:
        title, first = TITLES.get(level.name, (level.name, "name"))
        titles = (first.lower(), "mean of A", "mean of B", "change", "of A", "p")
        lines += ["", f"#### {text(title)}, means", "", *table(titles, _rows(level, limit))]
        if (shortage := too_few(level, found)) is not None:
            lines += ["", _text(shortage)]
    return "\n".join([*lines, "", _text(bridge_text(found)), ""])


def _rows(level: MeanLevel, limit: int) -> list[list[str]]:
    shown, further, quiet = split_rows(level, limit)
    cells = [_cells(row, level) for row in shown]
    for rows, said in ((further, "more that differ"), (quiet, "within noise")):
        if rows:
            cells.append(_added(rows, level, f"({len(rows):,} {said}, added up)"))
    return [*cells, _cells(level.whole, level)]


def _cells(row: MeanRow, level: MeanLevel) -> list[str]:
    name = f"{row.name} [{row.module}]" if row.module else row.name
    name += "" if row.differs or row.kind == "whole" else " (noise?)"
    times = [time_text(round(row.a_mean_ns)), time_text(round(row.b_mean_ns)), signed_time(round(row.change_ns))]
    share = percent_text(100.0 * row.change_ns / level.whole.a_mean_ns)
    return [text(name), *times, share, p_text(row.adjusted_p) if row.kind != "whole" else ""]


def _added(rows: Sequence[MeanRow], level: MeanLevel, name: str) -> list[str]:
    change = sum(row.change_scaled for row in rows) / level.scale
    sides = (sum(row.a_mean_ns for row in rows), sum(row.b_mean_ns for row in rows))
    share = percent_text(100.0 * change / level.whole.a_mean_ns)
    return [name, *(time_text(round(side)) for side in sides), signed_time(round(change)), share, ""]


def _text(said: str) -> str:
    return text(said, _LONGEST)

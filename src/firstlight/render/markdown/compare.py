"""The difference of two boots as Markdown, for a pull request or a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firstlight.analysis.window import window
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.json import added
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.rows import Row
from firstlight.escape import printable
from firstlight.quantities import signed_count, signed_half, signed_share, signed_time, time_text
from firstlight.render.views.compare import (
    TITLES,
    input_text,
    left_out_text,
    level_title,
    presence_text,
    row_name,
    tells_more,
    total_rows,
)
from firstlight.render.views.show import clock_text

# What Markdown or the HTML in it would take for more than text.
_SPECIAL = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]()#+-.!|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
)


def difference_markdown(difference: ExactDifference, limit: int) -> str:
    """What changed from A to B as Markdown: inputs, totals, and each level with its largest changes first.

    Names from the boots are written so that nothing in them is taken for Markdown or HTML.

    :param limit: how many rows of each level have a line of their own.

    >>> import firstlight
    >>> from firstlight.comparison.exact.difference import exact_difference
    >>> boot = firstlight.open(bundle)
    >>> print(difference_markdown(exact_difference(boot, boot), 5).splitlines()[-1])
    Equal: every table of one boot is that of the other.
    """
    a, b = difference.a, difference.b
    whole = window(a)
    lines = [
        f"### {text(str(a.directory))} → {text(str(b.directory))}",
        "",
        f"{a.manifest.mode} mode, {clock_text(a)}, {text(whole.first)} to {text(whole.last)}",
        "",
    ]
    lines += [f"- differs: {text(input_text(change))}" for change in difference.inputs]
    lines += [f"- **{flag.kind}**: {text(flag.text)}" for flag in difference.flags]
    lines += [""] if difference.inputs or difference.flags else []
    if difference.is_equal:
        return "\n".join([*lines, "Equal: every table of one boot is that of the other.", ""])
    lines += table(("", "A", "B", "change", "of A"), total_rows(difference))
    for level in difference.levels:
        if level.changed and (level.name != "path" or tells_more(level)):
            lines += ["", f"#### {level_title(level)}", "", *_level(level, limit)]
    if difference.path.hidden:
        lines += ["", "#### Hidden work, off the critical path: contributes 0", ""]
        lines += table(
            ("step", "", "A", "B", "change"),
            (
                [text(row_name(each.row)), presence_text(each.row), *_sides(each.row), signed_time(each.row.change_ns)]
                for each in difference.path.hidden[:limit]
            ),
        )
    if difference.moved:
        lines += ["", "#### Moved, not changed", ""]
        lines += [
            f"- {time_text(move.moved_ns)} under {text(move.caller)}: from {_names(move.lost)} to"
            f" {_names(move.gained)}, net {signed_time(move.net_ns)}"
            for move in difference.moved[:limit]
        ]
    if difference.renamed:
        lines += ["", "#### Renamed? Suggested only", ""]
        lines += [f"- {text(pair.old)} → {text(pair.new)}: {pair.why}" for pair in difference.renamed[:limit]]
    return "\n".join([*lines, ""])


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already; all but the first column are aligned at the right.

    >>> table(("a", "b"), [["x", "1"]])
    ['| a | b |', '|---|--:|', '| x | 1 |']
    """
    rule = "|---|" + "--:|" * (len(titles) - 1)
    return [f"| {' | '.join(titles)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


def text(name: str, longest: int = 200) -> str:
    """A name as Markdown that shows it as it is, on one line, cut after *longest* characters.

    >>> text("a_b<script>|")
    'a\\\\_b&lt;script&gt;\\\\|'
    """
    return printable(name, longest).translate(_SPECIAL)


def _level(level: Level, limit: int) -> list[str]:
    changed = level.changed
    counted = any(row.split is not None for row in changed)
    titles = [TITLES[level.name][1].lower(), "", "A", "B", "change", "of A"]
    titles += ["calls", "more calls", "cost each"] if counted else []
    rows = [*changed[:limit]]
    if changed[limit:]:
        rows.append(added(changed[limit:], left_out_text(changed[limit:])))
    cells = []
    for row in [*rows, level.whole]:
        parts = row.split
        calls = signed_count(row.change_calls) if row.change_calls is not None and row.kind != "sum" else ""
        extra = ["", ""] if parts is None else [signed_half(parts.calls_doubled_ns), signed_half(parts.cost_doubled_ns)]
        share = signed_share(row.change_ns, level.whole.a.ns if level.whole.a else None)
        name = text(row_name(row)) if row.kind not in ("sum", "whole") else row.name
        line = [name, presence_text(row), *_sides(row), signed_time(row.change_ns), share]
        cells.append([*line, *([calls, *extra] if counted else [])])
    return table(titles, cells)


def _sides(row: Row) -> list[str]:
    return [time_text(None if side is None else side.ns) for side in (row.a, row.b)]


def _names(parts: Sequence[tuple[str, int]]) -> str:
    named = ", ".join(text(name) for name, _ in parts[:2])
    return named if len(parts) <= 2 else f"{named} and {len(parts) - 2} more"

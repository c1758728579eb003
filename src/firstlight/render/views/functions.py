"""The kd table and the calling-context tree in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from firstlight.analysis.doubtful import doubtful_share
from firstlight.analysis.functions import Selection, self_column, total_column
from firstlight.analysis.options import Unit
from firstlight.analysis.partial_sums import known, together
from firstlight.analysis.prune import ContextRow
from firstlight.escape import printable
from firstlight.quantities import count_text, share_text, small_share_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import is_unicode, print_line, print_wrapped
from firstlight.render.views.machine_costs import MACHINE_COLUMN
from firstlight.render.views.row_names import RowNames


def figure_text(value: int | None, unit: Unit) -> str:
    """A figure in its unit as a person reads it.

    >>> figure_text(1_500, "time"), figure_text(1_500, "instructions")
    ('1.500 us', '1,500')
    """
    return time_text(value) if unit == "time" else count_text(value)


def print_functions(
    out: Console, selection: Selection, unit: Unit, clock: str, what: str, marks: Mapping[str, str] | None = None
) -> None:
    """Print a kd table. Count and Local add up to the last line; Time does not, since a caller's holds its callees'.

    :param clock: what the times are, such as `virtual time`.
    :param what: what of the boot the table is about, such as `power_on to ready`.
    :param marks: functions most of whose Local the emulated machine adds, with the cost's name in the ledger.
    """
    marks = marks or {}
    _print_head(out, unit, clock, what)
    print_line(out)
    columns = [
        Column("Function", style="cyan"),
        Column("Count", number=True, wide=50),
        Column("Time", number=True),
        Column("Average", number=True, wide=80),
        Column("Local", number=True, style="bold"),
        Column("Max-sub", wide=100),
        Column("Ms count", number=True, wide=100),
        Column("Doubtful", number=True, style="yellow"),
        Column(MACHINE_COLUMN, style="yellow", wide=100),
    ]
    names = RowNames(selection.shown, selection.left_out)
    rows = [
        [*_row(row, unit, names), _doubtful_text(row), marks.get(row["function"], "")]
        for row in selection.shown.iter_rows(named=True)
    ]
    footer: list[Sequence[str]] = []
    if selection.left_out.height:
        left = selection.left_out
        count, own = known(left["count"]), together(left[self_column(unit)])
        name = f"({left.height:,} more)"
        footer.append([name, count_text(count), "", "", figure_text(own, unit), "", "", "", ""])
    footer.append(["all", count_text(selection.whole_count), "", "",
                   figure_text(selection.whole_self(unit), unit), "", "", "", ""])  # fmt: skip
    # What no row has anything of is no column.
    kept = [place for place in range(len(columns)) if place < len(columns) - 2 or any(row[place] for row in rows)]
    print_table(
        out,
        [columns[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        [[row[place] for place in kept] for row in footer],
    )


def _doubtful_text(row: dict[str, Any]) -> str:
    """The share of a function's calls that are doubtful; nothing where none is."""
    share = doubtful_share(row["doubtful_calls"], row["count"])
    return small_share_text(share) if share else ""


def _row(row: dict[str, Any], unit: Unit, names: RowNames) -> list[str]:
    total = row[total_column(unit)]
    average = row["average_ns"] if unit == "time" else (None if total is None else total // max(row["count"], 1))
    return [
        names.of(row),
        count_text(row["count"]),
        figure_text(total, unit),
        figure_text(average, unit),
        figure_text(row[self_column(unit)], unit),
        row["max_sub"] or "",
        count_text(row["max_sub_count"]) if row["max_sub"] else "",
    ]


def _print_head(out: Console, unit: Unit, clock: str, what: str) -> None:
    head = f"{'Instructions' if unit == 'instructions' else clock.capitalize()}, {what}"
    print_wrapped(out, Text(printable(head), style="dim"))


def print_tree(out: Console, rows: Sequence[ContextRow], unit: Unit, clock: str, what: str) -> None:
    """Print the calling-context tree; a node's own and the lines right below it add up to its total."""
    totals = [row.total for row in rows if row.depth == 0 and row.total is not None]
    whole = sum(totals)
    deepest = max((row.depth for row in rows), default=0)
    _print_head(out, unit, clock, what)
    print_line(out)
    figures = [
        Column("Total", number=True),
        Column("Share", number=True),
        Column("Local", number=True, style="bold", wide=80),
    ]
    columns = [Column("Count", number=True, wide=80), Column("Function", style="cyan", longest=100 + 2 * deepest)]
    # A deep tree takes one character for each level, so that names stay in sight.
    step = ("│" if is_unicode(out) else "|") + (" " if 4 * deepest <= out.width else "")
    body = [
        [
            figure_text(row.total, unit),
            share_text(row.total, whole),
            "" if row.pruned else figure_text(row.own, unit),
            "" if row.calls is None else count_text(row.calls),
            step * row.depth + (" " if row.depth and len(step) == 1 else "") + row.function,
        ]
        for row in rows
    ]
    if totals:
        print_table(out, figures + columns, body)
    else:  # the record only counts calls
        print_table(out, columns, [row[len(figures) :] for row in body])

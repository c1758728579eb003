"""Rows of a boot as a table of the terminal, as CSV or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import shown_limit

if TYPE_CHECKING:
    import polars as pl

    from firstlight.render.model.report import Block


class Form(NamedTuple):
    """How rows are printed: as many as this, as CSV, as JSON."""

    limit: int | None
    csv: bool
    json: bool


def sorted_rows(rows: pl.DataFrame, columns: Mapping[str, str], sort: str) -> pl.DataFrame:
    """Rows with the largest first, of equal ones the earlier first; or by their start alone.

    :param columns: by the keys of `--sort`, one of which is `start`.
    """
    by = [columns[sort], columns["start"]]
    return rows.sort(by, descending=[sort != "start", False], nulls_last=True, maintain_order=True)


def print_rows(
    boot: api.Boot,
    rows: pl.DataFrame,
    form: Form,
    title: str,
    key: str,
    report: Callable[[pl.DataFrame, pl.DataFrame], Iterator[Block]],
    hint: Callable[[], str],
    nothing: bool | None = None,
    **data: object,
) -> None:
    """Print rows of a boot.

    :param key: their name in JSON, behind *data*.
    :param report: makes the tables of the rows that are shown and those that are left out.
    :param hint: what to do about no rows.
    :param nothing: whether the boot has none at all; by default, whether these are none.
    """
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data

    nothing = rows.is_empty() if nothing is None else nothing
    shown = rows if form.limit is None else rows.head(form.limit)
    if form.csv:
        sys.stdout.write(shown.write_csv())
    elif form.json:
        remark = {"hint": hint()} if nothing else {}
        print_json(heading_data(boot) | data | {key: shown.to_dicts()} | remark)
    elif nothing:
        print_report(heading(boot, title))
        say_nothing(title.lower(), hint())
    else:
        number = shown_limit(form.limit)
        print_report(report(rows.head(number), rows.slice(number)))

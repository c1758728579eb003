"""Costs by sizes from a table of measurements, on boards for example."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

from firstlight.errors import BundleError, UsageError
from firstlight.experiment.scaling.costs import CostSeries
from firstlight.suggest import unknown_name
from firstlight.toml import read_text

_LARGEST = 64 << 20


def read_table(
    path: Path,
    *,
    size: str | None = None,
    cost: str | None = None,
    by: str | None = None,
    exact: bool = False,
    terms: Sequence[str] = (),
) -> list[CostSeries]:
    """Read sizes and costs from CSV or TSV with a line of names; every other column of numbers is a part of the cost.

    :param size: the column of sizes; the first when not given.
    :param cost: the column of costs; the next when not given.
    :param by: the column that names the configuration; one configuration when not given.
    :param exact: the costs have no noise.
    :param terms: columns of counts, joined by `*`, that the cost may grow with.
    :raises UsageError: when it cannot be read, or a column is missing or holds no numbers.

    >>> path = bundle.parent / "data.csv"
    >>> _ = path.write_text("n,total,probe\\n1,12,2\\n2,14,4\\n")
    >>> (only,) = read_table(path)
    >>> only.sizes, only.costs, only.parts
    ([1.0, 2.0], [12.0, 14.0], [{'probe': 2.0}, {'probe': 4.0}])
    """
    where = str(path)
    text = read_text(path, encoding="utf-8-sig", largest=_LARGEST)
    head = text.partition("\n")[0]
    separator = max("\t;,", key=head.count)
    try:
        names, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)] or [[]]
    except csv.Error as error:
        raise UsageError(f"this is not a table: {error}", where=where) from error
    names = [name.strip() for name in names]
    if len(names) < 2 or len(set(names)) < len(names):
        hint = "the first line names the columns, each once: the size, the cost, and its parts"
        raise UsageError("this is not a table of sizes and costs", where=where, hint=hint)
    columns = [name for name in names if name != by]
    size = size if size is not None else columns[0]
    cost = cost if cost is not None else next((name for name in columns if name != size), columns[0])
    for name in (size, cost, *([by] if by is not None else []), *(name for term in terms for name in term.split("*"))):
        _check_column(name, names, where)
    found: dict[str, CostSeries] = {}
    for line, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise UsageError(f"{len(row)} fields, there are {len(names)} columns", where=f"{where}:{line}")
        cells = dict(zip(names, row, strict=True))
        name = cells[by].strip() if by is not None else ""
        measured = found.setdefault(name, CostSeries(name, exact=exact, terms=tuple(terms)))
        figures = {column: _number(cells[column], column, f"{where}:{line}") for column in columns}
        for column in (size, cost):
            _check_figure(figures[column], column, f"{where}:{line}")
        measured.sizes.append(figures.pop(size))
        measured.costs.append(figures.pop(cost))
        measured.parts.append(figures)
    if not found:
        raise UsageError("this table has no rows", where=where)
    return list(found.values())


def _check_column(name: str, names: list[str], where: str) -> None:
    try:
        unknown_name("column", name, names, where, listed=None)
    except BundleError as error:
        raise UsageError(error.message, where=where, hint=error.hint) from error


def _check_figure(figure: float, column: str, where: str) -> None:
    """Reject a size or a cost that no model fits, where it stands in the table."""
    if not math.isfinite(figure) or figure < 0:
        why = "is negative" if figure < 0 else "is not a number"
        raise UsageError(f"`{column}`: `{figure:g}` {why}", where=where, hint="correct this row, or leave it out")


def _number(text: str, column: str, where: str) -> float:
    try:
        return float(text.strip().replace("_", ""))
    except ValueError as error:
        hint = "a column of names can be given with `--by`"
        if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text):
            hint = "write a decimal point instead of the comma"
        raise UsageError(f"`{column}`: `{text[:40]}` is not a number", where=where, hint=hint) from error

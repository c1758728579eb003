"""Costs by sizes from a table of measurements, on boards for example."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.errors import BundleError, UsageError
from firstlight.experiment.scaling.costs import CostSeries
from firstlight.suggest import unknown_name
from firstlight.toml import read_text

_LARGEST = 64 << 20

#: A number whose digits are in groups of three, such as `1_000`.
_GROUPED = re.compile(r"[+-]?\d{1,3}(_\d{3})+(\.\d*)?([eE][+-]?\d+)?")

#: A number whose thousands commas may separate, such as `103,500`; with one comma it may be a decimal one, too.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


#: A number with one comma, which may be a decimal one.
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


@dataclass(frozen=True)
class CostTable:
    """Sizes and costs as a table has them, and the columns they came from."""

    size: str
    cost: str
    """The names of the columns."""
    series: tuple[CostSeries, ...]
    """One for each configuration."""
    notes: tuple[str, ...] = ()
    """Which columns were guessed, and which were left out."""


def read_table(
    path: Path,
    *,
    size: str | None = None,
    cost: str | None = None,
    by: str | None = None,
    exact: bool = False,
    terms: Sequence[str] = (),
) -> CostTable:
    """Read sizes and costs from CSV or TSV with a line of names; every other column of numbers is a part of the cost.

    A column of text is left out, with a note.

    :param size: the column of sizes; the first with numbers when not given.
    :param cost: the column of costs; the next with numbers when not given.
    :param by: the column that names the configuration; one configuration when not given.
    :param exact: the costs have no noise.
    :param terms: columns of counts, joined by `*`, that the cost may grow with.
    :raises UsageError: when it cannot be read, or a column is missing or holds no numbers.

    >>> path = bundle.parent / "data.csv"
    >>> _ = path.write_text("n,total,probe\\n1,12,2\\n2,14,4\\n")
    >>> found = read_table(path)
    >>> found.size, found.cost
    ('n', 'total')
    >>> (only,) = found.series
    >>> only.sizes, only.costs, only.parts
    ([1.0, 2.0], [12.0, 14.0], [{'probe': 2.0}, {'probe': 4.0}])
    """
    where = str(path)
    text = read_text(path, encoding="utf-8-sig", largest=_LARGEST)
    separator = max("\t;,", key=text.partition("\n")[0].count)
    (_, names), *rows = list(_rows(text, separator, where)) or [(1, [])]
    names = [name.strip() for name in names]
    if len(names) < 2 or len(set(names)) < len(names):
        hint = "the first line names the columns, each once: the size, the cost, and its parts"
        raise UsageError("this is not a table of sizes and costs", where=where, hint=hint)
    if all(_is_figure(name) for name in names):
        hint = "put a line of names first, such as `size,cost`"
        raise UsageError("the first line has numbers instead of the names of columns", where=where, hint=hint)
    counted = [name for term in terms for name in term.split("*")]
    for name in (*(each for each in (size, cost, by) if each is not None), *counted):
        _check_column(name, names, where)
    for line, row in rows:
        if len(row) != len(names):
            raise UsageError(f"{len(row)} fields, there are {len(names)} columns", where=f"{where}:{line}")
    columns = [name for name in names if name != by]
    text_columns = [name for name in columns if _is_text([row[names.index(name)] for _, row in rows])]
    # Columns of numbers come first: text is neither a size nor a cost.
    likely = sorted(columns, key=lambda name: name in text_columns)
    asked = size, cost
    size = size if size is not None else next((name for name in likely if name != cost), columns[0])
    cost = cost if cost is not None else next((name for name in likely if name != size), columns[0])
    left_out = [name for name in text_columns if name not in (size, cost, *counted)]
    columns = [name for name in columns if name not in left_out]
    found: dict[str, CostSeries] = {}
    for line, row in rows:
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
    notes = [*_guess_notes(size, cost, *asked), *_left_out_notes(left_out)]
    return CostTable(size, cost, tuple(found.values()), tuple(notes))


def _guess_notes(size: str, cost: str, asked_size: str | None, asked_cost: str | None) -> list[str]:
    """Which columns were taken for sizes and costs because no option names them."""
    guesses = [("the size", size, "--size", asked_size), ("the cost", cost, "--cost", asked_cost)]
    guessed = [each for each in guesses if each[3] is None]
    if not guessed:
        return []
    taken = " and ".join(f"`{name}` as {role}" for role, name, _, _ in guessed)
    options = " and ".join(f"`{option}`" for _, _, option, _ in guessed)
    others = "names another" if len(guessed) == 1 else "name others"
    return [f"the table was read with {taken}, by the order of its columns: {options} {others}"]


def _left_out_notes(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    what = "the column is text and was" if len(names) == 1 else "the columns are text and were"
    return [f"{listed}: {what} left out; `--by` takes a column as the configuration"]


def _is_text(cells: Sequence[str]) -> bool:
    """Whether less than half of a column's cells are numbers; with more, the others are mistakes.

    >>> _is_text(["2026-01-01", ""]), _is_text(["1234567", "12ab567", "98cd321"])
    (True, True)
    >>> _is_text(["1", "x"]), _is_text(["1,5"]), _is_text([])
    (False, False, False)
    """
    return 2 * sum(map(_is_number_like, cells)) < len(cells)


def _is_number_like(cell: str) -> bool:
    text = cell.strip()
    try:
        _figure(text)
    except ValueError:
        return re.fullmatch(r"[+-]?[\d_.,]*\d[\d_.,]*", text) is not None and text.count(".") < 2
    return True


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


def _rows(text: str, separator: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of its first line; a quoted cell may span lines."""
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"this is not a table: {error}", where=f"{where}:{line}") from error


def _is_figure(text: str) -> bool:
    """Whether a text is a finite number.

    >>> [_is_figure(text) for text in ("10", " 1_000.5", "2_0_0_0", "nan", "n", "")]
    [True, True, False, False, False, False]
    """
    try:
        return math.isfinite(_figure(text))
    except ValueError:
        return False


def _figure(text: str) -> float:
    """The number that a text is; `_` may separate groups of three digits."""
    if "_" in text and not _GROUPED.fullmatch(text.strip()):
        raise ValueError("digits are not grouped by three")
    return float(text.strip().replace("_", ""))


def _number(text: str, column: str, where: str) -> float:
    try:
        return _figure(text)
    except ValueError as error:
        if not text.strip():
            hint = "fill in the number, or leave the row out"
            raise UsageError(f"`{column}`: the cell is empty", where=where, hint=hint) from error
        hint = "a column of names can be given with `--by`"
        if _THOUSANDS.fullmatch(text.strip()):
            hint = f"write `{text.strip().replace(',', '')}` if the comma separates thousands"
            if _DECIMAL_COMMA.fullmatch(text):
                hint += f", or `{text.strip().replace(',', '.')}` if it is a decimal comma"
        elif _DECIMAL_COMMA.fullmatch(text):
            hint = "write a decimal point instead of the comma"
        elif "_" in text and _is_figure(text.replace("_", "")):
            hint = "write the number without `_`, or with one before every three digits"
        raise UsageError(f"`{column}`: `{text[:40]}` is not a number", where=where, hint=hint) from error

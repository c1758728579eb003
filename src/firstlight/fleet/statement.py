"""The user's own SQL over the tables of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped] # no stubs

from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.columns import SPANS
from firstlight.fleet.files import read_boots
from firstlight.fleet.layout import Fleet

_PLAIN = frozenset({
    "boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint", "float",
    "double", "decimal", "varchar", "null",
})  # fmt: skip
"""The types of DuckDB whose every value a data frame has, too."""
_WIDE = "hugeint"
"""What sums of whole numbers are: 128 bits, of which Arrow has no type."""
_LARGEST_RESULT = 256 << 20
"""Bytes of a result; a larger one is not an answer, but a copy of the fleet."""


_HINT = "the tables are `boots` and `spans`: docs/reference/formats/fleet.md has their columns"


def run_statement(fleet: Fleet, statement: str) -> pl.DataFrame:
    """Run one statement over `boots` and `spans`.

    DuckDB runs it without access to files, networks and extensions: what it reads are the two tables. Numbers, texts,
    and lists and structures of these have the types of Polars; all else is text, as DuckDB writes it: dates, intervals,
    binary values, maps.

    :raises UsageError: for what is not a single SELECT.
    :raises FirstlightError: when the engine refuses it, or the result has more than 256 MiB.
    """
    _check(statement)
    listing = fleet.listing()
    spans = [str(path) for path in fleet.paths(listing.spans)]
    boots = read_boots(fleet, listing.boots)
    connection = duckdb.connect(":memory:", config={"python_enable_replacements": "false"})
    try:
        connection.register("boots", boots.to_arrow())
        if spans:
            quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in spans)
            connection.execute(f"CREATE VIEW spans AS SELECT * EXCLUDE (day) FROM read_parquet([{quoted}], "
                               "hive_partitioning = true)")  # fmt: skip
            # These files and no others; nothing turns that back on.
            allowed = ", ".join("'" + path.replace("'", "''") + "'" for path in spans)
            connection.execute(f"SET allowed_paths = [{allowed}]")
        else:
            connection.register("spans", pl.DataFrame(schema=SPANS).to_arrow())
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return _rows(connection.sql(statement))
    except duckdb.Error as error:
        raise FirstlightError(f"DuckDB rejects the statement: {_first_line(error)}", where="SQL", hint=_HINT) from error
    except (pa.ArrowException, OSError) as error:
        # So its errors arrive once the result is being read.
        raise FirstlightError(f"DuckDB stopped: {_first_line(error)}", where="SQL", hint=_HINT) from error
    finally:
        connection.close()


def _rows(found: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """What a statement yields, in columns with names of their own and of plain types."""
    names = distinct_names(found.columns)
    inner = [f"c{number}" for number in range(len(names))]
    columns = [
        column if _is_plain(kind) else f"CAST({column} AS VARCHAR) AS {column}"
        for column, kind in zip(inner, found.types, strict=True)
    ]
    made = found.query("found", f"SELECT {', '.join(columns)} FROM found AS found({', '.join(inner)})")
    assert made is not None, "give a SELECT, which has a result"
    batches = made.to_arrow_reader()
    taken_in, size = [], 0
    for batch in batches:
        size += batch.nbytes
        if size > _LARGEST_RESULT:
            hint = "aggregate by `GROUP BY`, or end the statement with `LIMIT 1000`"
            raise FirstlightError(f"the result has more than {_LARGEST_RESULT >> 20} MiB", where="SQL", hint=hint)
        taken_in.append(batch)
    rows = pl.from_arrow(pa.Table.from_batches(taken_in, batches.schema))
    assert isinstance(rows, pl.DataFrame)
    wide = [column for column, kind in zip(inner, found.types, strict=True) if kind.id == _WIDE]
    rows = rows.with_columns(pl.col(wide).cast(pl.Int128))
    return rows.rename(dict(zip(inner, names, strict=True)))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of columns, those that were there before with a number.

    >>> distinct_names(["a", "a", "a_2"])
    ['a', 'a_3', 'a_2']
    """
    made: list[str] = []
    for name in names:
        taken = {*made, *names} if name in made else set()
        made.append(next(each for each in chain([name], (f"{name}_{n}" for n in count(2))) if each not in taken))
    return made


def _is_plain(kind: Any) -> bool:
    """Whether a data frame has every value of a type, as DuckDB describes it."""
    if kind.id in ("list", "array"):
        return _is_plain(dict(kind.children)["child"])
    if kind.id == "struct":
        return all(_is_plain(child) for _, child in kind.children)
    return kind.id in _PLAIN


def _check(statement: str) -> None:
    try:
        statement.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the statement is not valid UTF-8", where="SQL", hint="save or send it as UTF-8") from error
    try:
        parsed = duckdb.extract_statements(statement)
    except duckdb.Error as error:
        raise UsageError(f"no SQL: {_first_line(error)}", where="SQL", hint=_HINT) from error
    if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
        raise UsageError("only one SELECT can run", where="SQL", hint="only `firstlight fleet` changes a fleet")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

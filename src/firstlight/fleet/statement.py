"""The user's own SQL over the tables of a fleet."""

from __future__ import annotations

import re
from itertools import chain, count

import duckdb
import polars as pl

from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.boot_rows import SPANS
from firstlight.fleet.files import read_boots
from firstlight.fleet.layout import Fleet

_OWN_TYPES = re.compile(r"\b(?:INTERVAL|UNION|MAP|BIT|BIGNUM)\b")


def run_statement(fleet: Fleet, statement: str) -> pl.DataFrame:
    """Run one statement over `boots` and `spans`.

    DuckDB runs it without access to files, networks and extensions: what it reads are the two tables.

    :raises UsageError: for what is no single SELECT.
    :raises FirstlightError: when the engine refuses it.
    """
    listing = fleet.listing()
    spans = [str(path) for path in fleet.paths(listing.spans)]
    boots = read_boots(fleet, listing.boots)
    connection = duckdb.connect(":memory:")
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
        found = _with_plain_columns(connection.sql(_checked(statement))).to_arrow_table()
    except duckdb.Error as error:
        text = str(error).strip().splitlines()[0]
        hint = "the tables are `boots` and `spans`: docs/reference/formats/fleet.md has their columns"
        raise FirstlightError(f"DuckDB rejects the statement: {text}", where="SQL", hint=hint) from error
    finally:
        connection.close()
    try:
        made = pl.from_arrow(found)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        hint = "cast the column to text: `CAST(… AS VARCHAR)`"
        raise FirstlightError(
            "a column of the result has values that no table holds", where="SQL", hint=hint
        ) from error
    assert isinstance(made, pl.DataFrame)
    return made


def _with_plain_columns(found: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """A result whose columns have names of their own, and as text what only DuckDB has a type for."""
    names: list[str] = []
    for name in found.columns:
        taken = {*names, *found.columns} if name in names else set()
        names.append(next(each for each in chain([name], (f"{name}_{n}" for n in count(2))) if each not in taken))
    inner = [f"c{number}" for number in range(len(names))]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = [
        f"{f'CAST({column} AS VARCHAR)' if _OWN_TYPES.search(str(kind)) else column} AS {name}"
        for column, name, kind in zip(inner, quoted, found.types, strict=True)
    ]
    made = found.query("found", f"SELECT {', '.join(columns)} FROM found AS found({', '.join(inner)})")
    assert made is not None, "a SELECT has a result"
    return made


def _checked(statement: str) -> str:
    try:
        parsed = duckdb.extract_statements(statement)
    except duckdb.Error as error:
        raise UsageError(f"no SQL: {str(error).strip().splitlines()[0]}", where="SQL") from error
    if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
        raise UsageError("only one SELECT is run", where="SQL", hint="a fleet is changed by `firstlight fleet` alone")
    return statement

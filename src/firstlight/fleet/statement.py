"""The user's own SQL over the tables of a fleet."""

from __future__ import annotations

import duckdb
import polars as pl

from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.boot_rows import SPANS
from firstlight.fleet.files import read_boots
from firstlight.fleet.layout import Fleet


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
        found = connection.sql(_checked(statement)).to_arrow_table()
    except duckdb.Error as error:
        text = str(error).strip().splitlines()[0]
        hint = "the tables are `boots` and `spans`: docs/reference/formats/fleet.md has their columns"
        raise FirstlightError(f"DuckDB rejects the statement: {text}", where="SQL", hint=hint) from error
    finally:
        connection.close()
    made = pl.from_arrow(found)
    assert isinstance(made, pl.DataFrame)
    return made


def _checked(statement: str) -> str:
    try:
        parsed = duckdb.extract_statements(statement)
    except duckdb.Error as error:
        raise UsageError(f"no SQL: {str(error).strip().splitlines()[0]}", where="SQL") from error
    if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
        raise UsageError("only one SELECT is run", where="SQL", hint="a fleet is changed by `firstlight fleet` alone")
    return statement

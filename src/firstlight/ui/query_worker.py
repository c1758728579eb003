"""The process that runs one query: started by `query`, which ends it when it takes too long.

It gets a job as JSON on standard input, and writes one JSON document to standard output. DuckDB runs in memory, without
access to files, networks, extensions and Python's variables; the configuration is locked before the query is seen.
"""

from __future__ import annotations

import json
import math
import re
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.tables import SCHEMAS
from firstlight.errors import FirstlightError

#: No more characters of one value than this.
LONGEST_VALUE = 2_000
_MEMORY = "1GB"
#: Addresses that the process may have, in bytes: what DuckDB does not count counts here.
_ADDRESSES = 16 << 30
_LARGEST_EXACT = 1 << 53

_SETTINGS = (
    "temp_directory = ''",
    f"memory_limit = '{_MEMORY}'",
    "threads = 2",
    "enable_progress_bar = false",
    "python_enable_replacements = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "allow_community_extensions = false",
    "enable_external_access = false",
    "lock_configuration = true",
)
_RUN = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
#: Types that JSON has; all others are shown as text.
_FIGURES = frozenset(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE".split()
)


class _Stream:
    """A frame as DuckDB reads it without further packages: by Arrow's C interface."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def analyses() -> Mapping[str, Callable[[Boot], pl.DataFrame]]:
    """The tables that a query has beside those of the bundle, each with the function that makes it."""
    from firstlight.analysis.devices import devices
    from firstlight.analysis.initcalls import initcalls
    from firstlight.analysis.uevents import uevents
    from firstlight.analysis.units import units

    return {
        "phases": lambda boot: boot.phases(),
        "functions": lambda boot: boot.functions(),
        "initcalls": initcalls,
        "devices": devices,
        "uevents": uevents,
        "units": units,
    }


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run the statement of a job over the tables of a boot.

    :param job: `bundle`, `statement` and `rows`.
    :raises FirstlightError: for a statement that DuckDB refuses, or a bundle that cannot be read.

    >>> found = run({"bundle": str(bundle), "statement": "select count(*) as marks from marks", "rows": 10})
    >>> found["columns"], found["rows"]
    ([['marks', 'BIGINT']], [[17]])
    """
    boot, statement = open_boot(job["bundle"]), str(job["statement"])
    connection = duckdb.connect(":memory:")
    try:
        for name, frame in _tables(boot, statement).items():
            connection.register(name, _Stream(frame))
        for setting in _SETTINGS:
            connection.execute(f"SET {setting}")
        try:
            return _found(connection, statement, int(job["rows"]))
        except duckdb.Error as error:
            text = str(error).strip()[:2_000] or type(error).__name__
            hint = f"the tables are {', '.join([*SCHEMAS, *analyses()])}"
            raise FirstlightError(text, where="SQL", hint=hint) from error
    finally:
        connection.close()


def _tables(boot: Boot, statement: str) -> dict[str, pl.DataFrame]:
    """The tables that a statement may mean: those whose names are words of it, else all of the bundle."""
    words = set(re.findall(r"\w+", statement.lower()))
    made = analyses()
    named = [name for name in SCHEMAS if name in words]
    found = {name: boot.table(name) for name in named or ([] if words & made.keys() else SCHEMAS)}
    for name, make in made.items():
        if name in words:
            found[name] = make(boot)
    return found


def _found(connection: duckdb.DuckDBPyConnection, statement: str, rows: int) -> dict[str, Any]:
    parsed = duckdb.extract_statements(statement)
    if len(parsed) != 1 or parsed[0].type not in _RUN:
        raise FirstlightError("only one SELECT can run", where="SQL", hint="the tables of a boot are never changed")
    relation = connection.sql(parsed[0].query)
    types = [str(each) for each in relation.types]
    shown = ", ".join(
        f"#{place}" if kind in _FIGURES else f"left(CAST(#{place} AS VARCHAR), {LONGEST_VALUE + 1})"
        for place, kind in enumerate(types, start=1)
    )
    # The names of columns may repeat: they are known by their places.
    taken = relation.limit(rows + 1).project(shown).fetchall()
    return {
        "columns": [list(pair) for pair in zip(relation.columns, types, strict=True)],
        "rows": [[_value(value) for value in row] for row in taken[:rows]],
        "more": len(taken) > rows,
    }


def _value(value: object) -> object:
    """A value that JSON has; numbers that JavaScript and others would round are texts."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _LARGEST_EXACT else str(value)
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return f"{value[:LONGEST_VALUE]}…"
    return value if value is None or isinstance(value, (bool, str)) else str(value)


def main() -> None:
    """Run the job of standard input."""
    job = json.load(sys.stdin)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        if not Path(job["bundle"]).is_absolute():
            raise FirstlightError("the path of the bundle is relative")
        answer = run(job)
    except FirstlightError as error:
        answer = {"error": error.message, "where": error.where, "hint": error.hint}
    except MemoryError:
        answer = {"error": "the query needs too much memory", "where": "SQL", "hint": None}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()

"""Reading the Parquet tables of a bundle."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from firstlight.errors import BundleError
from firstlight.schema.aliases import ALIASES

#: Every table of a bundle with its columns, as `docs/reference/formats/boot-bundle.md` specifies them.
SCHEMAS: dict[str, dict[str, pl.DataType]] = {
    "marks": {
        "mark": pl.String(),
        "time_ns": pl.Int64(),
        "instructions": pl.Int64(),
        "idle_ns": pl.Int64(),
        "source": pl.String(),
        "detail": pl.String(),
    },
    "spans": {
        "span": pl.Int64(),
        "parent": pl.Int64(),
        "kind": pl.String(),
        "name": pl.String(),
        "track": pl.String(),
        "level": pl.String(),
        "start_ns": pl.Int64(),
        "end_ns": pl.Int64(),
        "instructions": pl.Int64(),
        "idle_ns": pl.Int64(),
        "duration_ns": pl.Int64(),
        "grade": pl.String(),
        "reason": pl.String(),
        "source": pl.String(),
        "attributes": pl.String(),
    },
    "calls": {
        "node": pl.Int64(),
        "parent": pl.Int64(),
        "function": pl.String(),
        "module": pl.String(),
        "kind": pl.String(),
        "calls": pl.Int64(),
        "self_instructions": pl.Int64(),
        "total_instructions": pl.Int64(),
        "self_ns": pl.Int64(),
        "total_ns": pl.Int64(),
        "doubtful_calls": pl.Int64(),
    },
    "phase_calls": {
        "node": pl.Int64(),
        "phase": pl.String(),
        "calls": pl.Int64(),
        "self_instructions": pl.Int64(),
        "self_ns": pl.Int64(),
    },
    "log": {
        "line": pl.Int64(),
        "time_ns": pl.Int64(),
        "source": pl.String(),
        "text": pl.String(),
        "host_ns": pl.Int64(),
        "level": pl.Int64(),
        "caller": pl.String(),
        "channel": pl.String(),
    },
    "counters": {"counter": pl.String(), "time_ns": pl.Int64(), "value": pl.Int64()},
    "facts": {"fact": pl.String(), "value": pl.String()},
    "links": dict.fromkeys(("kind", "from_kind", "from_name", "to_kind", "to_name", "source"), pl.String()),
    "kd": {
        "function": pl.String(),
        "count": pl.Int64(),
        "time_us": pl.Int64(),
        "average_us": pl.Int64(),
        "min_us": pl.Int64(),
        "max_us": pl.Int64(),
        "sub_time_us": pl.Int64(),
        "local_us": pl.Int64(),
        "max_sub": pl.String(),
        "max_sub_count": pl.Int64(),
        "sub_list": pl.String(),
        "source": pl.String(),
    },
    "threads": {
        "thread": pl.Int64(),
        "kind": pl.String(),
        "first_name": pl.String(),
        "name": pl.String(),
        "start_ns": pl.Int64(),
        "end_ns": pl.Int64(),
        "user_start_ns": pl.Int64(),
        "run_ns": pl.Int64(),
        "idle_ns": pl.Int64(),
        "instructions": pl.Int64(),
        "runs": pl.Int64(),
    },
    "thread_names": {"thread": pl.Int64(), "time_ns": pl.Int64(), "name": pl.String()},
    "runs": dict.fromkeys(("thread", "start_ns", "end_ns", "instructions", "idle_ns"), pl.Int64()),
}

#: What schema version 2 added to the tables of version 1; an older bundle reads as if it were null.
ADDED_COLUMNS: dict[str, tuple[str, ...]] = {
    "calls": ("doubtful_calls",),
    "spans": ("duration_ns", "grade", "reason", "source", "attributes"),
    "log": ("host_ns", "level", "caller", "channel"),
}

#: More rows are no boot: that of a whole distribution has less than a million.
MOST_ROWS = 100_000_000

#: The tables that were added since version 1; a bundle without them reads as if they had no rows.
ADDED_TABLES = ("links", "kd", "threads", "thread_names", "runs")


def read_table(bundle: Path, table: str, rows: int | None = None) -> pl.DataFrame:
    """Read a table of the bundle at *bundle*, with exactly the columns of its schema.

    :param table: a name in :data:`SCHEMAS`.
    :param rows: how many rows the manifest promises; not checked when not given.
    :raises BundleError: when the file is missing, damaged, or holds something else.

    >>> read_table(bundle, "marks").columns[:2]
    ['mark', 'time_ns']
    """
    path = bundle / f"{table}.parquet"
    if table in ADDED_TABLES and rows is None and not path.exists():
        return pl.DataFrame(schema=SCHEMAS[table])
    if not path.is_file():
        raise BundleError(
            f"the table `{table}` is missing", where=str(path), hint="the bundle is incomplete; record the boot again"
        )
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        hint = "permission denied: ask its owner for access, or copy the bundle as its owner"
        message = f"the table `{table}` cannot be read: {error.strerror}"
        raise BundleError(
            message, where=str(path), hint=hint if isinstance(error, PermissionError) else None
        ) from error
    try:
        # A few bytes can stand for any number of rows.
        if pl.scan_parquet(path, glob=False).select(pl.len()).collect().item() > MOST_ROWS:
            raise _damaged(path, f"it says that it has more than {MOST_ROWS:,} rows")
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False, memory_map=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, str(error).partition("\n")[0]) from error
    except pl.exceptions.PanicException as error:  # a base exception: Polars meets some damage with a panic
        raise _damaged(path, "it cannot be decoded") from error
    schema = SCHEMAS[table]
    older = [column for column in ADDED_COLUMNS.get(table, ()) if column not in frame.columns]
    frame = frame.with_columns(pl.lit(None, schema[column]).alias(column) for column in older)
    for column, dtype in schema.items():
        if column not in frame.columns:
            raise _damaged(path, f"column `{column}` is missing")
        if frame.schema[column] != dtype:
            raise _damaged(path, f"column `{column}` is {frame.schema[column]} instead of {dtype}")
    if rows is not None and frame.height != rows:
        raise _damaged(path, f"it has {frame.height} rows instead of {rows}")
    if table == "calls":
        _check_tree(path, frame)
    return _in_present_words(table, frame.select(*schema))


def _in_present_words(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Resolve the spellings of earlier versions of the schema."""
    renamed = {column: ALIASES.get(f"{table}.{column}") for column in frame.columns}
    return frame.with_columns(pl.col(column).replace(dict(names)) for column, names in renamed.items() if names)


def _damaged(path: Path, detail: str) -> BundleError:
    hint = "the file was cut off or changed; copy the bundle again, or record it again"
    return BundleError(f"damaged table: {detail}", where=str(path), hint=hint)


def _check_tree(path: Path, calls: pl.DataFrame) -> None:
    """Nodes are numbered from 0, the root; every other node has a parent that comes before it."""
    node = pl.int_range(pl.len(), dtype=pl.Int64)
    parent = pl.col("parent")
    right = (pl.col("node") == node) & pl.when(node == 0).then(parent.is_null()).otherwise(
        parent.is_between(0, node - 1)
    )
    wrong = calls.select(node.filter(~right.fill_null(False))).to_series()
    if not wrong.is_empty():
        raise _damaged(path, f"row {wrong[0]} is no node of a tree whose parents come first")

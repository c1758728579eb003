"""Reading the Parquet tables of a bundle."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from firstlight.bundle.older import HandOver, may_change, present_facts, present_phase_calls, present_spans
from firstlight.errors import BundleError
from firstlight.schema.aliases import ALIASES

_TYPES: dict[str, pl.DataType] = {"": pl.String(), "int": pl.Int64()}


def columns(text: str) -> dict[str, pl.DataType]:
    """The columns of a table from a list of names: text, or whole numbers where `:int` follows the name.

    >>> columns("mark time_ns:int")
    {'mark': String, 'time_ns': Int64}
    """
    names = (word.partition(":") for word in text.split())
    return {name: _TYPES[kind] for name, _, kind in names}


#: Every table of a bundle with its columns, as `docs/reference/formats/boot-bundle.md` specifies them.
SCHEMAS: dict[str, dict[str, pl.DataType]] = {
    "marks": columns("mark time_ns:int instructions:int idle_ns:int source detail"),
    "spans": columns(
        "span:int parent:int kind name track level start_ns:int end_ns:int instructions:int idle_ns:int "
        "duration_ns:int grade reason source attributes"
    ),
    "calls": columns(
        "node:int parent:int function module kind calls:int self_instructions:int total_instructions:int self_ns:int "
        "total_ns:int doubtful_calls:int"
    ),
    "phase_calls": columns("node:int phase calls:int self_instructions:int self_ns:int"),
    "slices": columns("slice:int start_ns:int end_ns:int instructions:int idle_ns:int"),
    "slice_calls": columns("slice:int node:int calls:int self_instructions:int"),
    "slice_threads": columns(
        "slice:int thread:int user_instructions:int kernel_instructions:int interrupt_instructions:int idle_ns:int"
    ),
    "slice_system_calls": columns("slice:int call:int kernel_instructions:int"),
    "slice_user_functions": columns("slice:int row:int self_instructions:int"),
    "log": columns("line:int time_ns:int source text host_ns:int level:int caller channel"),
    "counters": columns("counter time_ns:int value:int"),
    "facts": columns("fact value"),
    "links": columns("kind from_kind from_name to_kind to_name source"),
    "kd": columns(
        "function count:int time_us:int average_us:int min_us:int max_us:int sub_time_us:int local_us:int max_sub "
        "max_sub_count:int sub_list source"
    ),
    "threads": columns(
        "thread:int kind first_name name start_ns:int end_ns:int user_start_ns:int run_ns:int idle_ns:int "
        "instructions:int runs:int pid:int process:int user_instructions:int interrupt_instructions:int"
    ),
    "thread_names": columns("thread:int time_ns:int name"),
    "runs": columns(
        "thread:int start_ns:int end_ns:int instructions:int idle_ns:int user_instructions:int "
        "interrupt_instructions:int state:int node:int cpu:int"
    ),
    "processes": columns(
        "process:int pid:int parent:int name image arguments cgroup start_ns:int end_ns:int status:int threads:int "
        "user_instructions:int kernel_instructions:int interrupt_instructions:int idle_ns:int"
    ),
    "images": columns("process:int thread:int start_ns:int image arguments cgroup"),
    "wakeups": columns("time_ns:int waker:int wakee:int interrupt:int"),
    "system_calls": columns(
        "call:int thread:int name start_ns:int end_ns:int kernel_instructions:int interrupt_instructions:int "
        "result:int path argument_0:int argument_1:int argument_2:int user_function:int"
    ),
    "user_functions": columns(
        "row:int process:int thread:int image kind file build_id function source offset:int address:int "
        "self_instructions:int"
    ),
    "packages": columns("path package version"),
}

#: What was added to tables since version 1; an older bundle reads as if it were null.
ADDED_COLUMNS: dict[str, tuple[str, ...]] = {
    "calls": ("doubtful_calls",),
    "spans": ("duration_ns", "grade", "reason", "source", "attributes"),
    "log": ("host_ns", "level", "caller", "channel"),
    "threads": ("pid", "process", "user_instructions", "interrupt_instructions"),
    "runs": ("user_instructions", "interrupt_instructions", "state", "node", "cpu"),
    "system_calls": ("user_function",),
}

#: More rows are not boots: that of a whole distribution has less than a million.
MOST_ROWS = 100_000_000

#: The tables that were added since version 1; a bundle without them reads as if they had no rows.
ADDED_TABLES = (
    *("links", "kd", "threads", "thread_names", "runs"),
    *("processes", "images", "wakeups", "system_calls", "user_functions", "packages"),
    *("slices", "slice_calls", "slice_threads", "slice_system_calls", "slice_user_functions"),
)


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
    return _in_present_words(bundle, table, frame.select(*schema))


def _in_present_words(bundle: Path, table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Resolve the spellings of earlier versions of the schema."""
    if table == "facts":
        return present_facts(frame)
    if table == "phase_calls" and may_change(frame["phase"]):
        return present_phase_calls(frame, _hand_over(bundle))
    if table == "spans" and may_change(frame.filter(pl.col("kind") == "phase")["name"]):
        frame = present_spans(frame, _hand_over(bundle))
    renamed = {column: ALIASES.get(f"{table}.{column}") for column in frame.columns}
    return frame.with_columns(pl.col(column).replace(dict(names)) for column, names in renamed.items() if names)


def _hand_over(bundle: Path) -> HandOver:
    return HandOver.of(read_table(bundle, "marks").select("mark", "detail").iter_rows())


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
        raise _damaged(path, f"row {wrong[0]} is not a node of a tree whose parents come first")

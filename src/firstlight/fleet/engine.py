"""The engines that a fleet is analysed with: DuckDB in this process, or Spark.

An analysis is an expression of Ibis over two tables; each engine gets its SQL from there. `docs/design/fleets.md` lists
the operations that analyses may use: those whose answers both engines are tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import ibis
import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.columns import BOOTS, SPANS
from firstlight.fleet.files import boot_attributes, read_boots
from firstlight.fleet.layout import Fleet

SLICE_ROWS = 30_000_000
"""Rows of parts that an engine takes at once where it has to hold the figures of a part together."""
_LOOKED_AT = ("boot", "status", "total_ns")
"""Columns of boots that analyses look at, besides attributes and digests."""
_SHUFFLES = "8"
"""Parts that Spark divides a local table into; its own 200 are for a cluster."""


class Engine(StrEnum):
    """What runs the analyses."""

    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(frozen=True)
class Tables:
    """The tables of a fleet in an engine."""

    boots: ir.Table
    """A row for each boot: what analyses choose boots by, and their attributes."""
    digests: ir.Table
    """The number and the digest of each boot."""
    spans: ir.Table
    backend: Any
    """The connection, as Ibis has it."""
    span_rows: int = 0

    def rows(self, expression: ir.Table) -> pl.DataFrame:
        """What an expression yields.

        :raises FirstlightError: when the engine fails.
        """
        try:
            found = self.backend.to_pyarrow(expression)
        except Exception as error:  # each engine has errors of its own
            text = str(error).strip().splitlines()
            raise FirstlightError(f"the engine failed: {text[0] if text else type(error).__name__}") from error
        made = pl.from_arrow(found)
        assert isinstance(made, pl.DataFrame)
        return made

    def by_name(
        self, make: Callable[[Tables], ir.Table], kinds: Sequence[str] | None = None, most: int | None = None
    ) -> pl.DataFrame:
        """What an expression yields that groups by the name of parts, in slices of names: memory grows no further.

        :param make: the expression, from tables with the parts of some names.
        :param kinds: the kinds of parts that it looks at; all when not given.
        :param most: rows of a slice; :data:`SLICE_ROWS` when not given.
        :raises FirstlightError: when the engine fails.
        """
        most = most or SLICE_ROWS
        if self.span_rows <= most:
            return self.rows(make(self))
        wanted = self.spans if kinds is None else self.spans.filter(_.kind.isin(kinds))
        counts = self.rows(wanted.group_by("name").agg(rows=_.count())).sort("name")
        if counts["rows"].sum() <= most:
            return self.rows(make(replace(self, spans=wanted)))
        slices: list[list[str]] = [[]]
        rows = 0
        for name, number in counts.iter_rows():
            if rows and rows + number > most:
                slices.append([])
                rows = 0
            slices[-1].append(name)
            rows += number
        # All names between two: that costs an engine less than a look-up of each.
        ranges = [wanted.filter(_.name.between(names[0], names[-1])) for names in slices]
        return pl.concat([self.rows(make(replace(self, spans=spans))) for spans in ranges])

    def sql(self, expression: ir.Table) -> str:
        """The SQL of an expression in the engine's dialect."""
        return str(ibis.to_sql(expression, dialect=self.backend.name))


@contextmanager
def tables_of(fleet: Fleet, engine: str = "duckdb") -> Iterator[Tables]:
    """The tables of a fleet in an engine, as its list is now.

    :param engine: `duckdb`, `spark`, or the URL of a Spark cluster (`spark://HOST:7077`).
    :raises UsageError: for an unknown engine, or one whose packages are missing.
    :raises FirstlightError: when a file is missing or damaged.
    """
    listing = fleet.listing()
    spans = [str(path) for path in fleet.paths(listing.spans)]
    # A session of Spark that was there before is the caller's, who may go on with it.
    stays = engine != Engine.DUCKDB and _has_session()
    backend = _spark(engine) if engine != Engine.DUCKDB else _duckdb()
    try:
        if spans:
            table = backend.read_parquet(spans) if engine == Engine.DUCKDB else _read_by_spark(backend, spans)
        else:
            table = ibis.memtable(pl.DataFrame(schema=SPANS).to_arrow())
        if engine == Engine.DUCKDB and listing.boots:
            boots, digests = _boots_by_duckdb(backend, fleet, listing.boots)
        else:
            boots = ibis.memtable(read_boots(fleet, listing.boots).to_arrow())
            digests = boots.select("boot", "digest")
        rows = sum(pl.scan_parquet(path).select(pl.len()).collect().item() for path in spans)
        yield Tables(boots, digests, table.select(list(SPANS)), backend, rows)
    finally:
        if not stays:
            backend.disconnect()


def _boots_by_duckdb(backend: Any, fleet: Fleet, files: Sequence[str]) -> tuple[ir.Table, ir.Table]:
    """The boots and their digests, read by DuckDB: in a frame, those of a large fleet take more memory than answers.

    The boots become a table of DuckDB, which knows then how many there are, and joins parts with them in the right
    order. It has what analyses look at alone, which is half of the bytes. Digests stay in the files.
    """
    attributes = boot_attributes(fleet, files)
    table = backend.read_parquet([str(path) for path in fleet.paths(files)], union_by_name=True)
    types = {name: "int64" if BOOTS[name] == pl.Int64 else "string" for name in _LOOKED_AT}
    types |= dict.fromkeys(attributes, "string")
    wanted = table.select(**{name: table[name].cast(kind) for name, kind in types.items()})
    boots: ir.Table = backend.create_table("boots", wanted, temp=True)
    return boots, table.select(boot=table.boot.cast("int64"), digest=table.digest.cast("string"))


def _read_by_spark(backend: Any, files: list[str]) -> ir.Table:
    session = backend._session
    session.read.parquet(*files).createOrReplaceTempView("spans")
    found: ir.Table = backend.table("spans")
    return found


def _duckdb() -> Any:
    backend = ibis.duckdb.connect()
    backend.raw_sql("SET enable_progress_bar = false")
    return backend


def _has_session() -> bool:
    """Whether this process has a session of Spark."""
    import sys

    # Where it was not loaded there is none, and loading it takes a while.
    loaded = sys.modules.get("pyspark.sql")
    return loaded is not None and loaded.SparkSession.getActiveSession() is not None


def _spark(engine: str) -> Any:
    """A session of Spark: local, or that of a cluster; the one that this process has, where it has one."""
    if engine != Engine.SPARK and not engine.startswith(("spark://", "local[", "yarn", "k8s://")):
        hint = "use `duckdb`, `spark`, or the URL of a cluster: `spark://HOST:7077`"
        raise UsageError(f"there is no engine `{engine}`", where="--engine", hint=hint)
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        hint = "`pip install 'ibis-framework[pyspark]==12.*'`, and Java 17"
        raise UsageError("Spark is not installed", where="--engine", hint=hint) from error
    master = "local[2]" if engine == Engine.SPARK else engine
    try:
        session = (
            SparkSession.builder.master(master)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", _SHUFFLES)
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
    except Exception as error:  # Java is missing, or the cluster is away
        hint = "Spark needs Java 17; is the cluster up?"
        raise FirstlightError(f"Spark does not start: {str(error).splitlines()[0]}", where=engine, hint=hint) from error
    if session.sparkContext.master != master:
        message = f"this process already has a Spark session on {session.sparkContext.master}"
        raise UsageError(message, where="--engine", hint="stop that session, or give its master as the engine")
    session.sparkContext.setLogLevel("ERROR")
    return ibis.pyspark.connect(session)

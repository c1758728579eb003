"""The difference of two calling-context trees of 200,000 nodes each: CPU time, reading both tables included.

The trees are those of a boot recorded here, cut or enlarged to the size; the other has every seventh node dearer, every
hundredth subtree gone, and as many new ones.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import polars as pl
from measuring.figures import arguments, line, spread, title

from firstlight import _core
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.rows import Row, RowDelta
from firstlight.comparison.exact.tree import TreeDifference, tree_difference
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions

NODES = 200_000


def main() -> None:
    """Bounded is the difference with its check; the engine alone is shown beside it."""
    runs = 3 if arguments(__doc__ or "").quick else 15
    title(f"Tree difference of two profiles of {NODES:,} nodes each")
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name:
        directory = Path(name)
        recorded = open_boot(record(RecordOptions(output=directory / "recorded.boot")))
        calls = sized(recorded.calls(), NODES)
        a, b = (bundle(directory, side, frame) for side, frame in (("a", calls), ("b", changed(calls))))
        engine, whole = [], []
        for _ in range(runs):
            start = time.process_time()
            _core.tree_difference(str(a), str(b))
            engine.append(time.process_time() - start)
        boots, row = (open_boot(a), open_boot(b)), whole_of(open_boot(a), open_boot(b))
        for boot in boots:
            boot.calls()  # opened and checked, as it is when functions are compared
        for _ in range(runs):
            start = time.process_time()
            difference = tree_difference(*boots, row)
            whole.append(time.process_time() - start)
        assert isinstance(difference, TreeDifference)
        line("nodes of A, of B, of both together", f"{boots[0].calls().height:,}, {boots[1].calls().height:,}, "
             f"{difference.all_nodes:,}; differing {difference.nodes.height:,}")  # fmt: skip
        left = difference.whole.change_ns - int(difference.nodes["self_change_ns"].sum()) - difference.rest.change_ns
        line("changes of the nodes less the change of the whole", f"{left} ns", "0")
        line("engine: reading, matching, adding up", spread(engine, "s CPU"))
        line("the same with the check of every sum", spread(whole, "s CPU"), "below 1 s CPU")


def sized(calls: pl.DataFrame, size: int) -> pl.DataFrame:
    """A tree cut after *size* nodes, or with copies of itself below its root until it has as many."""
    copies = [calls]
    while sum(copy.height for copy in copies) < size:
        offset = sum(copy.height for copy in copies)
        below = calls.filter(pl.col("parent").is_not_null())
        parent = pl.when(pl.col("parent") == 0).then(0).otherwise(pl.col("parent") + offset - 1)
        named = (
            pl.when(pl.col("parent") == 0)
            .then(pl.format("{}_{}", "function", pl.lit(len(copies))))
            .otherwise("function")
        )
        copies.append(below.with_columns(pl.col("node") + offset - 1, parent.alias("parent"), named.alias("function")))
    return pl.concat(copies).head(size)


def changed(calls: pl.DataFrame) -> pl.DataFrame:
    """The other tree: as large, with other figures, and other functions in some places."""
    node = pl.col("node")
    dearer = pl.when(node % 7 == 3).then(node % 1000 + 1).otherwise(0)
    return calls.with_columns(
        pl.col("self_ns") + dearer,
        pl.col("self_instructions") + dearer,
        pl.when(node % 100 == 51).then(pl.format("{}_new", "function")).otherwise("function").alias("function"),
    )


def bundle(directory: Path, name: str, calls: pl.DataFrame) -> Path:
    """A directory with the table of calls, and the manifest of the recorded boot."""
    import json

    from firstlight.bundle.tables import SCHEMAS
    from firstlight.cache import file_digest

    path = directory / f"{name}.boot"
    path.mkdir()
    manifest = json.loads((directory / "recorded.boot" / "manifest.json").read_text())
    columns = {column: calls[column].to_list() for column in SCHEMAS["calls"]}
    _core.write_table("calls", columns, str(path))
    manifest["tables"]["calls"] = {"rows": calls.height, "sha256": file_digest(path / "calls.parquet")}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def whole_of(a: Boot, b: Boot) -> Row:
    """The whole of both, as the profiles have it."""
    one, other = (RowDelta(int(boot.calls()["self_ns"].sum())) for boot in (a, b))
    return Row("all", one, other, kind="whole")


if __name__ == "__main__":
    main()

"""The tree and the functions in slices of time, as the report page has them: what a selection of time counts.

`docs/design/report-page.md` specifies the columns. The sums of all slices are the tree and the table of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.render.page.timeline.columns import varints
from firstlight.render.page.tree import PageTree, fold_parts

#: No more slices than this go into a page; of more, neighbours are put together.
MOST_SLICES = 600

#: A function has rows of its own if its total or its self is at least this share of the boot's instructions.
TOTAL_SHARE = 0.001
SELF_SHARE = 0.0002

Json = dict[str, Any]


def page_slices(boot: Boot, tree: PageTree, functions: pl.DataFrame | None) -> tuple[Json | None, bytes]:
    """The slices of a boot on the nodes of the page and on the rows of its function table; nothing without slices.

    :param tree: the folded tree.
    :param functions: the kd table of the boot, in the order of the page.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> from firstlight.render.page.tree import fold
    >>> opened = firstlight.open(bundle)
    >>> described, columns = page_slices(opened, fold(opened.calls()), opened.functions())
    >>> sum(described["instructions"]) == opened.manifest.totals.instructions
    True
    """
    slices = boot.slices()
    if slices.is_empty() or functions is None:
        return None, b""
    together = slices_together(boot)
    parts = (
        slices.group_by(pl.col("slice") // together, maintain_order=True)
        .agg(pl.col("end_ns").last(), pl.col("instructions", "idle_ns").sum())
        .sort("slice")
    )
    calls = boot.calls()
    large = _large(functions)
    rows, own = fold_parts(boot.slice_calls(), calls, tree, "slice"), _function_rows(boot, functions, large)
    columns = b"".join(
        (
            *slice_columns(rows, together, len(tree.parent), "node"),
            *slice_columns(own, together, functions.height + 1, "row"),
        )
    )
    idle = calls.filter(pl.col("kind") == "idle")["node"]
    kinds = functions["kind"].to_list()
    described = {
        "end_ns": parts["end_ns"].to_list(),
        "instructions": parts["instructions"].to_list(),
        "idle_ns": parts["idle_ns"].to_list(),
        "recorded": slices.height,
        "shift": boot.manifest.clock.icount_shift or 0,
        "idle_node": tree.place[int(idle[0])] if idle.len() else -1,
        "idle_functions": [row for row, kind in enumerate(kinds) if kind in ("idle", "root")],
        "idle_function": kinds.index("idle") if "idle" in kinds else -1,
        "smaller": functions.height - int(large.sum()),
        "bytes": len(columns),
    }
    return described, columns


def slices_together(boot: Boot) -> int:
    """How many slices of a boot are one of its page.

    >>> import firstlight
    >>> slices_together(firstlight.open(bundle))
    1
    """
    return -(-boot.slices().height // MOST_SLICES)


def _large(functions: pl.DataFrame) -> pl.Series:
    """Whether a function has rows of its own."""
    whole = pl.col("total_instructions").max()
    chosen = (pl.col("total_instructions") >= whole * TOTAL_SHARE) | (pl.col("self_instructions") >= whole * SELF_SHARE)
    return functions.select(chosen | pl.col("kind").is_in(["idle", "root"])).to_series()


def _function_rows(boot: Boot, functions: pl.DataFrame, large: pl.Series) -> pl.DataFrame:
    """`slice`, `row` of the page (behind the last one: the small functions), `count`, `below`, `self_instructions`."""
    from firstlight import _core  # the engine is only loaded where it is needed

    names, rows = (pl.DataFrame(frame) for frame in _core.slice_functions(str(boot.directory), False))
    key = ("function", "module", "kind")
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    places = functions.with_columns(large=large).select(
        *key, "large", place=pl.when("large").then(place).otherwise(functions.height)
    )
    named = names.with_row_index("row").join(places, on=key, how="left", nulls_equal=True)
    found = rows.join(named.select(pl.col("row").cast(pl.Int64), "place", "large"), on="row", how="inner")
    # What small functions called is in the rows of those.
    below = pl.when("large").then(pl.col("total_instructions") - pl.col("self_instructions")).otherwise(0)
    chosen = found.select("slice", pl.col("place").alias("row"), "count", below.alias("below"), "self_instructions")
    return chosen.group_by("slice", "row").agg(pl.all().sum())


def slice_columns(rows: pl.DataFrame, together: int, keys: int, key: str) -> Iterator[bytes]:
    """How many rows each key has; then of all rows the distance to the slice before, and each figure.

    :param rows: `slice`, the key, and figures.
    :param together: how many slices are one.
    :param keys: the number of keys.

    >>> rows = pl.DataFrame({"slice": [0, 3], "node": [1, 1], "calls": [2, 300]})
    >>> [list(column) for column in slice_columns(rows, 2, 3, "node")]
    [[0, 2, 0], [0, 1], [2, 172, 2]]
    """
    rows = rows.group_by(key, pl.col("slice") // together).agg(pl.all().exclude(key, "slice").sum()).sort(key, "slice")
    heights = dict(rows.group_by(key).len().iter_rows())
    yield varints(heights.get(number, 0) for number in range(keys))
    before = pl.col("slice").shift(1, fill_value=0).over(key)
    yield varints(rows.select(pl.col("slice") - before).to_series().to_list())
    for figure in rows.columns[2:]:
        yield varints(rows[figure].to_list())

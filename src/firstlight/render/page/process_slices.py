"""Processes and user functions in slices of time, as the report page has them.

`docs/design/report-page.md` specifies the columns. The sums of all slices are the tree of processes and the table of
user functions of the page.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.processes import sliced
from firstlight.analysis.processes.process_stacks import stack_parts
from firstlight.analysis.processes.user_functions import PLACE, user_functions
from firstlight.bundle.boot import Boot
from firstlight.render.page.process_nodes import ProcessTree
from firstlight.render.page.process_tree import MOST_FUNCTIONS
from firstlight.render.page.slices import slice_columns, slices_together
from firstlight.render.page.tree import PageTree, fold_parts

#: A user function has rows of its own if it executed, or had the kernel execute, at least this share of user mode.
SHARE = 0.0005

Json = dict[str, Any]


def page_process_slices(boot: Boot, tree: ProcessTree, folded: PageTree) -> tuple[Json | None, bytes]:
    """What processes and user functions did in the slices of a boot; nothing of boots without.

    :param tree: the tree of processes.
    :param folded: the same as the page has it.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> page_process_slices(firstlight.open(bundle), ProcessTree(), PageTree())
    (None, b'')
    """
    if not sliced.is_sliced(boot):
        return None, b""
    together = slices_together(boot)
    calls = tree.calls
    parts = pl.concat([stack_parts(boot, tree.place), tree.parts]).group_by("slice", "node").agg(pl.all().sum())
    parts = parts.filter(pl.any_horizontal(pl.col("calls", "self_instructions") != 0))
    nodes = fold_parts(parts, calls, folded, "slice")
    idle = calls.filter(pl.col("kind") == "idle")["node"]
    rows, shown, smaller = _function_rows(boot)
    columns = b"".join(
        (
            *slice_columns(nodes, together, len(folded.parent), "node"),
            *slice_columns(rows, together, shown + 1, "row"),
        )
    )
    idle_node = folded.place[int(idle[0])] if idle.len() else -1
    return {"idle_node": idle_node, "smaller": smaller}, columns


def _function_rows(boot: Boot) -> tuple[pl.DataFrame, int, int]:
    """`slice`, `row` of the page (behind the last one: the small functions), `self_instructions`, `calls` and
    `call_instructions`; the number of rows of the page, and how many functions are small.
    """
    every = user_functions(boot).with_row_index("place")
    shown = min(every.height, MOST_FUNCTIONS)
    least = int(every["self_instructions"].sum()) * SHARE
    worth = pl.max_horizontal("self_instructions", pl.col("call_instructions").fill_null(0)) >= least
    large = worth & (pl.col("place") < shown)
    place = pl.when(large).then(pl.col("place").cast(pl.Int64)).otherwise(shown)
    named = boot.table("user_functions").select("row", *PLACE)
    named = named.join(every.select(*PLACE, place=place), on=PLACE, how="inner", nulls_equal=True)
    named = named.select("row", "place")
    none = pl.lit(0, pl.Int64)
    own = boot.table("slice_user_functions").join(named, on="row", how="inner")
    made = sliced.slice_calls(boot).join(named, left_on="user_function", right_on="row", how="inner")
    parts = [
        own.select("slice", row="place", self_instructions="self_instructions", calls=none, call_instructions=none),
        made.select("slice", row="place", self_instructions=none, calls="began", call_instructions="own"),
    ]
    sums = pl.concat(parts).group_by("slice", "row").agg(pl.all().sum())
    return sums, shown, every.height - every.filter(large).height

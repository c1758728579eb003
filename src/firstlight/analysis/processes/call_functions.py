"""The kernel functions below system calls, by who made the calls, as far as slices of time show it.

The calling-context tree has one node for a call path, whoever led the kernel along it. In a slice of time in which one
caller alone made calls of a name, what the tree has below the function of that call is of this caller, exactly. Where
several did, it is not known whose it is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from firstlight.analysis.processes import sliced
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once

#: The kernel's function of a system call, of all architectures.
SYSTEM_CALL = re.compile(r"__[a-z0-9]+_sys_(\w+)")
#: What a caller is: a process, and the user function that makes the call.
CALLER = ("process", "user_function")


class CallFunctions(NamedTuple):
    """What the kernel executed in system calls."""

    functions: pl.DataFrame
    """`slice`, `name` of the call, the caller, `node` of the tree, `calls` and `self_instructions` of the node there:
    of the slices in which one caller made calls of this name."""
    several: pl.DataFrame
    """`slice`, `name`, the caller, `own`: the instructions of calls in slices in which several made such calls."""
    inside: frozenset[int]
    """The nodes of the tree at and below the function of a system call."""


@once
def call_functions(boot: Boot) -> CallFunctions:
    """The kernel functions in the system calls of each caller; nothing for boots without processes in slices.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> call_functions(firstlight.open(bundle)).functions.height
    0
    """
    numbers = ("slice", "process", "user_function", "node", "calls", "self_instructions")
    schema = {"slice": pl.Int64, "name": pl.String, **dict.fromkeys(numbers[1:], pl.Int64)}
    several = {"slice": pl.Int64, "name": pl.String, "process": pl.Int64, "user_function": pl.Int64, "own": pl.Int64}
    if not sliced.is_sliced(boot):
        return CallFunctions(pl.DataFrame(schema=schema), pl.DataFrame(schema=several), frozenset())
    nodes = _nodes(boot.calls())
    below = boot.slice_calls().join(nodes, on="node", how="inner")
    made = sliced.slice_calls(boot)
    alone = _alone(boot, made, below)
    functions = below.join(alone, on=["slice", "name"], how="inner").drop_nulls("process").select(*schema)
    left = made.filter(pl.col("own") > 0).join(alone, on=["slice", "name"], how="anti").drop_nulls("process")
    return CallFunctions(functions, left.select(*several), frozenset(nodes["node"]))


def _nodes(calls: pl.DataFrame) -> pl.DataFrame:
    """The `node`s at and below the functions of system calls, each with the `name` of its call."""
    number: list[int] = calls["node"].to_list()
    parents, kinds, functions = (calls[column].to_list() for column in ("parent", "kind", "function"))
    known = {name: found[1] for name in set(functions) if (found := SYSTEM_CALL.fullmatch(name or ""))}
    entered: set[int] = set()
    names: dict[int, str] = {}
    for node, parent, kind, function in zip(number, parents, kinds, functions, strict=True):
        if parent in names:
            names[node] = names[parent]
        elif kind == "syscall" or parent in entered:
            # The kernel's own code calls these functions, too, but not from the entry of system calls.
            if function in known:
                names[node] = known[function]
            else:
                entered.add(node)
    return pl.DataFrame({"node": list(names), "name": list(names.values())}, {"node": pl.Int64, "name": pl.String})


def _alone(boot: Boot, made: pl.DataFrame, below: pl.DataFrame) -> pl.DataFrame:
    """`slice` and `name` of the calls of which there is one caller, with this caller.

    What a call that never returned executed is not recorded, so nothing is concluded from the slice on in which one of
    the name began. Nor is it where the functions executed more than all calls of the name.
    """
    calls = boot.table("system_calls").filter(pl.col("end_ns").is_null())
    first = calls.select("name", first=sliced.slice_of(boot.slices(), calls["start_ns"]))
    first = first.group_by("name").agg(pl.col("first").min())
    every = made.group_by("slice", "name").agg(
        pl.struct(CALLER).n_unique().alias("callers"), pl.col(CALLER).first(), pl.col("own").sum()
    )
    executed = below.group_by("slice", "name").agg(pl.col("self_instructions").sum().alias("executed"))
    known = every.join(first, on="name", how="left").join(executed, on=["slice", "name"], how="inner")
    returned = pl.col("first").is_null() | (pl.col("slice") < pl.col("first"))
    return known.filter((pl.col("callers") == 1) & returned & (pl.col("executed") <= pl.col("own"))).select(
        "slice", "name", *CALLER
    )

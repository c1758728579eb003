"""The kernel functions below the system calls of processes: those of slices with one caller, exactly, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from bundles import write_table
from firstlight.analysis.processes.call_functions import call_functions
from firstlight.analysis.processes.process_stacks import process_stacks, stack_parts
from firstlight.render.page.process_nodes import ProcessTree
from firstlight.render.page.process_tree import process_tree
from invented_call_functions import with_call_functions
from invented_processes import make_processes

FIGURES = ["calls", "self_instructions"]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return with_call_functions(make_processes(tmp_path))


def by_path(tree: ProcessTree) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows of a tree by the names from its root on."""
    rows = tree.calls.rows(named=True)
    paths: list[tuple[str, ...]] = []
    for row in rows:
        above = () if row["parent"] is None else paths[row["parent"]]
        paths.append((*above, row["function"]))
    assert len(set(paths)) == len(paths)
    return dict(zip(paths, rows, strict=True))


def without_functions(boot: firstlight.Boot) -> dict[tuple[str, ...], dict[str, Any]]:
    """The tree without functions below calls."""
    tree = ProcessTree()
    for stack in process_stacks(boot):
        tree.add(stack)
    return by_path(tree)


def test_a_call_has_its_functions_and_the_sums_stay(bundle: Path) -> None:
    boot = firstlight.open(bundle)
    found = by_path(process_tree(boot))
    own = boot.table("system_calls").filter((pl.col("name") == "openat") & (pl.col("thread") == 3))
    call = next(path for path in found if path[-1] == "openat" and "svc" in path)
    executed = int(own["kernel_instructions"].sum())
    assert found[(*call, "__x64_sys_openat")]["self_instructions"] == executed // 4
    assert found[(*call, "__x64_sys_openat")]["calls"] == 1
    assert found[(*call, "__x64_sys_openat", "do_openat")]["self_instructions"] == executed // 2
    assert found[call]["self_instructions"] == executed - executed // 4 - executed // 2
    # Each call has what it had, and so has everything above.
    plain = without_functions(boot)
    for path, row in plain.items():
        assert [found[path][name] for name in ("calls", "total_instructions", "total_ns")] == [
            row[name] for name in ("calls", "total_instructions", "total_ns")
        ], path
    assert all(row["self_instructions"] >= 0 for row in found.values())


def test_the_slices_of_functions_sum_to_them(bundle: Path) -> None:
    boot = firstlight.open(bundle)
    tree = process_tree(boot)
    parts = pl.concat([stack_parts(boot, tree.place), tree.parts]).group_by("slice", "node").agg(pl.col(FIGURES).sum())
    assert (parts["self_instructions"] >= 0).all()
    sums = parts.group_by("node").agg(pl.col(FIGURES).sum())
    both = tree.calls.join(sums, on="node", how="left", suffix="_parts").fill_null(0)
    for figure in FIGURES:
        assert both[figure].to_list() == both[f"{figure}_parts"].to_list()
    for start, end in boot.slices().select("start_ns", "end_ns").tail(6).iter_rows():
        chosen = boot.interval(start, end)
        there = by_path(process_tree(boot, chosen))
        whole = by_path(tree)
        inside = parts.filter(pl.col("slice").is_between(chosen.first, chosen.last)).group_by("node")
        wanted = {row[0]: row[1:] for row in inside.agg(pl.col(FIGURES).sum()).iter_rows()}
        for path, row in there.items():
            if row["function"] != "[before the kernel]":
                assert wanted.get(whole[path]["node"], (0, 0)) == tuple(row[name] for name in FIGURES), path


def test_calls_of_two_callers_in_a_slice_are_not_divided(bundle: Path) -> None:
    calls = firstlight.open(bundle).table("system_calls")
    reads = calls.filter((pl.col("name") == "read") & (pl.col("thread") == 2))["call"].to_list()
    other = pl.when(pl.col("call") == reads[1]).then(4).otherwise("user_function")
    write_table(bundle, "system_calls", calls.with_columns(user_function=other.cast(pl.Int64)))
    boot = firstlight.open(bundle)
    found = call_functions(boot)
    shared = boot.table("slice_system_calls").filter(pl.col("call") == reads[1])["slice"][0]
    several = found.several.filter(pl.col("name") == "read")
    assert set(several["slice"]) == {shared}
    both = boot.table("slice_system_calls").filter((pl.col("slice") == shared) & pl.col("call").is_in(reads))
    assert several["own"].sum() == both["kernel_instructions"].sum()
    assert found.functions.filter((pl.col("slice") == shared) & (pl.col("name") == "read")).is_empty()
    # The first read began in a slice in which it is alone: it has functions, and what it did later is a row of its own.
    tree = by_path(process_tree(boot))
    rows = [
        row for path, row in tree.items() if path[-2:] == ("read", "[several callers]") and "udevadm settle" in path
    ]
    first = both.filter(pl.col("call") == reads[0])["kernel_instructions"].sum()
    assert [row["self_instructions"] for row in rows] == [first]


def test_nothing_is_concluded_after_a_call_that_never_returned(bundle: Path) -> None:
    boot = firstlight.open(bundle)
    calls, parts = boot.table("system_calls"), boot.table("slice_system_calls")
    never = (pl.col("name") == "openat") & (pl.col("thread") == 2)
    number = calls.filter(never)["call"][0]
    gone = {name: pl.when(never).then(None).otherwise(name) for name in ("end_ns", "kernel_instructions")}
    write_table(bundle, "system_calls", calls.with_columns(**gone))
    write_table(bundle, "slice_system_calls", parts.filter(pl.col("call") != number))
    found = call_functions(firstlight.open(bundle))
    assert found.functions.filter(pl.col("name") == "openat").is_empty()
    assert not found.functions.filter(pl.col("name") == "read").is_empty()


def test_functions_that_executed_more_than_the_calls_are_not_theirs(tmp_path: Path) -> None:
    found = call_functions(firstlight.open(with_call_functions(make_processes(tmp_path), too_much="openat")))
    assert found.functions.filter(pl.col("name") == "openat").is_empty()
    assert not found.functions.filter(pl.col("name") == "read").is_empty()

"""A bundle whose tables were changed, with digests made to fit: nothing is shown that does not add up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, write_table
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import SCHEMAS
from firstlight.cli.main import run
from firstlight.errors import BundleError
from invented_processes import make_processes

Change = Callable[[pl.DataFrame], pl.DataFrame]

here = pl.int_range(pl.len())
phase = pl.col("kind") == "phase"


def at(row: int, column: str, figure: pl.Expr) -> Change:
    """Another figure in one row of a table."""
    return lambda frame: frame.with_columns(pl.when(here == row).then(figure).otherwise(column).alias(column))


def all_of(*figures: pl.Expr) -> Change:
    return lambda frame: frame.with_columns(*figures)


def only(rows: pl.Expr) -> Change:
    return lambda frame: frame.filter(rows)


def changed(bundle: Path, table: str, change: Change) -> Boot:
    write_table(bundle, table, change(pl.read_parquet(bundle / f"{table}.parquet")))
    return firstlight.open(bundle)


def read_all(boot: Boot) -> None:
    for table in SCHEMAS:
        boot.table(table)


LATE = ["run_init", "user"]
DAMAGE: dict[str, tuple[str, Change, str]] = {
    "one function's self ten times": ("calls", at(7, "self_instructions", pl.col("self_instructions") * 10),
                                      "`self_instructions` sums to"),
    "time from nowhere": ("calls", at(7, "self_ns", pl.col("self_ns") + 1), "`self_ns` sums to"),
    "all totals three times": ("calls", all_of(pl.col("total_instructions") * 3),
                               "`total_instructions` of node 1 is"),
    "all total times three times": ("calls", all_of(pl.col("total_ns") * 3), "`total_ns` of node 1 is"),
    "self of one node given to another": (
        "calls", lambda frame: at(7, "self_instructions", pl.col("self_instructions") - 5)(
            at(8, "self_instructions", pl.col("self_instructions") + 5)(frame)), "and itself and all below it make"),
    "negative calls": ("calls", at(4, "calls", pl.lit(-1)), "`calls` of node 4 is -1, less than nothing"),
    "negative self": ("calls", at(4, "self_ns", pl.lit(-7)), "`self_ns` of node 4 is -7, less than nothing"),
    "sums that wrap around": ("calls", lambda frame: at(4, "self_ns", pl.col("self_ns") + (1 << 62))(
        at(5, "self_ns", pl.col("self_ns") + (1 << 62))(frame)), "`self_ns` sums to more than a boot can have"),
    "other calls": ("calls", at(4, "calls", pl.col("calls") + 1), "in all phases, and"),
    "a row of a phase twice": ("phase_calls", lambda frame: pl.concat([frame, frame.head(1)]), "in all phases, and"),
    "a node in another phase": ("phase_calls", at(3, "phase", pl.lit("user")), "the nodes executed"),
    "a phase that is none": ("phase_calls", at(3, "phase", pl.lit("lunch")), "there is no phase 'lunch'"),
    "negative in a phase": ("phase_calls", at(3, "self_ns", pl.lit(-2)), "is -2, less than nothing"),
    "a row of a slice twice": ("slice_calls", lambda frame: pl.concat([frame, frame.head(1)]), "in all slices, and"),
    "a node in another slice": ("slice_calls", at(40, "slice", pl.lit(1)), "the nodes executed"),
    "a slice that is none": ("slice_calls", at(40, "slice", pl.lit(4000)), "the nodes executed"),
    "negative in a slice": ("slice_calls", at(3, "calls", pl.lit(-2)), "is -2, less than nothing"),
    "a slice removed": ("slices", only(pl.col("slice") != 4), "its slices are not numbered from 0"),
    "the last slice removed": ("slices", only(pl.col("slice") < 31), "the slices end at"),
    "slices with a hole": ("slices", at(1, "start_ns", pl.col("start_ns") + 1), "no slice ends where one begins, at"),
    "a slice that executed more": ("slices", at(2, "instructions", pl.col("instructions") + 1), "lasts"),
    "a phase removed": ("spans", only(pl.col("name") != "early_init"), "no phase ends where one begins, at"),
    "the first phase removed": ("spans", only(pl.col("name") != "firmware"), "the first phase begins at"),
    "the last phases removed": ("spans", only(~pl.col("name").is_in(LATE)), "the phases end at"),
    "all phases removed": ("spans", only(~phase), "it has no phases"),
    "a phase that executed more": ("spans", at(0, "instructions", pl.col("instructions") + 1), "`instructions` sums"),
    "phases that overlap": ("spans", at(0, "end_ns", pl.col("end_ns") + 5), "no phase ends where one begins, at"),
    "phases that hide from each other": (
        "spans", lambda frame: at(0, "instructions", pl.col("instructions") + 5)(
            at(1, "instructions", pl.col("instructions") - 5)(frame)), "'firmware' lasts"),
    "negative marks": ("marks", all_of(-pl.col("time_ns")), "the marks are not in order of time"),
    "a mark before power-on": ("marks", at(0, "time_ns", pl.lit(-5)), "is at -5 ns, before power-on"),
    "a thread's runs removed": ("runs", only(pl.col("thread") != 1), "were recorded"),
    "a run of another length": ("runs", at(0, "instructions", pl.col("instructions") + 1), "lasts"),
    "runs with a hole": ("runs", at(1, "start_ns", pl.col("start_ns") + 1), "no run ends where one begins, at"),
    "a thread removed": ("threads", only(pl.col("thread") != 1), "`run_ns` of thread 1 is nothing"),
    "a thread that ran longer": ("threads", at(0, "run_ns", pl.col("run_ns") * 2), "and its runs make"),
    "a process with more user mode": ("processes", at(3, "user_instructions", pl.col("user_instructions") + 1),
                                      "`user_instructions` of process 3 is 100,001, and its threads make 100,000"),
    "a process with more of the kernel": ("processes", at(2, "kernel_instructions", pl.col("kernel_instructions") - 1),
                                          "`kernel_instructions` of process 2 is 348,999, and"),
    "interrupts of a process that never ran": ("processes", at(4, "interrupt_instructions", pl.lit(7)),
                                               "`interrupt_instructions` of process 4 is 7, and its threads make 0"),
    "a function of user mode that executed more": (
        "user_functions", at(0, "self_instructions", pl.col("self_instructions") + 5),
        "`user_instructions` of thread 1 is 400,000, and its functions make 400,005"),
    "a negative function of user mode": (
        "user_functions", at(1, "self_instructions", pl.lit(-1)), "`self_instructions` of row 1 is -1"),
    "a thread with more user mode": ("threads", at(3, "user_instructions", pl.col("user_instructions") + 1), ""),
    "a process with another's thread": ("threads", at(4, "process", pl.lit(2)), "of process 2 is"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_changed_table_is_an_error_that_names_it_and_the_figure(tmp_path: Path, damage: str) -> None:
    table, change, said = DAMAGE[damage]
    boot = changed(make_processes(tmp_path), table, change)
    with pytest.raises(BundleError) as caught:
        read_all(boot)
    assert caught.value.message.startswith("the table does not add up: ")
    assert said in caught.value.message
    # A tree and its phases contradict one another, as threads and processes do: either can be the one that was changed.
    assert str(caught.value.where) in {
        str(boot.directory / f"{name}.parquet")
        for name in (table, "phase_calls", "slice_calls", "slice_threads", "processes", "user_functions")
    }
    assert caught.value.hint is not None
    assert "record the boot again" in caught.value.hint


@pytest.mark.parametrize(
    "bundle",
    [
        {},
        {"shift": 3},
        {"failed": True},
        {"profile": False},
        {"live": True},
        {"hostile": True},
        {"schema_version": 1},
        {"doubtful": {"dh_init": 1}},
        {"more": ("user", 5_000)},
    ],
    ids=str,
)
def test_every_sort_of_honest_boot_adds_up(tmp_path: Path, bundle: dict[str, Any]) -> None:
    read_all(firstlight.open(make_bundle(tmp_path, **bundle)))


@pytest.mark.parametrize(
    ("broken", "damage"),
    [
        ("runs_partition_the_kernel", ("threads", DAMAGE["a thread that ran longer"][1])),
        ("runs_partition_the_kernel", ("runs", DAMAGE["a thread's runs removed"][1])),
        ("phases_sum_to_tree", ("phase_calls", DAMAGE["a row of a phase twice"][1])),
        ("slices_sum_to_tree", ("slice_calls", DAMAGE["a row of a slice twice"][1])),
        ("slices_sum_to_tree", ("slices", DAMAGE["a slice that executed more"][1])),
    ],
)
def test_what_is_said_to_be_broken_is_not_asked_for_again(
    tmp_path: Path, broken: str, damage: tuple[str, Change]
) -> None:
    read_all(changed(make_bundle(tmp_path, broken={broken: {}}), *damage))


def test_show_prints_nothing_of_totals_that_were_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_bundle(tmp_path) / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["totals"] |= {"instructions": 5, "virtual_ns": 5, "idle_ns": 0}
    path.write_text(json.dumps(manifest))
    assert run(["show", str(path.parent)]) != 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "`totals.instructions`: it is 5, and the functions executed" in " ".join(said.err.split())


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_show_says_of_none_that_it_holds(
    tmp_path: Path, damage: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    table, change, _ = DAMAGE[damage]
    boot = changed(make_processes(tmp_path), table, change)
    assert run(["show", str(boot.directory), *form]) != 0
    said = capsys.readouterr()
    assert '"data"' not in said.out
    assert "the table does not add up" in said.err


def test_a_profile_without_a_promise_has_its_invariants_too(tmp_path: Path) -> None:
    path = make_bundle(tmp_path) / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["tables"]["calls"]
    manifest["invariants"] = {}
    path.write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="the invariant `self_sums_to_executed` is missing"):
        firstlight.open(path.parent).calls()


@pytest.mark.parametrize("invariant", ["runs_partition_the_kernel", "modes_partition_the_runs"])
def test_processes_whose_modes_are_said_to_be_broken_are_not_asked_for_again(tmp_path: Path, invariant: str) -> None:
    table, change, _ = DAMAGE["a process with more user mode"]
    boot = changed(make_processes(tmp_path), table, change)
    path = boot.directory / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["invariants"][invariant]["holds"] = False
    path.write_text(json.dumps(manifest))
    assert firstlight.open(boot.directory).table("processes").height == 5


def test_a_boot_with_processes_adds_up(tmp_path: Path) -> None:
    read_all(firstlight.open(make_processes(tmp_path)))
    read_all(firstlight.open(make_processes(tmp_path, name="hostile.boot", hostile=True)))

"""Processes of a real boot: exactly those that a script of the guest starts, with their calls, paths and exits."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.api import Boot, GroupCalls
from firstlight.bundle.processes_missing import processes_missing
from firstlight.lab.run.record import record
from short_boots import short

pytestmark = pytest.mark.boot

LOOPS = 300
SCRIPT = (
    "echo hello > /tmp/words; cat /tmp/words; stat /tmp/no/such; "
    f"i=0; while [ $i -lt {LOOPS} ]; do (exit $((i % 3))); i=$((i+1)); done; sh -c 'exit 7'; true"
)


@pytest.fixture(scope="module")
def boot(boots: Path) -> Boot:
    bundle = record(short(output=boots / "script.boot", guest_commands=(SCRIPT,)))
    opened = firstlight.open(bundle)
    assert processes_missing(opened.manifest) is None
    return opened


@pytest.fixture(scope="module")
def children(boot: Boot) -> pl.DataFrame:
    """What the script started, in the order of their creation."""
    cats = boot.processes().filter(pl.col("arguments") == "cat /tmp/words")
    return boot.processes().filter(pl.col("parent") == cats["parent"].item())


def test_instructions_of_processes_are_those_of_the_boot_from_the_kernels_first_on(boot: Boot) -> None:
    entry = boot.marks().filter(pl.col("mark") == "kernel_entry")["instructions"].item()
    assert boot.processes()["instructions"].sum() + entry == boot.manifest.totals.instructions
    lasts = boot.processes()["cpu_ns"].sum() + (boot.manifest.totals.idle_ns or 0)
    assert lasts + boot.marks().filter(pl.col("mark") == "kernel_entry")["time_ns"].item() == (
        boot.manifest.totals.virtual_ns
    )


@pytest.mark.parametrize("name", ["modes_partition_the_runs", "registers_confirmed", "runs_partition_the_kernel"])
def test_what_must_hold_of_processes_holds(boot: Boot, name: str) -> None:
    assert boot.manifest.invariants[name].holds
    assert (boot.manifest.invariants["registers_confirmed"].model_extra or {})["confirmed"] > LOOPS


def test_the_processes_of_the_script_are_all_there_with_their_exits(children: pl.DataFrame) -> None:
    assert children["name"].to_list() == ["cat", "stat", *["sh"] * (LOOPS + 1)]
    exits = [status >> 8 for status in children["status"].to_list()]
    assert exits == [0, 1, *(number % 3 for number in range(LOOPS)), 7]
    assert children["end_ns"].null_count() == 0
    assert children["start_ns"].is_sorted()
    assert children["threads"].to_list() == [1] * children.height
    assert children["pid"].to_list() == list(range(children["pid"][0], children["pid"][0] + children.height))


def test_the_calls_and_paths_of_a_program_are_those_that_it_made(boot: Boot, children: pl.DataFrame) -> None:
    cat, stat = children["pid"].to_list()[:2]
    calls = boot.system_calls(process=str(cat))
    opened = calls.filter(pl.col("path") == "/tmp/words")
    assert opened["name"].to_list()[0] in ("open", "openat")
    assert opened["name"].to_list()[-1] == "close"
    assert opened["result"][0] >= 3
    assert 6 in calls["bytes"].drop_nulls()
    assert calls.row(-1, named=True)["name"] == "exit_group"
    found = boot.files(process=str(cat)).filter(pl.col("path") == "/tmp/words")
    assert found.select("opens", "not_found").rows() == [(1, 0)]
    missed = boot.files(process=str(stat)).filter(pl.col("not_found") > 0)
    assert missed.select("path", "looks", "not_found").rows() == [("/tmp/no/such", 1, 1)]


def test_the_shell_waited_for_every_child(boot: Boot, children: pl.DataFrame) -> None:
    shell = boot.processes().filter(pl.col("process") == children["parent"][0]).row(0, named=True)
    calls = boot.system_calls().filter(pl.col("process") == shell["process"])
    made = calls.filter(pl.col("name").is_in(["clone", "fork", "vfork", "clone3"]) & (pl.col("result") > 0))
    assert made["result"].to_list() == children["pid"].to_list()
    # The shell handles SIGCHLD: the handler runs before each wait returns, and hides no result.
    assert "rt_sigreturn" in calls["name"]
    waited = calls.filter((pl.col("name") == "wait4") & (pl.col("result") > 0))
    assert waited["result"].to_list() == children["pid"].to_list()
    sums = boot.system_calls(by=GroupCalls.PROCESS)
    assert sums["calls"].sum() == boot.system_calls().height == boot.processes()["calls"].sum()

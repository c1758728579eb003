"""Who had the processor in a real boot with systemd, and what systemd says of its own units."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.path.critical import find_path
from firstlight.analysis.units import units
from firstlight.bundle.boot import Boot

pytestmark = pytest.mark.boot


@pytest.fixture(scope="module")
def boot(debian_boot: Path) -> Boot:
    return firstlight.open(debian_boot)


def test_the_runs_partition_the_boot_from_the_kernels_first_instruction_on(boot: Boot) -> None:
    runs, totals = boot.runs(), boot.manifest.totals
    kernel = boot.marks().filter(pl.col("mark") == "kernel_entry").row(0, named=True)
    assert runs["start_ns"][0] == kernel["time_ns"]
    assert runs["start_ns"].to_list()[1:] == runs["end_ns"].to_list()[:-1]
    assert runs["end_ns"][-1] == totals.virtual_ns
    assert int(runs["instructions"].sum()) + kernel["instructions"] == totals.instructions
    assert runs["idle_ns"].sum() == totals.idle_ns
    threads = boot.threads()
    of_threads = sum(int(threads[column].sum()) for column in ("run_ns", "idle_ns"))
    assert of_threads + kernel["time_ns"] == totals.virtual_ns


def test_every_thread_has_the_name_that_the_kernel_gave_it(boot: Boot) -> None:
    threads = boot.threads()
    assert threads["name"].null_count() == 0
    kernels = threads.filter(pl.col("kind") == "kernel")["name"].to_list()
    users = threads.filter(pl.col("kind") == "user")["name"].to_list()
    assert {"kthreadd", "ksoftirqd/0", "rcu_preempt"} <= set(kernels)
    assert {"systemd", "systemd-journal", "systemd-udevd"} <= set(users)
    assert threads.row(0, named=True)["kind"] == "idle"


def test_the_kernels_own_pointer_confirms_every_switch(boot: Boot) -> None:
    invariants = boot.manifest.invariants
    assert all(invariant.holds for invariant in invariants.values()), invariants
    confirmed = invariants["tasks_confirmed"].model_extra or {}
    assert confirmed["confirmed"] >= confirmed["switches"] > 0


def test_the_path_goes_through_threads_and_no_wait_is_without_cause(boot: Boot) -> None:
    path = find_path(boot)
    totals = boot.manifest.totals
    assert path.rows["duration_ns"].sum() == path.charged["total_ns"].sum() == totals.virtual_ns
    assert path.rows["start_ns"].to_list()[1:] == path.rows["end_ns"].to_list()[:-1]
    assert UNKNOWN not in path.rows["name"].to_list()
    assert path.rows.filter(pl.col("kind") == "idle")["duration_ns"].sum() == totals.idle_ns
    assert path.charged["idle_ns"].sum() == totals.idle_ns
    assert path.rows.filter(pl.col("kind") == "waiting")["reason"].null_count() == 0
    assert "systemd-udevd.service" in path.charged["service"].to_list()


def test_only_idle_time_is_waiting_on_the_path_of_steps(boot: Boot) -> None:
    path = find_path(boot, woken=False)
    totals = boot.manifest.totals
    assert path.rows["duration_ns"].sum() == totals.virtual_ns
    assert path.rows.filter(pl.col("name") == UNKNOWN)["duration_ns"].sum() == totals.idle_ns
    assert int(path.ran["run_ns"].sum()) + (totals.idle_ns or 0) == totals.virtual_ns


def test_the_units_are_what_systemd_says_of_them(boot: Boot) -> None:
    rows = units(boot)
    assert rows.height > 50
    assert rows["source"].unique().to_list() == ["systemd"]
    for column in ("wanted_ns", "start_ns", "waiting_ns", "ordered_ns"):
        assert rows[column].null_count() == 0, column
    unknown = rows.filter(pl.col("grade") == "unknown")
    assert unknown["end_ns"].is_null().all(), "only what had not ended"
    journal = rows.filter(pl.col("unit") == "systemd-journald.service").row(0, named=True)
    assert journal["waited_for"] is not None
    assert journal["main_ns"] > 0
    facts = dict(boot.facts().iter_rows())
    assert facts["systemd.clock.how"] == "two readings of both clocks in the guest"
    assert int(facts["systemd.clock.residual_median_ns"]) < 1_000_000

"""The places of known causes on the report page are those that their costs are from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import firstlight
from bundles import write_table
from firstlight.render.page.findings import page_findings
from invented_processes import make_processes

_MS = 1_000_000


def renamed(bundle: Path, table: str, column: str, names: dict[str, str]) -> None:
    """Rename what a column of a table has."""
    rows = firstlight.open(bundle).table(table)
    write_table(bundle, table, rows.with_columns(pl.col(column).cast(pl.String).replace(names)))


def finding(bundle: Path, id: str) -> dict[str, Any]:
    """What the page has of a known cause."""
    boot = firstlight.open(bundle)
    return next(each for each in page_findings(boot, boot.path()) if each["id"] == id)


def places(found: dict[str, Any]) -> list[tuple[int, int]]:
    """Start and end of each place."""
    return list(zip(found["places"][::2], found["places"][1::2], strict=True))


def make_modules(directory: Path) -> Path:
    """A boot in which the kernel loads two modules, and verifies their signatures."""
    bundle = make_processes(directory)
    renamed(
        bundle, "calls", "function", {"start_kernel": "__do_sys_finit_module", "setup_boot_APIC_clock": "load_module"}
    )
    renamed(bundle, "calls", "function", {"calibrate_APIC_clock": "module_sig_check"})
    calls = firstlight.open(bundle).table("system_calls")
    is_openat = pl.col("name") == "openat"
    at = pl.int_range(pl.len()) * _MS + 120 * _MS
    calls = calls.with_columns(
        start_ns=pl.when(is_openat).then(at).otherwise("start_ns"),
        end_ns=pl.when(is_openat).then(at + _MS).otherwise("end_ns"),
        name=pl.when(is_openat).then(pl.lit("finit_module")).otherwise("name"),
    )
    write_table(bundle, "system_calls", calls)
    return bundle


def test_deferred_work_is_where_it_ran_and_not_in_the_initcall_that_queued_it(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    work, queues = "ftrace_check_work_func", "ftrace_check_for_weak_functions"
    renamed(bundle, "calls", "function", {"calibrate_APIC_clock": work, "clk_disable_unused": queues})
    renamed(bundle, "spans", "name", {"clk_disable_unused": queues})
    boot = firstlight.open(bundle)
    node = boot.calls().filter(pl.col("function") == work)["node"].to_list()
    slices = boot.slice_calls().filter(pl.col("node").is_in(node)).join(boot.slices(), on="slice")
    assert places(finding(bundle, "INI-07a"))[0] == (slices["start_ns"].min(), slices["end_ns"].max())


def test_work_of_a_system_call_is_in_the_calls_that_were_recorded(tmp_path: Path) -> None:
    bundle = make_modules(tmp_path)
    calls = firstlight.open(bundle).table("system_calls")
    wanted = calls.filter(pl.col("name") == "finit_module").select("start_ns", "end_ns").rows()
    loaded, verified = finding(bundle, "INI-21"), finding(bundle, "INI-24")
    assert places(loaded) == places(verified) == sorted(wanted)
    assert loaded["shares"][0]["title"] == verified["title"]
    assert loaded["shares"][0]["ns"] == verified["shares"][0]["ns"] == verified["cost_ns"]

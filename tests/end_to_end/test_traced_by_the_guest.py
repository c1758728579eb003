"""A trace that trace-cmd recorded in a boot, imported, against the recording of the same boot."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.api import Boot
from firstlight.lab.run.record import record
from guest_programs import add_program
from short_boots import short

pytestmark = pytest.mark.boot

EXPORT = "/run/firstlight/export"
TRACED = "cat /proc/version; ls /bin | wc -l; stat /no/such"
EVENTS = ("sched_process_exec", "sched_process_fork", "sched_process_exit",
          "syscalls:sys_enter_openat", "syscalls:sys_exit_openat",
          "raw_syscalls:sys_enter", "raw_syscalls:sys_exit")  # fmt: skip


@pytest.fixture(scope="module")
def boot(boots: Path, tmp_path_factory: pytest.TempPathFactory) -> Boot:
    overlay = tmp_path_factory.mktemp("overlay")
    add_program(overlay, "trace-cmd")
    by_call, by_number = (
        " ".join(f"-e {event}" for event in (*EVENTS[:3], *events)) for events in (EVENTS[3:5], EVENTS[5:])
    )
    commands = (
        f"mkdir -p {EXPORT} /tmp; mount -t tracefs nodev /sys/kernel/tracing; true",
        f"cd /tmp; trace-cmd record {by_call} -o {EXPORT}/by-call.dat sh -c '{TRACED}'; true",
        f"cd /tmp; trace-cmd record {by_number} -o {EXPORT}/by-number.dat sh -c '{TRACED}'; true",
    )
    bundle = record(short(output=boots / "traced.boot", overlay=overlay, guest_commands=commands))
    return firstlight.open(bundle)


@pytest.mark.parametrize("name", ["by-call", "by-number"])
def test_calls_processes_and_results_of_a_trace_are_those_of_the_recording(
    boot: Boot, name: str, tmp_path: Path
) -> None:
    log = boot.directory / "raw/guest-files" / f"{name}.dat"
    imported = firstlight.import_(log, output=tmp_path / "trace.boot")
    traced = set(imported.processes()["pid"].to_list())
    assert len(traced) >= 4
    ended = pl.col("pid").is_in(traced) & pl.col("end_ns").is_not_null()
    calls = imported.system_calls().filter(ended & pl.col("start_ns").is_not_null())
    # The tracer begins within the exec of the first program.
    own = boot.system_calls().filter(ended & (pl.col("name") != "execve"))
    if name == "by-call":
        own = own.filter(pl.col("name") == "openat")
    columns = ("pid", "name", "result")
    seen = Counter(calls.filter(pl.col("name") != "execve").select(columns).iter_rows())
    recorded = Counter(own.select(columns).iter_rows())
    assert seen.total() > 1
    assert not seen - recorded
    assert {pid for pid, *_ in recorded - seen} <= {min(traced)}
    lives = imported.processes().filter(pl.col("pid") > min(traced)).select("pid", "end_ns").drop_nulls()
    assert lives.height >= 3

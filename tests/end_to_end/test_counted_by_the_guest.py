"""System calls and processes of a real boot against what programs of the same guest count: strace, and accounting."""

from __future__ import annotations

import struct
import subprocess
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
#: What is traced: a pipe, a child in the background, signals, a program that fails, and a process that is killed.
TRACED = (
    "cat /proc/self/status | grep Name; ls /bin | wc -l; sleep 0.01 & wait; stat /no/such; "
    "(while true; do :; done) & kill -9 $!; wait"
)
LOOPS = 100
#: `acct(2)`, and its records as `struct acct_v3` of include/uapi/linux/acct.h.
ACCOUNT = "long syscall(long, ...); int main(int n, char **to) { return syscall(163, n > 1 ? to[1] : 0) != 0; }"
RECORD = struct.Struct("<BBHIIIIIIf8H16s")


@pytest.fixture(scope="module")
def overlay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host's strace with its libraries, and a static program that begins and ends accounting."""
    root = tmp_path_factory.mktemp("overlay")
    add_program(root, "strace")
    source = root.with_suffix(".c")
    source.write_text(ACCOUNT, encoding="utf-8")
    subprocess.run(["gcc", "-static", "-O1", "-o", root / "bin/account", source], check=True)
    return root


@pytest.fixture(scope="module")
def boot(overlay: Path, boots: Path) -> Boot:
    commands = (
        f"mkdir -p {EXPORT}",
        f"strace -f -c -o {EXPORT}/counts sh -c '{TRACED}'; true",
        f"strace -f -ttt -T -o {EXPORT}/calls sh -c '{TRACED}'; true",
        "touch /tmp/account; account /tmp/account",
        f"i=0; while [ $i -lt {LOOPS} ]; do (exit $((i % 5))); i=$((i+1)); done; sleep 0.05; true",
        "(sleep 0.02 &); busybox true; sh -c 'kill -9 $$'; true",
        "sleep 0.1",
        f"account; cp /tmp/account {EXPORT}/account",
    )
    bundle = record(short(output=boots / "counted.boot", overlay=overlay, guest_commands=commands))
    return firstlight.open(bundle)


def exported(boot: Boot, name: str) -> bytes:
    return (boot.directory / "raw/guest-files" / name).read_bytes()


def test_the_calls_by_name_are_those_that_strace_counts_in_the_same_boot(boot: Boot) -> None:
    counted = {}
    for line in exported(boot, "counts").decode().splitlines()[2:-2]:
        fields = line.split()
        counted[fields[-1]] = int(fields[3])
    calls = boot.table("system_calls").join(boot.threads().select("thread", "process"), on="thread", how="left")
    own = calls_below(boot, calls, "strace -f -c").filter(pl.col("end_ns").is_not_null())  # strace counts returns
    assert dict(own["name"].value_counts().iter_rows()) == counted
    assert sum(counted.values()) > 400


def test_the_log_of_strace_has_the_calls_paths_and_results_of_the_same_boot(boot: Boot, tmp_path: Path) -> None:
    log = boot.directory / "raw/guest-files/calls"
    imported = firstlight.import_(log, output=tmp_path / "strace.boot")
    own = calls_below(boot, boot.system_calls(), "strace -f -ttt")
    columns = ("pid", "name", "path", "result")
    # The log does not name the directory in which the shell began.
    logged = imported.system_calls().with_columns(pl.col("path").replace(".", "/"))
    assert Counter(logged.select(columns).iter_rows()) == Counter(own.select(columns).iter_rows())
    traced = first_program_below(boot, "strace -f -ttt")
    ended = boot.processes().filter(pl.col("process").is_in([traced, *below(boot, traced)])).sort("pid")
    assert imported.processes().select("pid", "status").sort("pid").rows() == ended.select("pid", "status").rows()


def test_processes_are_those_of_the_guests_accounting(boot: Boot) -> None:
    """All that ended while accounting was on, in their order: number, parent, name, status, and how long each lived.

    The kernel writes a last record for the process that switches accounting off. An orphan's parent is init.
    """
    records = list(RECORD.iter_unpack(exported(boot, "account")))
    programs = boot.processes().filter(pl.col("arguments").str.starts_with("account"))
    on, off = programs["end_ns"][0], programs["end_ns"][1]
    ended = boot.processes().filter(pl.col("end_ns").is_between(on, off)).sort("end_ns")
    pids = dict(boot.processes().select("process", "pid").iter_rows())
    accounted = [(record[6], record[-1].rstrip(b"\0").decode(), record[3]) for record in records]
    assert ended.select("pid", "name", "status").rows() == accounted
    assert len(records) > LOOPS
    parents = [(record[7], pids[parent]) for record, parent in zip(records, ended["parent"], strict=True)]
    assert [seen for seen, creator in parents if seen != creator] == [1]
    # The kernel counts hundredths of a second.
    lived = zip(ended["end_ns"] - ended["start_ns"], records, strict=True)
    assert all(abs(ns / 1e7 - record[9]) <= 1 for ns, record in lived)


def calls_below(boot: Boot, calls: pl.DataFrame, strace: str) -> pl.DataFrame:
    """The calls of what a strace traced, from its first exec on."""
    traced = first_program_below(boot, strace)
    began = calls.filter((pl.col("process") == traced) & (pl.col("name") == "execve"))["start_ns"].min()
    return calls.filter(pl.col("process").is_in([traced, *below(boot, traced)]) & (pl.col("start_ns") >= began))


def first_program_below(boot: Boot, name: str) -> int:
    """The process that a program runs: the last of its children."""
    parent = boot.processes().filter(pl.col("arguments").str.starts_with(name))["process"][0]
    children: list[int] = boot.processes().filter(pl.col("parent") == parent)["process"].to_list()
    return max(children)


def below(boot: Boot, process: int) -> set[int]:
    children = boot.processes().filter(pl.col("parent") == process)["process"].to_list()
    return set(children).union(*(below(boot, child) for child in children))

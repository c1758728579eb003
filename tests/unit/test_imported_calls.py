"""System calls of imported boots: what strace, perf and the kernel's audit record of one program."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from answers import answer
from firstlight.api import Boot, GroupCalls
from firstlight.cli.main import run
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export

STRACE = """\
310   1577836801.000100 execve("/bin/sh", ["sh", "-c", "cat"], 0x7ffc /* 9 vars */) = 0 <0.000300>
310   1577836801.001000 openat(AT_FDCWD, "/etc/a\\n\\33[31m", O_RDONLY) = 3 <0.000020>
310   1577836801.001100 read(3, "\\177ELF"..., 832) = 832 <0.000010>
310   1577836801.002000 vfork( <unfinished ...>
311   1577836801.002200 execve("/bin/cat", ["cat"], 0x7ffc /* 9 vars */) = 0 <0.000100>
310   1577836801.002400 <... vfork resumed>) = 311 <0.000400>
311   1577836801.003000 openat(AT_FDCWD, "/etc/motd", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000015>
311   1577836801.003400 exit_group(1) = ?
311   1577836801.003500 +++ exited with 1 +++
310   1577836801.003600 pause() = ? ERESTARTNOHAND (To be restarted if no handler) <0.000900>
"""
PERF = """\
# arch : x86_64
              sh   310 [000]    10.000000: sched:sched_process_fork: comm=sh pid=310 child_comm=sh child_pid=311
              sh   311 [001]    10.000100: sched:sched_process_exec: filename=/bin/ls pid=311 old_pid=311
              ls   311 [001]    10.000150: sched:sched_switch: prev_pid=9 prev_state=R ==> next_pid=311
              ls   311 [001]    10.000200: raw_syscalls:sys_enter: NR 257 (ffffff9c, 7ffd00, 80000, 0, 0, 0)
              ls   311 [001]    10.000450: raw_syscalls:sys_exit: NR 257 = -2
              ls   311 [001]    10.002000: sched:sched_process_exit: comm=ls pid=311 prio=120
"""
AUDIT = """\
type=SYSCALL msg=audit(1577836801.004:41): arch=c000003e syscall=56 exit=311 a0=1200011 ppid=1 pid=310 exe="/bin/sh"
type=SYSCALL msg=audit(1577836801.012:43): arch=c000003e syscall=257 exit=-2 ppid=310 pid=311 exe="/bin/cat"
type=CWD msg=audit(1577836801.012:43): cwd="/root"
type=PATH msg=audit(1577836801.012:43): item=0 name="cafe" nametype=UNKNOWN
"""
#: The tracer's own text, whose lines have the names of the calls.
TRACE = """\
# tracer: nop
              ls-311     [001] .....    10.000200: sys_openat(dfd: ffffff9c, filename: 7ffd00, flags: 80000, mode: 0)
              ls-311     [001] .....    10.000450: sys_openat -> 0xfffffffffffffffe
"""


def imported(directory: Path, name: str, content: str) -> Boot:
    (directory / name).write_text(content)
    return firstlight.import_(directory / name, output=directory / f"{name}.boot")


@pytest.fixture
def traced(tmp_path: Path) -> Boot:
    return imported(tmp_path, "strace.log", STRACE)


def test_each_call_has_its_process_its_path_and_its_result(traced: Boot) -> None:
    rows = traced.system_calls().select("pid", "image", "name", "path", "result", "bytes", "duration_ns").rows()
    name = "/etc/a\n\x1b[31m"
    assert rows == [
        (310, "/bin/sh", "execve", "/bin/sh", 0, None, 300_000),
        (310, "/bin/sh", "openat", name, 3, None, 20_000),
        (310, "/bin/sh", "read", name, 832, 832, 10_000),
        (310, "/bin/sh", "vfork", None, 311, None, 400_000),
        (311, "/bin/cat", "execve", "/bin/cat", 0, None, 100_000),
        (311, "/bin/cat", "openat", "/etc/motd", -2, None, 15_000),
        (311, "/bin/cat", "exit_group", None, None, None, None),
        (310, "/bin/sh", "pause", None, -514, None, 900_000),
    ]


def test_processes_have_parents_arguments_ends_and_the_number_of_their_calls(traced: Boot) -> None:
    rows = traced.processes().select("pid", "parent", "image", "arguments", "status", "calls").rows()
    assert rows == [(310, None, "/bin/sh", "sh -c cat", None, 5), (311, 0, "/bin/cat", "cat", 256, 3)]


def test_sums_have_what_is_recorded_and_no_zeros_for_what_is_not(traced: Boot) -> None:
    sums = traced.system_calls(by=GroupCalls.PROCESS)
    assert sums["calls"].sum() == traced.system_calls().height
    assert sums["instructions"].null_count() == sums["wait_ns"].null_count() == sums.height
    assert sums["duration_ns"].to_list() == [1_630_000, 115_000]
    found = traced.files().select("path", "pid", "opens", "reads", "bytes", "runs", "not_found").rows()
    assert ("/etc/motd", 311, 0, 0, 0, 0, 1) in found
    assert traced.files(process="sh")["pid"].unique().to_list() == [310]


@pytest.mark.parametrize("command", ["syscalls", "files", "processes"])
def test_the_commands_print_calls_of_a_record(traced: Boot, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, str(traced.directory)]) == 0
    printed = capsys.readouterr().out
    assert "\x1b[31m" not in printed
    if command != "processes":
        assert "Took" in printed
        assert "instructions" not in printed
    assert answer(command, str(traced.directory))[0] == 0


@pytest.mark.parametrize("to", [To.perfetto, To.firefox, To.svg, To.json, To.csv])
def test_every_export_takes_calls_of_a_record(traced: Boot, tmp_path: Path, to: To) -> None:
    assert write_export(traced.directory, to, tmp_path / "export").counts


@pytest.mark.parametrize(
    ("name", "content", "path"),
    [("perf.txt", PERF, None), ("audit.log", AUDIT, "/root/cafe"), ("trace.txt", TRACE, None)],
)
def test_tracers_record_the_same_call_of_the_same_process(
    tmp_path: Path, name: str, content: str, path: str | None
) -> None:
    boot = imported(tmp_path, name, content)
    calls = boot.system_calls().filter(pl.col("name") == "openat")
    assert calls.select("result", "path").rows() == [(-2, path)]
    if name != "trace.txt":
        assert calls["pid"].to_list() == [311]
        assert boot.processes().filter(pl.col("pid") == 311)["image"].item() in ("/bin/ls", "/bin/cat")


def test_switches_give_the_time_on_the_processor(tmp_path: Path) -> None:
    processes = imported(tmp_path, "perf.txt", PERF).processes()
    assert processes.filter(pl.col("pid") == 311)["cpu_ns"].item() == 1_850_000


def test_a_record_without_numbers_is_of_one_process(tmp_path: Path) -> None:
    lines = [line[6:] for line in STRACE.splitlines() if line.startswith("310")]
    boot = imported(tmp_path, "plain.log", "\n".join(line for line in lines if "vfork" not in line) + "\n")
    assert boot.processes().select("pid", "image").rows() == [(None, "/bin/sh")]
    assert boot.system_calls()["process"].to_list() == [0, 0, 0, 0]


def test_a_file_for_each_task_gives_one_process_each(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    for task in ("310", "311"):
        lines = [line[6:] for line in STRACE.splitlines() if line.startswith(task)]
        (folder / f"log.{task}").write_text("\n".join(lines) + "\n")
    rows = firstlight.import_(folder, output=tmp_path / "all.boot").processes()
    assert rows.select("pid", "parent", "image").rows() == [(310, None, "/bin/sh"), (311, 0, "/bin/cat")]

"""Processes of imported boots: what samples and traces know of them, and what they do not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from answers import answer
from firstlight.api import Boot
from firstlight.cli.main import run
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export
from firstlight.render.page.processes import page_processes

SAMPLES = """\
214
1 (init) S 0 1 1 0 -1 4194560 400 0 20 0 12 31 0 0 20 0 1 0 1 0 0
87 (my (odd) \x1b[31m proc) R 1 87 87 0 -1 4194304 10 0 0 0 3 4 0 0 20 0 1 0 200 0 0

234
1 (systemd) S 0 1 1 0 -1 4194560 400 0 20 0 13 32 0 0 20 0 1 0 1 0 0

"""
TRACE = """\
# tracer: nop
            init-1       [000] .....     1.000000: sched_process_fork: comm=init pid=1 child_comm=init child_pid=50
            init-50      [000] .....     1.100000: sched_process_exec: filename=/usr/bin/udevadm pid=50 old_pid=50
            init-1       [000] .....     1.200000: sched_process_fork: comm=init pid=1 child_comm=init child_pid=51
         udevadm-50      [000] .....     1.500000: sched_process_exit: comm=udevadm pid=50 prio=120
            init-51      [000] .....     1.600000: sched_process_exit: comm=init pid=51 prio=120
            init-1       [000] .....     1.700000: sched_process_fork: comm=init pid=1 child_comm=init child_pid=50
"""


def imported(directory: Path, name: str, content: str) -> Boot:
    (directory / name).write_text(content)
    return firstlight.import_(directory / name, output=directory / f"{name}.boot")


@pytest.fixture
def sampled(tmp_path: Path) -> Boot:
    return imported(tmp_path, "proc_ps.log", SAMPLES)


@pytest.fixture
def traced(tmp_path: Path) -> Boot:
    return imported(tmp_path, "trace.txt", TRACE)


def test_samples_have_parents_and_time_on_the_processor(sampled: Boot) -> None:
    rows = sampled.processes()
    assert rows.select("pid", "parent").rows() == [(1, None), (87, 0)]
    assert rows["cpu_ns"].to_list() == [450_000_000, 70_000_000]
    assert sampled.processes(tree=True)["depth"].to_list() == [0, 1]


def test_lists_of_processes_add_command_lines_and_parents(tmp_path: Path) -> None:
    (tmp_path / "proc_ps.log").write_text(SAMPLES)
    (tmp_path / "cmdline2.log").write_bytes(b"87\n:/usr/bin/mount\n:/usr/bin/mount\0-a\0\n\n9\n:x\n:x\0\n\n")
    (tmp_path / "paternity.log").write_text("87 1\n88 87\n")
    rows = firstlight.import_(tmp_path, output=tmp_path / "a.boot").processes()
    known = rows.filter(pl.col("pid") == 87).row(0, named=True)
    assert (known["arguments"], known["image"], known["parent"]) == ("/usr/bin/mount -a", "/usr/bin/mount", 0)
    assert rows.height == 2


def test_a_trace_has_executables_and_ends(traced: Boot) -> None:
    rows = traced.processes()
    assert rows.select("pid", "name", "image").rows() == [
        (50, "udevadm", "/usr/bin/udevadm"), (51, "init", None), (50, "init", None)
    ]  # fmt: skip
    assert rows["end_ns"].null_count() == 1
    assert rows["cpu_ns"].null_count() == 3


def test_what_a_record_does_not_know_is_null_and_the_types_are_those_of_a_recorded_boot(
    sampled: Boot, traced: Boot
) -> None:
    for boot in (sampled, traced):
        rows = boot.processes()
        assert rows["instructions"].null_count() == rows["calls"].null_count() == rows.height
        assert rows.schema["instructions"] == pl.Int64
        assert boot.system_calls().is_empty()
        assert boot.files().is_empty()


def test_the_command_names_what_was_not_recorded(sampled: Boot, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["processes", str(sampled.directory)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Not recorded: executables, command lines, services, " in printed
    assert "_ns" not in printed
    assert "_instructions" not in printed
    assert "\x1b[31m" not in printed
    assert answer("processes", str(sampled.directory))[1]["processes"][0]["instructions"] is None


@pytest.mark.parametrize("command", ["syscalls", "files"])
def test_system_calls_and_files_say_which_records_have_them(
    sampled: Boot, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, str(sampled.directory)]) == 0
    assert "import a log of `strace -f -ttt -T`" in capsys.readouterr().err


def test_a_log_without_processes_says_which_records_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = imported(
        tmp_path, "dmesg.txt", "[    0.000000] Linux version 6.1.0\n[    1.000000] Run /init as init process\n"
    )
    assert run(["processes", str(boot.directory)]) == 0
    assert "import samples of bootchart" in capsys.readouterr().err


def test_the_report_page_has_the_processes_without_what_they_did(sampled: Boot) -> None:
    found = page_processes(sampled)
    assert found["rows"] == sampled.processes().height > 0
    assert found["pid"] == sampled.processes(tree=True)["pid"].to_list()
    assert {part[0] for part in found["parts"] if part} <= {3}


@pytest.mark.parametrize("to", [To.perfetto, To.firefox, To.svg])
def test_exports_of_imported_boots_have_no_states_of_processes(sampled: Boot, tmp_path: Path, to: To) -> None:
    assert "wake-ups" not in write_export(sampled.directory, to, tmp_path / "export").counts

"""How a run is watched to its end, with a small script in QEMU's place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.host.process import Process
from firstlight.lab.host.progress import Snapshot
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.qemu.confinement import Launch
from firstlight.lab.run import runner
from firstlight.lab.run.runner import RunOutcome, Watch, run

PRELUDE = """
import json, os, signal, sys, time
def say(text): open("console.log", "a").write(text)
def report(text): open("report.bin", "a").write(text)
def status(state, **more):
    fields = {"state": state, "phase": "p", "instructions": 5, "virtual_ns": 7, "idle_ns": 0, "detail": "", **more}
    line = json.dumps(fields)
    with open("status.tmp", "w") as file: file.write(line.ljust(1024))
    os.rename("status.tmp", "status.json")
def powered_off(): report("firstlight-report 1\\nend 0\\n\\n"); sys.exit(0)
"""


def boot(
    tmp_path: Path,
    script: str,
    *,
    timeout_s: float = 60,
    ready: str | None = None,
    profile: bool = True,
    report: bool = True,
) -> RunOutcome:
    """Run a script as if it were QEMU."""
    watch = Watch(timeout_s, profile=profile, report=report, ready_pattern=ready)
    return run(Launch([sys.executable, "-c", PRELUDE + script]), RunFiles(tmp_path), watch)


def test_a_guest_that_is_ready_may_report_and_power_off(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "say('up\\n'); status('ready'); time.sleep(.5); say('off\\n'); powered_off()")
    assert outcome.reason is None
    assert outcome.console == b"up\noff\n"
    assert outcome.report.endswith(b"end 0\n\n")
    assert outcome.ended.exit_code == 0


STAYS = r"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
report('firstlight-report 1\nend 0\n\n'); say('reboot: System halted\n')
while True: pass"""


@pytest.mark.parametrize("profile", [True, False])
def test_a_guest_that_cannot_power_off_is_ended_after_its_report(tmp_path: Path, profile: bool) -> None:
    outcome = boot(tmp_path, f"say('up\\n'); status('ready')\n{STAYS}", profile=profile)
    assert outcome.reason is None
    assert outcome.console == b"up\nreboot: System halted\n"
    assert outcome.report.endswith(b"end 0\n\n")
    # Its own limit would have ended it by another signal.
    assert outcome.ended.killed_by == "SIGTERM"


def test_a_guest_that_is_slow_to_report_is_waited_for(tmp_path: Path) -> None:
    script = r"""
say('up\n'); status('ready'); report('firstlight-'); time.sleep(3); report('report 1\nend 0\n\n')
while True: pass"""
    outcome = boot(tmp_path, script)
    assert outcome.report == b"firstlight-report 1\nend 0\n\n"


def test_a_busy_host_is_no_reason_to_cut_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "AFTER_READY_S", 1.0)
    script = r"""
say('up\n'); status('ready'); report('firstlight-'); time.sleep(3); report('report 1\nend 0\n\n')
while True: pass"""
    assert boot(tmp_path, script).report == b"firstlight-report 1\nend 0\n\n"


def test_a_guest_that_computes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "AFTER_READY_S", 1.0)
    script = r"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
say('up\n'); status('ready'); report('firstlight-')
while True: pass"""
    outcome = boot(tmp_path, script)
    assert (outcome.report, outcome.ended.killed_by) == (b"firstlight-", "SIGTERM")


def test_a_guest_without_helper_is_ended_once_it_is_ready(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "status('ready'); time.sleep(1000)", report=False)
    assert outcome.reason is None
    assert outcome.ended.killed_by == "SIGTERM"


def test_without_profile_the_report_says_that_the_guest_came_up(tmp_path: Path) -> None:
    assert boot(tmp_path, "say('up\\n'); powered_off()", profile=False).reason is None


def test_without_profile_the_console_is_searched_also_in_a_line_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_LINE_AT_MOST_S", 3.0)
    script = "say('hello\\r\\nhost log'); time.sleep(.3); say('in: '); time.sleep(1000)"
    outcome = boot(tmp_path, script, profile=False, report=False, ready=r"^host login: $")
    assert outcome.reason is None
    assert outcome.ready_offset == len(b"hello\r\nhost login: ")


@pytest.mark.parametrize("profile", [True, False])
@pytest.mark.parametrize("more", ["", "say('reboot: Power down\\r\\n'); sys.exit(0)"])
def test_the_console_ends_with_the_line_that_meant_ready_however_far_the_guest_came(
    tmp_path: Path, profile: bool, more: str
) -> None:
    script = f"say('one\\r\\nthe root is up\\r\\n'); status('ready'); {more}\ntime.sleep(1000)"
    outcome = boot(tmp_path, script, profile=profile, report=False, ready="root is")
    assert outcome.reason is None
    assert outcome.console == (tmp_path / "console.log").read_bytes() == b"one\r\nthe root is up\r\n"


def test_a_line_that_meant_ready_is_waited_for_while_a_loaded_machine_gives_no_time(tmp_path: Path) -> None:
    script = "say('host'); status('ready'); time.sleep(3); say(' login\\n'); time.sleep(1000)"
    outcome = boot(tmp_path, script, report=False, ready="host")
    assert outcome.console == b"host login\n"


def test_a_panic_seen_by_the_plugin_leaves_the_console_time_for_its_last_lines(tmp_path: Path) -> None:
    script = "status('panic'); time.sleep(.3); say('Kernel panic - not syncing: x\\nlast\\n'); time.sleep(1000)"
    outcome = boot(tmp_path, script)
    assert outcome.reason == "panic"
    assert outcome.detail == "Kernel panic - not syncing: x"
    assert outcome.console_tail()[-1] == "last"


def test_a_panicked_guest_that_is_quiet_is_not_waited_for(tmp_path: Path) -> None:
    script = "say('Kernel panic - not syncing: x\\n'); status('panic'); time.sleep(9); say('late\\n'); time.sleep(1000)"
    outcome = boot(tmp_path, script)
    assert outcome.console == b"Kernel panic - not syncing: x\n"
    assert outcome.ended.killed_by == "SIGTERM"


def test_a_panicked_guest_that_is_never_quiet_is_ended_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "QUIET_AT_MOST_S", 1.5)
    script = "say('Kernel panic - not syncing: x\\n'); status('panic')\n"
    script += "for _ in range(150): say('again\\n'); time.sleep(.1)"
    outcome = boot(tmp_path, script)
    assert outcome.reason == "panic"
    assert outcome.ended.killed_by == "SIGTERM", "it would have ended by itself only after its last line"


def test_a_panic_is_seen_on_the_console_when_there_is_no_plugin(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "say('[ 1.0] Kernel panic - not syncing: x\\n'); time.sleep(1000)", profile=False)
    assert (outcome.reason, outcome.detail) == ("panic", "Kernel panic - not syncing: x")


def test_a_panic_that_reboots_is_a_panic(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "say('Kernel panic - not syncing: x\\n'); sys.exit(0)", profile=False)
    assert outcome.reason == "panic"


def test_a_guest_that_powers_off_before_the_mark_was_never_ready(tmp_path: Path) -> None:
    assert boot(tmp_path, "say('bye\\n'); status('stopped'); sys.exit(0)").reason == "never_ready"
    (tmp_path / "status.json").unlink()
    assert boot(tmp_path, "say('bye\\n'); sys.exit(0)", profile=False).reason == "never_ready"


def test_a_hang_ends_by_the_wall_clock_and_the_plugin_may_write_its_profile(tmp_path: Path) -> None:
    script = """
def term(*_): open("profile.flp", "w").write("whole"); status("stopped"); os._exit(0)
signal.signal(signal.SIGTERM, term); status("running"); time.sleep(1000)"""
    outcome = boot(tmp_path, script, timeout_s=1)
    assert outcome.reason == "wall_timeout"
    assert (tmp_path / "profile.flp").read_text() == "whole"


def test_one_that_was_stopped_goes_on_to_write_its_profile_and_is_reported(tmp_path: Path) -> None:
    script = """
def term(*_): open("profile.flp", "w").write("whole"); status("stopped"); os._exit(0)
signal.signal(signal.SIGTERM, term); status("running"); os.kill(os.getpid(), signal.SIGSTOP); time.sleep(1000)"""
    outcome = boot(tmp_path, script, timeout_s=1)
    assert outcome.reason == "wall_timeout"
    assert outcome.detail.endswith("QEMU was stopped by a signal")
    assert outcome.ended.killed_by is None
    assert (tmp_path / "profile.flp").read_text() == "whole"


def test_a_virtual_time_out_is_the_plugins(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "status('timeout', virtual_ns=3_000_000_000); time.sleep(1000)")
    assert outcome.reason == "virtual_timeout"
    assert "3.000000 s" in outcome.detail


def test_a_killed_qemu_has_died_and_says_by_what(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "say('half a li'); status('running'); os.kill(os.getpid(), signal.SIGKILL)")
    assert outcome.reason == "qemu_died"
    assert "SIGKILL" in outcome.detail
    assert outcome.console == b"half a li"


def test_a_crash_after_the_guest_began_is_reported_with_qemus_own_words(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "say('begun\\n'); print('Bad icount read', file=sys.stderr); sys.exit(1)")
    assert outcome.reason == "qemu_died"
    assert "exit code 1" in outcome.detail
    assert "Bad icount read" in outcome.detail


def test_a_plugin_that_cannot_work_is_reported_in_its_words(tmp_path: Path) -> None:
    outcome = boot(tmp_path, "status('error', detail='no symbols'); time.sleep(1000)")
    assert (outcome.reason, outcome.detail) == ("plugin", "no symbols")


def test_a_qemu_that_refuses_to_start_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="does not know the machine type") as error:
        boot(tmp_path, "sys.exit('qemu-system-x86_64: unsupported machine type')")
    assert "-machine help" in (error.value.hint or "")


def test_progress_is_reported_while_the_guest_runs(tmp_path: Path) -> None:
    seen: list[Snapshot] = []
    script = "status('running'); say('x' * 3000); time.sleep(1.0); status('ready'); powered_off()"
    watch = Watch(60, profile=True, report=True)
    run(Launch([sys.executable, "-c", PRELUDE + script]), RunFiles(tmp_path), watch, seen.append)
    told = [each for each in seen if each.status is not None]
    assert told
    assert told[0].status is not None
    assert told[0].status.phase == "p"
    assert seen[-1].console_bytes == 3000


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    def interrupt(snapshot: Snapshot) -> None:
        if (tmp_path / "pid").exists():
            raise KeyboardInterrupt

    script = "open('pid.tmp', 'w').write(str(os.getpid())); os.rename('pid.tmp', 'pid'); time.sleep(1000)"
    with pytest.raises(KeyboardInterrupt):
        run(Launch([sys.executable, "-c", PRELUDE + script]), RunFiles(tmp_path), Watch(60, True, True), interrupt)
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_even_a_killed_launcher_leaves_no_process(tmp_path: Path) -> None:
    script = f"""
import sys, time
from pathlib import Path
from firstlight.lab.host.process import Process
child = Process([sys.executable, "-c", "import time; time.sleep(1000)"], Path({str(tmp_path / "log")!r}))
print(child.pid, flush=True)
time.sleep(1000)"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        child = int(launcher.stdout.readline())
        time.sleep(0.5)  # the guard turns into the program
        launcher.kill()
    deadline = time.monotonic() + 30
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def test_a_process_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('up', 'w'); time.sleep(1000)"
    with Process([sys.executable, "-c", code], tmp_path / "log") as process:
        while not (tmp_path / "up").exists():
            time.sleep(0.02)
        assert process.end(grace_s=0.2).killed_by == "SIGKILL"


def is_running(pid: int) -> bool:
    """Whether a process is there and is not a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_the_status_line_may_be_padded_and_may_be_half_written(tmp_path: Path) -> None:
    from firstlight.lab.host.plugin_status import read_status

    path = tmp_path / "status.json"
    path.write_bytes(json.dumps({"state": "ready", "virtual_ns": 3}).encode().ljust(1024))
    status = read_status(path)
    assert status is not None
    assert status.final
    assert status.virtual_ns == 3
    path.write_bytes(b'{"state": "rea')
    assert read_status(path) is None

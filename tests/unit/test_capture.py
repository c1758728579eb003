"""`firstlight capture`: the console of an emulated board becomes a boot."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import firstlight
from emulated_board import BOOT, Board, emulated
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, LabError, UsageError
from firstlight.lab.capture.file import CaptureFile


def marks(boot: firstlight.Boot) -> dict[str, int]:
    return dict(boot.marks().select("mark", "time_ns").iter_rows())


def lines(boot: firstlight.Boot) -> list[str]:
    return [text.rstrip() for text in boot.log()["text"]]


def test_a_boot_begins_at_power_on_and_ends_at_the_ready_line(tmp_path: Path) -> None:
    with emulated(Board()) as board:
        captured = firstlight.capture(
            board.port, power=board.power, ready="login: ", marks=["camera=camera"], output=tmp_path / "a.boot"
        )
    boot = firstlight.open(tmp_path / "a.boot")
    found = marks(boot)
    assert str(captured.outcome.ended) == "ready"
    assert (next(iter(found)), list(found)[-1]) == ("power_on", "ready")
    assert found["firmware_start"] >= 50_000_000
    assert found["camera"] <= found["ready"]
    assert boot.phases()["duration_ns"].sum() == found["ready"]
    assert lines(boot)[-2:] == ["camera 0 up", "box login:"]
    assert (tmp_path / "a.boot/raw/a.capture.bin").exists()
    assert not (tmp_path / "a.capture.bin").exists()
    facts = dict(boot.facts().select("fact", "value").iter_rows())
    assert int(facts["capture.stamp_error_p99_ns"]) >= 0


def test_the_output_of_a_command_is_a_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT)
    assert run(["capture", "-o", str(tmp_path / "a.boot"), "--ready", "login", "--", "cat", str(console)]) == 0
    assert lines(firstlight.open(tmp_path / "a.boot"))[0].startswith("U-Boot")


def test_a_boot_that_does_not_become_ready_is_written_and_unhealthy(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT)
    assert run(["capture", "-o", str(tmp_path / "a.boot"), "--ready", "never", "--", "cat", str(console)]) == 4
    assert len(lines(firstlight.open(tmp_path / "a.boot"))) == 6


def test_the_last_boot_of_a_board_that_resets_itself_counts_and_the_other_is_named(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT[: BOOT.index(b"camera")] + BOOT)
    assert run(["capture", "-o", str(tmp_path / "a.boot"), "--ready", "login", "--", "cat", str(console)]) == 0
    boot = firstlight.open(tmp_path / "a.boot")
    assert list(marks(boot))[-1] == "ready"
    assert lines(boot).count("widget: ready") == 1
    assert not boot.manifest.completeness.complete


@pytest.mark.parametrize("format", ["lava", "kcidb", "openmetrics"])
def test_a_capture_that_never_became_ready_is_exported_as_a_failure(tmp_path: Path, format: str) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT[: BOOT.index(b"box")])
    captured = firstlight.capture(command=["cat", str(console)], ready="login: ", output=tmp_path / "a.boot")
    failure = captured.imported.manifest.failure
    assert failure is not None
    assert str(failure.reason) == "never_ready"
    assert run(["export", str(tmp_path / "a.boot"), "--to", format, "-o", str(tmp_path / "out")]) == 0
    said = (tmp_path / "out").read_text()
    wanted = {"lava": "fail", "kcidb": '"FAIL"', "openmetrics": 'boot_up{boot="a"'}[format]
    assert wanted in said
    assert not re.search(r"name=total|boot_total|\"PASS\"|result=pass", said)


def test_a_reset_after_the_ready_line_is_named_and_the_boot_with_the_line_counts(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT + b"\r\n" + BOOT[: BOOT.index(b"camera")])
    captured = firstlight.capture(command=["cat", str(console)], ready="login: ", output=tmp_path / "a.boot")
    assert re.fullmatch(r"the board started again after \d+\.\d s", captured.outcome.warnings[0])
    assert list(marks(firstlight.open(tmp_path / "a.boot")))[-1] == "ready"
    assert "camera 0 up" in lines(firstlight.open(tmp_path / "a.boot"))


def test_a_reset_before_the_ready_line_is_named(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT[: BOOT.index(b"camera")] + BOOT)
    captured = firstlight.capture(command=["cat", str(console)], ready="login: ", output=tmp_path / "a.boot")
    assert [each.partition(" after")[0] for each in captured.outcome.warnings] == ["the board started again"]
    assert list(marks(firstlight.open(tmp_path / "a.boot")))[-1] == "ready"


def test_a_pattern_of_the_end_of_a_line_waits_for_it(tmp_path: Path) -> None:
    first = BOOT[: BOOT.index(b"camera")] + b"app: ready"
    words = f"import os, time; os.write(1, {first!r}); time.sleep(0.3); os.write(1, b'ing up\\r\\napp: ready\\r\\n')"
    firstlight.capture(command=[sys.executable, "-c", words], ready="app: ready$", output=tmp_path / "a.boot")
    assert lines(firstlight.open(tmp_path / "a.boot"))[-2:] == ["app: readying up", "app: ready"]


def test_a_prompt_is_a_line_on_which_nothing_follows(tmp_path: Path) -> None:
    words = f"import os, time; os.write(1, {BOOT!r}); time.sleep(60)"
    captured = firstlight.capture(
        command=[sys.executable, "-c", words], ready="login: $", timeout_s=20, output=tmp_path / "a.boot"
    )
    assert str(captured.outcome.ended) == "ready"


def test_the_ready_line_is_matched_without_colours(tmp_path: Path) -> None:
    line = b"[\x1b[0;32m  OK  \x1b[0m] Started \x1b[0;1;39msshd\x1b[0m\0.service\r\n"
    words = f"import os, time; os.write(1, {BOOT[: BOOT.index(b'box')] + line!r}); time.sleep(60)"
    captured = firstlight.capture(
        command=[sys.executable, "-c", words], ready=r"OK  \] Started sshd.service", timeout_s=5,
        output=tmp_path / "a.boot",
    )  # fmt: skip
    assert str(captured.outcome.ended) == "ready"
    assert "ready" in marks(firstlight.open(tmp_path / "a.boot"))


def test_text_in_utf8_is_not_garbage(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_bytes("│ 欢迎使用启动管理程序 │\r\n".encode() * 40 + BOOT)
    captured = firstlight.capture(command=["cat", str(console)], ready="login: ", output=tmp_path / "a.boot")
    assert captured.outcome.warnings == []


def test_a_board_that_boots_by_itself_is_named_and_what_came_before_left_out(tmp_path: Path) -> None:
    with emulated(Board(before=b"gizmo: alive\r\n")) as board:
        captured = firstlight.capture(board.port, power=board.power, ready="login: ", output=tmp_path / "a.boot")
    assert "before power-on" in captured.outcome.warnings[0]
    assert marks(firstlight.open(tmp_path / "a.boot"))["power_on"] == 0


def test_garbage_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    garbage = bytes(random.Random(1).choices(range(128, 256), k=400))
    with emulated(Board(console=garbage)) as board, pytest.raises(FirstlightError, match="baud rate") as error:
        firstlight.capture(board.port, power=board.power, output=tmp_path / "a.boot", timeout_s=5)
    assert garbage[:16] in (tmp_path / "a.capture.bin").read_bytes()
    assert error.value.hint == "the file contains the complete capture"


def test_a_relay_that_does_not_answer_or_says_no(tmp_path: Path) -> None:
    with emulated(Board(status=500)) as board:
        with pytest.raises(LabError, match=r"failed with exit code 1: .*500"):
            firstlight.capture(board.port, power=board.power, output=tmp_path / "a.boot")
        with pytest.raises(LabError, match=r"did not end within 0\.2 s"):
            firstlight.capture(board.port, power="sleep 60", output=tmp_path / "a.boot", timeout_s=0.2)
    assert list(tmp_path.iterdir()) == []


def test_a_relay_that_does_not_answer_leaves_what_was_printed_under_a_name_that_is_stated(tmp_path: Path) -> None:
    with emulated(Board(before=b"gizmo: alive\r\n")) as board:
        for number in (1, 2):
            with pytest.raises(LabError, match=r"did not end within 0\.2 s") as error:
                firstlight.capture(board.port, power="sleep 60", output=tmp_path / "a.boot", timeout_s=0.2)
            kept = tmp_path / f"a.lost-{number}.capture.bin"
            assert f"`{kept}` has what was printed" in str(error.value.hint)
            assert b"gizmo: alive" in kept.read_bytes()


@pytest.mark.parametrize(
    ("printed", "complaint"),
    [(b"", "before the board printed a byte"), (b"U-Boot 2024.01\r\n", "no line that is known from boots of Linux")],
)
def test_a_capture_without_a_boot_is_named(
    tmp_path: Path, printed: bytes, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with CaptureFile(tmp_path / "a.capture.bin") as file:
        file.setup({"source": "test"})
        if printed:
            file.data(7, printed)
    assert run(["import", str(tmp_path / "a.capture.bin"), "-o", str(tmp_path / "a.boot")]) == 1
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["/no/such/port"], 1),
        (["/dev/null"], 1),
        (["tcp://127.0.0.1"], 2),
        (["tcp://127.0.0.1:1"], 1),
        (["/dev/tty", "--baud", "115201"], 2),
        (["/dev/tty", "--ready", "("], 2),
        (["--", "/no/such/program", "-x"], 1),
        (["--", "true", "-x"], 1),
    ],
)
def test_what_cannot_be_captured_is_an_error_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["capture", "-o", str(tmp_path / "a.boot"), *arguments]) == code
    assert "error: " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_another_program_holds_is_named(tmp_path: Path) -> None:
    holds = "import fcntl, os, sys, time; fcntl.flock(0, fcntl.LOCK_EX); print(flush=True); time.sleep(60)"
    with emulated(Board()) as board, Path(board.port).open("rb", buffering=0) as port:
        words = [sys.executable, "-c", holds]
        with subprocess.Popen(words, stdin=port, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            with pytest.raises(LabError, match=rf"another program holds the port: .*process {other.pid}") as error:
                firstlight.capture(board.port, power=board.power, output=tmp_path / "a.boot")
            other.kill()
    assert error.value.hint is not None
    assert list(tmp_path.iterdir()) == []


def test_another_reader_of_the_port_is_named_and_the_capture_ends(tmp_path: Path) -> None:
    with (
        emulated(Board()) as board,
        Path(board.port).open("rb", buffering=0) as port,
        subprocess.Popen(["cat"], stdin=port, stdout=subprocess.DEVNULL) as other,
    ):
        try:
            captured = firstlight.capture(
                board.port, power=board.power, ready="login: ", timeout_s=3, output=tmp_path / "a.boot"
            )
            said = str(captured.outcome.warnings)
        except FirstlightError as error:
            # It took every byte.
            said = str(error)
        finally:
            other.kill()
    assert f"cat (process {other.pid})" in said


def test_what_is_printed_during_the_self_test_is_stamped_when_it_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: list[int] = []
    with emulated(Board()) as board:

        def measured(*_: object, **__: object) -> None:
            subprocess.run(["/bin/sh", "-c", board.power], check=True)
            time.sleep(1.0)
            ended.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))

        monkeypatch.setattr("firstlight.lab.capture.session.stamp_error", measured)
        firstlight.capture(board.port, ready="login: ", output=tmp_path / "a.boot")
        assert f"listening to {board.port}" in capsys.readouterr().err
    record = (tmp_path / "a.boot/raw/a.capture.bin").read_bytes()
    stamps = [int(time_ns) for time_ns in re.findall(rb"^data (\d+) ", record, re.MULTILINE)]
    assert max(stamps) < ended[0]


def test_what_is_printed_during_the_self_test_is_in_the_file_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "a.capture.bin"
    kept: list[bytes] = []
    with emulated(Board()) as board:

        def measured(*_: object, **__: object) -> None:
            subprocess.run(["/bin/sh", "-c", board.power], check=True)
            end = time.monotonic() + 20
            while not kept and time.monotonic() < end:
                time.sleep(0.05)
                kept.extend(re.findall(rb"camera 0 up", record.read_bytes() if record.exists() else b""))

        monkeypatch.setattr("firstlight.lab.capture.session.stamp_error", measured)
        firstlight.capture(board.port, ready="login: ", output=tmp_path / "a.boot")
    assert kept


def test_bytes_that_were_waiting_before_listening_began_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, writes = os.pipe()
    os.write(writes, BOOT)
    os.close(writes)
    with os.fdopen(reads) as console:
        monkeypatch.setattr("sys.stdin", console)
        captured = firstlight.capture("-", ready="login: ", output=tmp_path / "a.boot")
    assert captured.outcome.warnings == ["bytes were waiting when listening began: their time stamps are too late"]


def test_a_script_of_one_word_is_a_command(tmp_path: Path) -> None:
    script = tmp_path / "board.sh"
    script.write_bytes(b"#!/bin/sh\ncat <<E\n" + BOOT.replace(b"\r", b"") + b"\nE\n")
    script.chmod(0o755)
    assert run(["capture", "-o", str(tmp_path / "a.boot"), "--ready", "login: ", "--", str(script)]) == 0


def test_a_name_of_neither_a_port_nor_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capture", "-o", str(tmp_path / "a.boot"), "--", "nosuchcommand"]) == 1
    assert "nosuchcommand: there is no such port, and no such command" in capsys.readouterr().err


def test_standard_input_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert run(["capture", "-", "-o", str(tmp_path / "a.boot")]) == 1
    assert "error: standard input is closed" in capsys.readouterr().err


def test_a_port_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("firstlight.lab.capture.source.os.open", denied)
    with pytest.raises(LabError, match="no permission") as error:
        firstlight.capture("/dev/ttyUSB0", output=tmp_path / "a.boot")
    assert "dialout" in str(error.value.hint)


def test_a_capture_that_is_killed_is_read_to_its_end(tmp_path: Path) -> None:
    record, console = tmp_path / "a.capture.bin", tmp_path / "console"
    console.write_bytes(BOOT)
    command = [sys.executable, "-m", "firstlight", "capture", "-o", str(tmp_path / "a.boot")]
    process = subprocess.Popen([*command, "--", "sh", "-c", f"cat {console}; sleep 60"], stderr=subprocess.DEVNULL)
    while not record.exists() or b"login" not in record.read_bytes():
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    boot = firstlight.import_(record, output=tmp_path / "b.boot", ready="login")
    assert list(marks(boot))[-1] == "ready"
    assert any("before it was complete" in problem.detail for problem in boot.manifest.sources[0].problems)


def test_a_file_that_is_cut_anywhere_has_every_line_before_the_cut(tmp_path: Path) -> None:
    record = tmp_path / "a.capture.bin"
    with CaptureFile(record) as file:
        file.setup({"baud": 115200})
        for number in range(200):
            file.data(1_000_000 * number, f"[{number / 1000:12.6f}] gizmo: line {number}\n".encode())
    content = record.read_bytes()
    first = content.index(b"line 1\n")
    for cut in random.Random(7).sample(range(first + 20, len(content)), 100):
        part = tmp_path / "part.capture.bin"
        part.write_bytes(content[:cut])
        boot = firstlight.import_(part, output=tmp_path / "part.boot", force=True)
        *_, last = content[:cut].split(b"gizmo: line ")
        whole = content[:cut].count(b"gizmo: line ") - (b"\n" not in last)
        kept = [line for line in lines(boot) if line.startswith("gizmo: line ")]
        assert kept[:whole] == [f"gizmo: line {number}" for number in range(whole)]


def busy_below(process: int) -> list[int]:
    """The children of a process that have the scheduling policy SCHED_IDLE."""
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout
    busy = []
    for each in map(int, found.split()):
        with contextlib.suppress(ProcessLookupError):
            if os.sched_getscheduler(each) == os.SCHED_IDLE:
                busy.append(each)
    return busy


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_process_for_each_processor_keeps_it_awake_only_while_the_console_is_read(tmp_path: Path) -> None:
    seen = tmp_path / "seen"

    def watch() -> None:
        wait_until(lambda: len(busy_below(os.getpid())) == len(os.sched_getaffinity(0)))
        seen.touch()

    watching = threading.Thread(target=watch)
    watching.start()
    printed = r"printf '[    0.000000] Linux version 6.12\n[    1.000000] a: b\n'"
    words = ["sh", "-c", f"until [ -e '{seen}' ]; do sleep 0.1; done; {printed}"]
    firstlight.capture(command=words, output=tmp_path / "a.boot", awake=True)
    watching.join()
    assert busy_below(os.getpid()) == []
    facts = dict(firstlight.open(tmp_path / "a.boot").facts().select("fact", "value").iter_rows())
    assert facts["capture.processors"] == "awake"


def test_what_keeps_processors_awake_ends_with_a_capture_that_is_killed() -> None:
    words = "from firstlight.lab.capture.awake import kept_awake; import time\n"
    words += "with kept_awake(wanted=True): time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", words]) as capture:
        wait_until(lambda: len(busy_below(capture.pid)) == len(os.sched_getaffinity(0)))
        busy = busy_below(capture.pid)
        capture.kill()
    wait_until(lambda: not any(Path(f"/proc/{each}").exists() for each in busy))


def test_the_self_test_states_its_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capture", "--self-test", "--baud", "921600"]) == 0
    said = capsys.readouterr().out
    assert "p99" in said
    assert "921,600 baud" in said


def test_two_marks_that_match_one_line_are_both_set(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_bytes(BOOT)
    firstlight.capture(
        command=["cat", str(console)], ready="login", marks=["one=camera", "two=camera 0"], output=tmp_path / "a.boot"
    )
    found = marks(firstlight.open(tmp_path / "a.boot"))
    assert found["one"] == found["two"]
    assert list(found)[-1] == "ready"


def test_a_rate_that_no_port_has() -> None:
    with emulated(Board()) as board, pytest.raises(UsageError, match="no serial port has the rate 115201"):
        firstlight.capture(board.port, baud=115201)

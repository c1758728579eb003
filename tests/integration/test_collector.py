"""The collector on this machine: under several shells, with and without root, where things are missing or hang."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collecting import ROOT, SCRIPT, SHELL, SHELLS, collect, manifest, members, programs
from firstlight.assets import asset_path
from firstlight.cli.main import run

STATES = {"whole", "partial", "empty", "missing", "denied", "timeout", "failed", "skipped"}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_writes_a_collection_whose_manifest_names_all_that_is_in_it(shell: str, tmp_path: Path) -> None:
    if shutil.which(SHELLS[shell][0]) is None:
        pytest.skip(f"there is no {shell}")
    said = collect("-o", "boot.tar", cwd=tmp_path, shell=SHELLS[shell])
    assert said.returncode == 0, said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["boot.tar"]
    assert (tmp_path / "boot.tar").stat().st_mode & 0o077 == 0
    files = members((tmp_path / "boot.tar").read_bytes())
    lines, items = manifest(files)
    assert lines[0] == ["firstlight-collection", "1"]
    assert lines[-1] == ["end", str(len(items))]
    assert {item[0] for item in items.values()} <= STATES
    gathered = {name: item for name, item in items.items() if name in files}
    assert set(files) == {"manifest.tsv", *gathered}
    assert all(int(item[2]) == len(files[name]) > 0 for name, item in gathered.items())
    assert all(item[0] not in ("whole", "partial") for name, item in items.items() if name not in files)
    assert all(item[0] == "missing" or item[0] == "empty" or item[5] for item in items.values() if item[0] != "whole")
    assert files["proc/cmdline"] == Path("/proc/cmdline").read_bytes()
    for line in files["kernel/devices.tsv"].decode().splitlines()[:20]:
        bus, device, driver = line.split("\t")
        bound = Path(f"/sys/bus/{bus}/devices/{device}/driver")
        assert driver == (bound.resolve().name if bound.exists() else "")


def test_clocks_are_read_between_two_instants(tmp_path: Path) -> None:
    before = time.time_ns()
    lines, _ = manifest(members(collect("-o", "-", cwd=tmp_path).stdout))
    after = time.time_ns()
    readings = [line[1:] for line in lines if line[0] == "clock"]
    assert all(int(start) <= int(end) for start, end, *_ in readings)
    walls = [(int(value), int(step)) for _, _, name, value, step in readings if name == "realtime"]
    assert len(walls) == 2
    assert all(before - step < value <= after for value, step in walls)
    for start, end, name, value, _ in readings:
        if name == "monotonic":
            # The time since boot goes on in a suspended system, this clock does not.
            assert int(value) <= int(end) + 20_000_000
            assert int(value) >= int(start) - 10_000_000 - (
                time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
            )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_without_root_it_gathers_what_it_may_and_says_what_it_may_not(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    said = collect("-o", "boot.tar", cwd=tmp_path, user=65534)
    assert said.returncode == 0, said.stderr
    files = members((tmp_path / "boot.tar").read_bytes())
    lines, items = manifest(files)
    assert ["user", "65534"] in lines
    assert {"proc/cmdline", "proc/version", "kernel/devices.tsv"} <= set(files)
    if Path("/proc/sys/kernel/dmesg_restrict").read_text().strip() == "1":
        assert items["kernel/kmsg"][0] == "denied"
        assert "kernel/kmsg" not in files
        assert b"hint: root may read more" in said.stderr


def test_what_hangs_is_left_behind_with_all_that_it_started(tmp_path: Path) -> None:
    mark = f"3600.{os.getpid()}"
    hanging = f"echo first; (sleep {mark}) & sleep {mark}"
    path = programs(tmp_path / "bin", cbmem=hanging)
    script = SCRIPT.read_text().replace("firmware/cbmem.txt 20 ", "firmware/cbmem.txt 1 ")
    words = [*SHELL, "-s", "--", "-o", "-"]
    said = subprocess.run(
        words, input=script.encode(), env={"PATH": path}, cwd=tmp_path, capture_output=True, check=True
    )
    files = members(said.stdout)
    item = manifest(files)[1]["firmware/cbmem.txt"]
    assert (item[0], item[1], item[5]) == ("partial", "-", "not done after 1 s")
    assert files["firmware/cbmem.txt"] == b"first\n"
    assert not subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).stdout


def test_what_never_ends_is_cut_at_its_limit(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", cbmem="yes 0123456")
    files = members(collect("-o", "-", cwd=tmp_path, path=path).stdout)
    assert manifest(files)[1]["firmware/cbmem.txt"][0::5] == ["partial", "cut at 1048576 bytes"]
    assert files["firmware/cbmem.txt"] == b"0123456\n" * (1 << 17)


def test_a_command_that_fails_is_noted_with_its_words(tmp_path: Path) -> None:
    path = programs(
        tmp_path / "bin", cbmem="printf 'no\\ttable\\n' >&2; exit 3", dmesg="echo Permission denied >&2; exit 1"
    )
    items = manifest(members(collect("-o", "-", cwd=tmp_path, path=path).stdout))[1]
    assert items["firmware/cbmem.txt"] == ["failed", "3", "0", items["firmware/cbmem.txt"][3], "cbmem -T", "notable"]
    assert items["kernel/dmesg"][0] == "denied"


def test_an_older_program_that_lacks_an_option_is_no_failure(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", cbmem="echo \"cbmem: invalid option -- 'T'\" >&2; exit 1")
    item = manifest(members(collect("-o", "-", cwd=tmp_path, path=path).stdout))[1]["firmware/cbmem.txt"]
    assert (item[0], item[5]) == ("missing", "cbmem: invalid option -- 'T'")


def test_a_date_without_fractions_gives_whole_seconds(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", date="case $1 in *N) echo 1700000000.%N;; *) echo 1700000000;; esac")
    lines, _ = manifest(members(collect("-o", "-", cwd=tmp_path, path=path).stdout))
    walls = [line[4:] for line in lines if line[0] == "clock" and line[3] == "realtime"]
    assert walls == [["1700000000000000000", "1000000000"]] * 2


def test_no_service_is_started_for_a_plot(tmp_path: Path) -> None:
    """`systemd-analyze plot` would have the system bus start hostnamed: it is never given that bus."""
    started = [line.split() for line in SCRIPT.read_text().splitlines() if "systemd-analyze plot" in line]
    assert len(started) == 2
    for words in started:
        assert words[4:6] == ["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null"]


def interrupted(script: str, shell: str, number: signal.Signals, folder: Path) -> tuple[int, bytes]:
    """Run a script until `begun` appears, send it a signal: how it ends, and what it says."""
    if shutil.which(SHELLS[shell][0]) is None:
        pytest.skip(f"there is no {shell}")
    mark = f"3601.{os.getpid()}"
    path = programs(folder / "bin", cbmem=f"touch {folder}/begun; sleep {mark}")
    (folder / "bin/collect").write_text(script)
    words = [*SHELLS[shell], str(folder / "bin/collect"), "-q", "-o", "boot.tar"]
    environment = {"PATH": path, "TMPDIR": str(folder)}
    with subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not (folder / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert not subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).stdout
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("shell", SHELLS)
def test_an_interrupt_leaves_nothing_behind_and_says_nothing(
    shell: str, number: signal.Signals, tmp_path: Path
) -> None:
    assert interrupted(SCRIPT.read_text(), shell, number, tmp_path) == (128 + number, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "bin"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_job_that_was_started_just_before_an_interrupt_is_not_left_running(shell: str, tmp_path: Path) -> None:
    script = SCRIPT.read_text()
    assert script.count("    job=$!\n") == 1
    late = script.replace("    job=$!\n", "    [ ! -e cbmem ] || sleep 1\n    job=$!\n")
    late = late.replace("    command_ firmware/cbmem.txt", "    : >cbmem\n    command_ firmware/cbmem.txt")
    assert interrupted(late, shell, signal.SIGINT, tmp_path) == (130, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "bin", "cbmem"]


def test_an_interrupt_ends_no_process_that_the_collector_did_not_start(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(SCRIPT.read_text())
    collector = " ".join(SHELL)
    starts = f"sleep 3602 >/dev/null 2>&1 & echo $! >{tmp_path}/other\nexec {collector} {tmp_path}/script"
    assert interrupted(f'{starts} "$@"\n', "dash", signal.SIGINT, tmp_path)[0] == 130
    other = (tmp_path / "other").read_text().strip()
    assert ") S " in Path(f"/proc/{other}/stat").read_text()
    os.kill(int(other), signal.SIGKILL)


def test_what_is_still_written_when_the_directory_is_removed_goes_too(tmp_path: Path) -> None:
    first = f"[ $1 = -rf ] && [ ! -e {tmp_path}/late ] && touch {tmp_path}/late && exit 1"
    path = programs(tmp_path / "bin", rm=f'{first}\nexec {shutil.which("rm")} "$@"')
    assert collect("-q", "-o", "boot.tar", cwd=tmp_path, path=path).stderr == b""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bin", "boot.tar", "late"]


def test_a_script_that_was_cut_on_its_way_does_nothing(tmp_path: Path) -> None:
    text = SCRIPT.read_bytes()
    for size in range(0, len(text) - len(b'main "$@"\n'), 997):
        subprocess.run(SHELL, input=text[:size], cwd=tmp_path, capture_output=True, check=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "name"), [([], "firstlight-collect.sh"), (["--unit"], "firstlight-collect.service")])
def test_an_installed_firstlight_prints_what_the_repository_holds(
    words: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["collector", *words]) == 0
    assert capsys.readouterr().out == (ROOT / "collector" / name).read_text()
    assert asset_path(name).read_bytes() == (ROOT / "collector" / name).read_bytes()


def test_the_script_keeps_to_posix_and_to_the_rules_of_shellcheck() -> None:
    checker = Path(sys.executable).with_name("shellcheck")
    said = subprocess.run(
        [checker, "--shell=sh", "--severity=style", SCRIPT], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout) == (0, "")

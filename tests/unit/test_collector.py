"""The collector on this machine: under several shells, with and without root, where things are missing or hang."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from firstlight.carried import carried
from firstlight.cli.main import run

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "collector/firstlight-collect.sh"
SHELLS = {"dash": ["dash"], "busybox": ["busybox", "sh"], "bash": ["bash", "--posix"]}
STATES = {"whole", "partial", "empty", "missing", "denied", "timeout", "failed", "skipped"}
SHELL = next((words for words in SHELLS.values() if shutil.which(words[0])), ["sh"])


def collect(
    *options: str, cwd: Path, shell: Sequence[str] = SHELL, user: int | None = None, path: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the script as a person does, its own directory in `cwd`."""
    environment = {"PATH": path or os.environ["PATH"], "TMPDIR": str(cwd)}
    words = [shutil.which(shell[0]) or shell[0], *shell[1:], "-s", "--", *options]
    return subprocess.run(
        words, cwd=cwd, env=environment, input=SCRIPT.read_bytes(), capture_output=True, check=False, user=user,
        group=user, extra_groups=None if user is None else [],
    )  # fmt: skip


def members(tar: bytes) -> dict[str, bytes]:
    """The files of a collection, without their folder."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for member in archive:
            top, _, name = member.name.partition("/")
            assert top == "firstlight-collection"
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                found[name] = content.read()
    return found


def manifest(files: dict[str, bytes]) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The manifest's lines, and its items by name."""
    lines = [line.split("\t") for line in files["manifest.tsv"].decode().splitlines()]
    return lines, {line[1]: line[2:] for line in lines if line[0] == "item"}


def programs(folder: Path, **replaced: str) -> str:
    """A `PATH` on which some programs are scripts of ours, the rest as on this machine."""
    folder.mkdir()
    for name, text in replaced.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


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


SECRETS = """\
E: ID_SERIAL_SHORT=60A44C-3FAC
E: ID_SERIAL_SHORT=7
E: ID_SERIAL_SHORT=123456
E: ID_SERIAL_SHORT=X1Y2Z3W4V5
"""
TOLD = """\
[    1.000000] usb 1-1: SerialNumber: 0815ABC
[    1.123456] eth0: 52:54:00:12:34:56, enx525400123456, by 00-11-22-33-44-55
[    1.200000] ata1: disk 60A44C-3FAC X1Y2Z3W4V5 X1Y2Z3W4V5, not X1Y2Z3W4V55
dev-disk-by\\x2did-usb_60A44C\\x2d3FAC.device
/home/alice/mail home-alice.mount cifs rw,username=alice,uid=0 c:d:e 0000:00:1f.2
"""


def test_identifiers_are_replaced_one_by_one_and_nothing_else_is(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", udevadm=f"cat <<'X'\n{SECRETS}X", cbmem=f"cat <<'X'\n{TOLD}X")
    for options, redacted in (((), True), (("--no-redact",), False)):
        files = members(collect("-o", "-", *options, cwd=tmp_path, path=path).stdout)
        assert ["redacted", "yes" if redacted else "no"] in manifest(files)[0]
        told = files["firmware/cbmem.txt"].decode()
        if not redacted:
            assert told == TOLD
            continue
        first, second, third, unit, rest = told.splitlines()
        assert first == "[    1.000000] usb 1-1: SerialNumber: SERIAL"
        assert second == "[    1.123456] eth0: 00:00:00:00:00:00, enx000000000000, by 00-00-00-00-00-00"
        words = third.split()
        assert words[4].startswith("SERIAL")
        assert words[5].startswith("SERIAL")
        assert words[4] != words[5]
        assert words[6] == f"{words[5]},"
        assert third.startswith("[    1.200000] ata1: disk SERIAL")
        assert third.endswith(", not X1Y2Z3W4V55")
        assert unit == f"dev-disk-by\\x2did-usb_{words[4]}.device"
        assert rest == "/home/USER/mail home-USER.mount cifs rw,username=USER,uid=0 c:d:e 0000:00:1f.2"
        assert not any(b"60A44C" in content for content in files.values())


NAMED = """\
Linux gizmobox 6.1.0-example #1 SMP
Set hostname to <gizmobox>. nfs://gizmobox/export gizmobox.
Starting gizmobox-backup.service
Id=gizmobox.service gizmobox@1.service dev-mapper-gizmobox\\x2droot.device
/var/lib/gizmobox/state gizmoboxes
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may name a machine")
def test_a_unit_that_has_the_host_name_in_its_own_keeps_it(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", cbmem=f"cat <<'X'\n{NAMED}X")
    named = "echo gizmobox >/proc/sys/kernel/hostname && exec sh -s -- -o -"
    said = subprocess.run(
        ["unshare", "--uts", "sh", "-c", named], cwd=tmp_path, env={"PATH": path, "TMPDIR": str(tmp_path)},
        input=SCRIPT.read_bytes(), capture_output=True, check=False,
    )  # fmt: skip
    if said.returncode != 0 and not said.stdout:
        pytest.skip("a machine cannot be named here")
    first, second, *rest = members(said.stdout)["firmware/cbmem.txt"].decode().splitlines()
    assert first == "Linux HOSTNAME 6.1.0-example #1 SMP"
    assert second == "Set hostname to <HOSTNAME>. nfs://HOSTNAME/export HOSTNAME."
    assert rest == NAMED.splitlines()[2:]


def test_no_service_is_started_for_a_plot(tmp_path: Path) -> None:
    """`systemd-analyze plot` would have the system bus start hostnamed: it is never given that bus."""
    started = [line.split() for line in SCRIPT.read_text().splitlines() if "systemd-analyze plot" in line]
    assert len(started) == 2
    for words in started:
        assert words[4:6] == ["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null"]


@pytest.mark.skipif(not Path("/etc/machine-id").exists(), reason="this machine has no id")
def test_the_machines_id_is_nowhere(tmp_path: Path) -> None:
    number = Path("/etc/machine-id").read_bytes().strip()
    files = members(collect("-o", "-", cwd=tmp_path).stdout)
    assert not [name for name, content in files.items() if number and number in content]


def test_a_tar_that_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "boot.tar").write_text("mine")
    said = collect("-o", "boot.tar", cwd=tmp_path)
    assert (said.returncode, said.stderr) == (1, b"error: boot.tar: there is something already\nhint: -f replaces it\n")
    assert (tmp_path / "boot.tar").read_text() == "mine"
    assert collect("-o", "boot.tar", "-f", "-q", cwd=tmp_path).stderr == b""
    assert "manifest.tsv" in members((tmp_path / "boot.tar").read_bytes())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--fast"], b"there is no option --fast"),
        (["-o"], b"-o lacks its value"),
        (["--wait", "1m"], b"1m is no number of seconds"),
    ],
)
def test_wrong_use_is_told(options: list[str], says: bytes, tmp_path: Path) -> None:
    said = collect(*options, cwd=tmp_path)
    assert said.returncode == 2
    assert says in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_and_a_missing_tar_are_told(tmp_path: Path) -> None:
    assert b"cannot be written" in collect("-o", "none/boot.tar", cwd=tmp_path).stderr
    path = programs(tmp_path / "bin", tar="echo 'No space left on device' >&2; exit 2")
    said = collect("-o", "boot.tar", cwd=tmp_path, path=path)
    assert said.returncode == 1
    assert b"boot.tar: the tar cannot be written: No space left on device" in said.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["bin"]


def test_where_no_temporary_directory_can_be_written_the_tars_own_serves(tmp_path: Path) -> None:
    script = SCRIPT.read_text().replace("/tmp /var/tmp /run /dev/shm", "/proc /sys")
    environment = {"PATH": os.environ["PATH"], "TMPDIR": "/proc/self"}
    words = [*SHELL, "-s", "--", "-o", "boot.tar"]
    subprocess.run(words, input=script.encode(), env=environment, cwd=tmp_path, capture_output=True, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["boot.tar"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    mark = f"3601.{os.getpid()}"
    path = programs(tmp_path / "bin", cbmem=f"touch {tmp_path}/begun; sleep {mark}")
    environment = {"PATH": path, "TMPDIR": str(tmp_path)}
    words = [*SHELL, str(SCRIPT), "-o", "boot.tar"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(60) == 128 + number
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "bin"]
    assert not subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).stdout


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
    assert carried(name).read_bytes() == (ROOT / "collector" / name).read_bytes()


def test_the_script_keeps_to_posix_and_to_the_rules_of_shellcheck() -> None:
    checker = Path(sys.executable).with_name("shellcheck")
    said = subprocess.run(
        [checker, "--shell=sh", "--severity=style", SCRIPT], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout) == (0, "")

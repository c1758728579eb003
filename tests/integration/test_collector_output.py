"""Where the collector puts its tar, and what it leaves alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from collecting import SCRIPT, SHELL, collect, manifest, members, programs


def test_a_tar_that_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "boot.tar").write_text("mine")
    said = collect("-o", "boot.tar", cwd=tmp_path)
    assert (said.returncode, said.stderr) == (1, b"error: boot.tar: there is something already\nhint: -f replaces it\n")
    assert (tmp_path / "boot.tar").read_text() == "mine"
    assert collect("-o", "boot.tar", "-f", "-q", cwd=tmp_path).stderr == b""
    assert "manifest.tsv" in members((tmp_path / "boot.tar").read_bytes())


@pytest.mark.parametrize("kind", ["fifo", "link to a fifo", "link to nothing", "directory"])
def test_what_is_no_regular_file_is_never_replaced(kind: str, tmp_path: Path) -> None:
    there = tmp_path / "boot.tar"
    if kind == "directory":
        there.mkdir()
    elif kind == "fifo":
        os.mkfifo(there)
    else:
        there.symlink_to("other")
        if kind == "link to a fifo":
            os.mkfifo(tmp_path / "other")
    before = {path.name: path.lstat() for path in tmp_path.iterdir()}
    for options in ([], ["-f"]):
        said = collect("-o", "boot.tar", *options, cwd=tmp_path)
        assert said.returncode == 1
        assert said.stderr.startswith(b"error: boot.tar: is ")
        assert b"\nhint: " in said.stderr
        after = {path.name: path.lstat() for path in tmp_path.iterdir()}
        assert {name: (now.st_ino, now.st_mode) for name, now in after.items()} == {
            name: (then.st_ino, then.st_mode) for name, then in before.items()
        }


@pytest.mark.parametrize("tar", ["tar", "busybox tar"])
@pytest.mark.parametrize("name", ["12:30.tar", "-x.tar", "--help", "a:b/c.tar"])
def test_a_name_is_neither_an_option_nor_that_of_a_machine(name: str, tar: str, tmp_path: Path) -> None:
    if shutil.which(tar.split()[0]) is None:
        pytest.skip(f"there is no {tar}")
    (tmp_path / "here/a:b").mkdir(parents=True)
    program = " ".join([str(shutil.which(tar.split()[0])), *tar.split()[1:]])
    path = programs(tmp_path / "bin", tar=f'exec {program} "$@"')
    said = collect("-o", name, cwd=tmp_path / "here", path=path)
    assert said.returncode == 0, said.stderr
    assert said.stderr.startswith(name.encode() + b": ")
    assert [each for each in (tmp_path / "here").rglob("*") if each.is_file()] == [tmp_path / "here" / name]
    assert "manifest.tsv" in members((tmp_path / "here" / name).read_bytes())


@pytest.mark.parametrize("links", [True, False])
def test_of_two_that_end_at_once_one_gets_the_name_and_the_other_is_told(links: bool, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    target = tmp_path / "here" / "boot.tar"
    first = f'{shutil.which("tar")} "$@" && echo first >{target}'
    path = programs(tmp_path / "bin", tar=first, **({} if links else {"ln": "exit 1"}))
    said = collect("-o", "boot.tar", cwd=tmp_path / "here", path=path)
    assert (said.returncode, said.stderr) == (1, b"error: boot.tar: there is something already\nhint: -f replaces it\n")
    assert [each.name for each in (tmp_path / "here").iterdir()] == ["boot.tar"]
    assert target.read_text() == "first\n"


def test_a_file_system_without_hard_links_takes_a_tar_too(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    path = programs(tmp_path / "bin", ln="exit 1")
    assert collect("-o", "boot.tar", cwd=tmp_path / "here", path=path).returncode == 0
    assert [each.name for each in (tmp_path / "here").iterdir()] == ["boot.tar"]
    assert "manifest.tsv" in members((tmp_path / "here/boot.tar").read_bytes())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--fast"], b"there is no option --fast"),
        (["-o"], b"-o lacks its value"),
        (["-o", ""], b"-o lacks its value"),
        (["--wait", "1m"], b"1m is not a number of seconds"),
    ],
)
def test_wrong_use_is_reported(options: list[str], says: bytes, tmp_path: Path) -> None:
    said = collect(*options, cwd=tmp_path)
    assert said.returncode == 2
    assert says in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_and_a_missing_tar_are_reported(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("place", [".", "below", ""])
def test_a_work_directory_that_is_named_from_here_serves_as_well(place: str, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    script = SCRIPT.read_text().replace("/tmp /var/tmp /run /dev/shm", "/proc /sys")
    environment = {"PATH": os.environ["PATH"], "TMPDIR": place}
    words = [*SHELL, "-s", "--", "-o", "boot.tar"]
    subprocess.run(words, input=script.encode(), env=environment, cwd=tmp_path, capture_output=True, check=True)
    item = manifest(members((tmp_path / "boot.tar").read_bytes()))[1]["kernel/devices.tsv"]
    assert (item[0], item[1]) == ("whole", "0")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["below", "boot.tar"]


def test_options_of_tar_in_the_environment_change_nothing(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "TAR_OPTIONS": "--exclude=proc", "GREP_OPTIONS": "-v",
    }  # fmt: skip
    words = [*SHELL, str(SCRIPT), "-q", "-o", "-"]
    said = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, check=True)
    assert "proc/cmdline" in members(said.stdout)

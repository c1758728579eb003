"""A bundle is written whole, or not at all, and never over something else."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from contextlib import suppress
from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.bundle.writer import check_destination, check_space, new_bundle, sweep
from firstlight.errors import FirstlightError, LabError


def fill(directory: Path, text: str = "new") -> None:
    """What makes a directory a bundle, as far as its place is concerned."""
    (directory / "manifest.json").write_text(text)
    (directory / "raw").mkdir(mode=0o700)


def test_nothing_is_there_until_it_is_whole(tmp_path: Path) -> None:
    output = tmp_path / "a.boot"
    with new_bundle(output, force=False) as partial:
        fill(partial)
        assert not output.exists()
        assert partial.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.boot"]
    mask = os.umask(0)
    os.umask(mask)
    assert output.stat().st_mode & 0o777 == 0o777 & ~mask
    assert (output / "raw").stat().st_mode & 0o777 == 0o777 & ~mask


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("x"), OSError(errno.EIO, "x")])
def test_nothing_is_left_when_something_goes_wrong(tmp_path: Path, error: BaseException) -> None:
    def write() -> None:
        with new_bundle(tmp_path / "a.boot", force=False) as partial:
            fill(partial)
            raise error

    with pytest.raises((type(error), LabError)):
        write()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_kept_without_force_and_after_a_failed_attempt(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    before = (bundle / "manifest.json").read_bytes()
    with pytest.raises(LabError, match="already there") as error:
        check_destination(bundle, force=False)
    assert "--force" in (error.value.hint or "")

    def write() -> None:
        with new_bundle(bundle, force=True) as partial:
            fill(partial)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert (bundle / "manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [bundle.name]


def test_with_force_a_bundle_is_replaced_whole(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    with new_bundle(bundle, force=True) as partial:
        fill(partial)
    assert (bundle / "manifest.json").read_text() == "new"
    assert not (bundle / "calls.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == [bundle.name]


@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_what_is_no_bundle_is_never_replaced(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "a.boot"
    if kind == "file":
        place.write_text("precious")
    elif kind == "directory":
        place.mkdir()
        (place / "precious").write_text("")
    else:
        place.symlink_to(make_bundle(tmp_path, name="other.boot"))
    with pytest.raises(LabError, match="not a bundle"):
        check_destination(place, force=True)
    assert os.path.lexists(place)


def test_a_full_disk_is_found_before_the_boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 30, (1 << 30) - 4096, 4096))
    with pytest.raises(LabError, match="no space left") as error:
        check_destination(tmp_path / "a.boot", force=False)
    assert error.value.where == str(tmp_path)


def test_a_disk_that_fills_up_while_writing_is_reported_as_such(tmp_path: Path) -> None:
    def write() -> None:
        with new_bundle(tmp_path / "a.boot", force=False):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(LabError, match="no space left"):
        write()


def test_a_full_disk_is_named_whoever_met_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = "cannot write profile.flp: No space left on device (os error 28)"
    with pytest.raises(LabError, match="no space left on the file system that is mounted at `/") as error:
        check_space(tmp_path / "a.boot", plugin)
    assert "free some space" in (error.value.hint or "")
    check_space(tmp_path / "a.boot", "the plugin has no symbols")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LabError, match="mounted at `/"):
        check_space(Path("a.boot"), plugin)

    def write() -> None:
        with new_bundle(tmp_path / "a.boot", force=False):
            raise FirstlightError(f"the profile cannot be read: {plugin}")

    with pytest.raises(LabError, match="no space left on the file system"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_that_takes_no_files_is_not_full() -> None:
    with pytest.raises(LabError, match="takes no files") as error:
        check_destination(Path("/proc/x.boot"), force=False)
    assert "-o" in (error.value.hint or "")


KILLED = """
import os, signal, sys
from pathlib import Path
import firstlight.bundle.writer as bundle
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "publishing":
    Path.rename, rename = (lambda a, b: kill() if a.suffix == ".partial" else rename(a, b)), Path.rename
with bundle.new_bundle(Path(sys.argv[1]), force=True) as partial:
    (partial / "manifest.json").write_text("half")
    if sys.argv[2] == "recording": kill()
"""


def killed(output: Path, when: str) -> None:
    """Write a bundle in a process that is killed, as by `kill -9`, at an unlucky moment."""
    result = subprocess.run([sys.executable, "-c", KILLED, str(output), when], capture_output=True, check=False)
    assert result.returncode == -signal.SIGKILL, result.stderr


def test_what_killed_recordings_left_is_swept_by_the_next_into_the_same_directory(tmp_path: Path) -> None:
    output = tmp_path / "a.boot"
    killed(output, "recording")
    killed(tmp_path / "other.boot", "recording")
    assert [path.name.rpartition(".boot.")[0] for path in tmp_path.iterdir()] == [".other"]
    with new_bundle(output, force=False) as partial:
        fill(partial)
        assert [path.name for path in tmp_path.iterdir()] == [partial.name]
        for name in ("a.boot", "third.boot"):
            with suppress(KeyboardInterrupt), new_bundle(tmp_path / name, force=False):
                # One that is still at work keeps what it has.
                assert (partial / "manifest.json").is_file()
                raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["a.boot"]


def test_a_recording_of_another_process_that_lives_is_left_alone(tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from firstlight.bundle.writer import new_bundle
with new_bundle(Path(sys.argv[1]), force=False) as partial:
    print(partial, flush=True)
    time.sleep(1000)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "alive.boot")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout is not None
        partial = Path(living.stdout.readline().strip())
        with new_bundle(tmp_path / "a.boot", force=False) as other:
            fill(other)
        assert partial.is_dir()
        living.kill()
        living.wait()
    with new_bundle(tmp_path / "b.boot", force=False) as other:
        fill(other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.boot", "b.boot"]


def test_a_directory_that_another_recording_sweeps_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = os.open
    swept: list[Path] = []

    def open_late(path: os.PathLike[str] | str, flags: int, *more: int, **named: int) -> int:
        directory = Path(path)
        if not swept and directory.name.endswith(".partial"):
            swept.append(directory)
            sweep(tmp_path / "b.boot")
        return really_open(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", open_late)
    with new_bundle(tmp_path / "a.boot", force=False) as partial:
        assert not swept[0].exists()
        fill(partial)
    assert (tmp_path / "a.boot/manifest.json").is_file()


def test_a_directory_of_somebody_else_is_never_swept(tmp_path: Path) -> None:
    for name in (".photos.abcd1234.partial", ".rsync-partial", ".a.boot.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious.jpg").touch()
    (tmp_path / ".a.boot.abcd1234.partial").symlink_to(".rsync-partial")
    before = sorted(tmp_path.rglob("*"))
    with new_bundle(tmp_path / "a.boot", force=False) as partial:
        fill(partial)
    assert [path for path in sorted(tmp_path.rglob("*")) if "a.boot" not in path.parts] == [
        path for path in before if "a.boot" not in path.parts
    ]


def test_a_bundle_whose_replacement_was_killed_halfway_comes_back(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    before = (bundle / "manifest.json").read_bytes()
    killed(bundle, "publishing")
    assert not bundle.exists()
    with pytest.raises(LabError, match="already there"), new_bundle(bundle, force=False) as partial:
        fill(partial)
    assert (bundle / "manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [bundle.name]


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError) as error:
        check_destination(tmp_path / "none" / "a.boot", force=False)
    assert error.value.where == str(tmp_path / "none")

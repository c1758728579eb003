"""A bundle is written whole, or not at all, and never over something else."""

from __future__ import annotations

import errno
import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.errors import LabError
from firstlight.lab.bundle import check_destination, new_bundle


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
    with pytest.raises(LabError, match="no bundle"):
        check_destination(place, force=True)
    assert os.path.lexists(place)


def test_a_full_disk_is_found_before_the_boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 30, (1 << 30) - 4096, 4096))
    with pytest.raises(LabError, match="no space left") as error:
        check_destination(tmp_path / "a.boot", force=False)
    assert error.value.where == str(tmp_path)


def test_a_disk_that_fills_up_while_writing_is_told_as_such(tmp_path: Path) -> None:
    def write() -> None:
        with new_bundle(tmp_path / "a.boot", force=False):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(LabError, match="no space left"):
        write()


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError) as error:
        check_destination(tmp_path / "none" / "a.boot", force=False)
    assert error.value.where == str(tmp_path / "none")

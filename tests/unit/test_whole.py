"""Files that are there whole or not at all, and what is nobody's to replace."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from firstlight.atomic import atomic_write
from firstlight.errors import FirstlightError


def write(out: Path, text: str = "new") -> None:
    with atomic_write(out, force=True) as written:
        written.write_text(text)


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    out = tmp_path / "a.txt"
    out.write_text("old")
    with atomic_write(out, force=True) as written:
        written.write_text("new")
        assert out.read_text() == "old"
    assert out.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "a.txt"
    out.write_text("old")
    with suppress(KeyError), atomic_write(out, force=True) as written:
        written.write_text("half")
        raise KeyError
    assert out.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_stays_one_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "a.txt", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_gets_what_is_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, "through")
    reader.join(timeout=30)
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_one() -> None:
    write(Path("/dev/null"))
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(FirstlightError, match="cannot be written: No space left on device"):
        write(Path("/dev/full"))
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="it is a directory"):
        write(tmp_path)

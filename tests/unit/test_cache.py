"""The cache: an entry is whole or it is not there."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from firstlight.cache import cache_dir, digest_of, entry, file_digest
from firstlight.errors import LabError


@pytest.fixture(autouse=True)
def _private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_cache_is_where_xdg_says_and_private(tmp_path: Path) -> None:
    assert cache_dir() == tmp_path / "firstlight"
    assert stat.S_IMODE(cache_dir().stat().st_mode) == 0o700


def test_a_relative_xdg_directory_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache/firstlight"


def test_an_entry_is_made_once() -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").write_text("content")

    first, second = entry("kind", "abc", make), entry("kind", "abc", make)
    assert first == second == cache_dir() / "kind/abc"
    assert (first / "file").read_text() == "content"
    assert len(made) == 1


def test_a_maker_that_fails_leaves_nothing() -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        entry("kind", "abc", fail)
    assert [path.name for path in (cache_dir() / "kind").iterdir()] == [".abc.lock"]


def test_what_a_killed_maker_left_is_removed() -> None:
    left = cache_dir() / "kind/.making-abc"
    left.mkdir(parents=True)
    (left / "half").write_text("")
    path = entry("kind", "abc", lambda folder: (folder / "whole").touch())
    assert [file.name for file in path.iterdir()] == ["whole"]
    assert not left.exists()


def _make_in_another_process(log: Path) -> None:
    def make(folder: Path) -> None:
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        (folder / "file").touch()

    entry("kind", "shared", make)


def test_of_several_processes_one_makes_the_entry(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_make_in_another_process, args=(log,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    assert len(log.read_text().splitlines()) == 1


def test_no_space_is_said_as_such() -> None:
    def fill(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(LabError, match="no space left for the cache") as caught:
        entry("kind", "abc", fill)
    assert "XDG_CACHE_HOME" in str(caught.value.hint)


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LabError, match="cannot make the cache"):
        cache_dir()


def test_digests(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert file_digest(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(LabError, match="cannot read"):
        file_digest(tmp_path / "missing")
    assert digest_of("a", "b") != digest_of("b", "a")

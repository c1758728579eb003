"""The cache: an entry is whole or it is not there."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from firstlight.cache import cache_dir, check_cached, digest_of, entry, file_digest
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


def _made(content: bytes = b"whole") -> Path:
    def make(folder: Path) -> None:
        (folder / "file").write_bytes(content)
        (folder / "below").mkdir()
        (folder / "below/link").symlink_to("../file")

    return entry("kind", "abc", make)


def _cut(path: Path) -> None:
    os.truncate(path / "file", 3)


def _flip(path: Path) -> None:
    before = (path / "file").stat()
    (path / "file").write_bytes(b"whole".replace(b"o", b"p"))
    os.utime(path / "file", ns=(before.st_atime_ns, before.st_mtime_ns))


def _remove(path: Path) -> None:
    (path / "file").unlink()


def _add(path: Path) -> None:
    (path / "more").touch()


def _lead_elsewhere(path: Path) -> None:
    (path / "below/link").unlink()
    (path / "below/link").symlink_to("/etc/passwd")


def _replace(path: Path) -> None:
    (path / "file").unlink()
    (path / "file").symlink_to("/etc/passwd")


def _lose_the_seal(path: Path) -> None:
    (path.parent / ".abc.seal").unlink()


def _spoil_the_seal(path: Path) -> None:
    (path.parent / ".abc.seal").write_bytes(b"[\xff")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_cut, "file has 3 bytes instead of 5"),
        (_flip, "file has another content"),
        (_remove, "file is missing"),
        (_add, "more is new"),
        (_lead_elsewhere, "below/link leads elsewhere"),
        (_replace, "file is of another kind"),
        (_lose_the_seal, "it has no list of digests"),
        (_spoil_the_seal, "its list of digests cannot be read"),
    ],
)
def test_a_damaged_entry_is_made_again_and_reported(
    spoil: Callable[[Path], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(_made())
    path = _made()
    assert (path / "file").read_bytes() == b"whole"
    assert (path / "below/link").readlink() == Path("../file")
    assert sorted(file.name for file in path.iterdir()) == ["below", "file"]
    assert f"the entry kind/abc of the cache is made again, because {said}" in capsys.readouterr().err
    _made()
    assert capsys.readouterr().err == ""
    assert sorted(file.name for file in path.parent.iterdir()) == [".abc.lock", ".abc.seal", "abc"]


def test_large_files_are_compared_too(capsys: pytest.CaptureFixture[str]) -> None:
    def make(folder: Path) -> None:
        for name in ("one", "two", "three"):
            (folder / name).write_bytes(bytes(3 << 20))

    path = entry("kind", "large", make)
    with (path / "two").open("r+b") as file:
        file.seek(2 << 20)
        file.write(b"\1")
    entry("kind", "large", make)
    assert "because two has another content" in capsys.readouterr().err
    assert (path / "two").read_bytes() == bytes(3 << 20)


def test_an_entry_that_cannot_be_made_again_stays_as_it_is() -> None:
    path = _made()
    _cut(path)

    def fail(folder: Path) -> None:
        raise LabError("no network")

    with pytest.raises(LabError, match="no network"):
        entry("kind", "abc", fail)
    assert (path / "file").read_bytes() == b"who"


def _write_made(folder: Path) -> None:
    (folder / "file").write_text("made")


def test_what_a_person_put_there_counts_as_it_is() -> None:
    path = cache_dir() / "kind/abc"
    path.mkdir(parents=True)
    (path / "file").write_text("own")
    assert (entry("kind", "abc", lambda folder: None, adopt=True) / "file").read_text() == "own"
    _remove(path)
    made = entry("kind", "abc", _write_made, adopt=True)
    assert (made / "file").read_text() == "made"


def test_a_damaged_file_of_the_cache_that_somebody_names_is_refused(tmp_path: Path) -> None:
    path = _made()
    check_cached(path / "file")
    check_cached(tmp_path / "no/such/file")
    _flip(path)
    with pytest.raises(LabError, match="a damaged part of the cache: file has another content") as caught:
        check_cached(path / "file")
    assert str(path) in (caught.value.hint or "")

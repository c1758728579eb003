"""Every kind of place that holds a store keeps the same promises. Those whose servers are not installed are skipped."""

from __future__ import annotations

import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import object_stores
from firstlight.errors import LabError, UsageError
from firstlight.farm.places.behind_ssh import BehindSsh
from firstlight.farm.places.directory import Directory
from firstlight.farm.places.locations import place_at
from firstlight.farm.places.objects import Objects
from firstlight.farm.places.place import Place
from firstlight.farm.store import Store, unusable

SFTP_SERVER = Path("/usr/lib/openssh/sftp-server")
FOLDERS = ["jobs", "inputs", "leases", "results", "failed", "workers", "excluded"]


@pytest.fixture(params=["directory", "memory", "sftp", "s3", "google", "azure"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Place]:
    """An empty place of each kind."""
    match request.param:
        case "directory":
            yield Directory(tmp_path / "store")
        case "memory":
            yield Objects("memory", f"farm-{uuid.uuid4().hex}")
        case "sftp":
            if not SFTP_SERVER.exists():
                pytest.skip("the SFTP server of OpenSSH is not installed")
            yield BehindSsh([str(SFTP_SERVER)], str(tmp_path / "store"), "sftp://here/store")
        case "s3":
            with object_stores.s3(monkeypatch) as bucket:
                yield bucket
        case "google":
            with object_stores.google(monkeypatch, tmp_path / "server") as bucket:
                yield bucket
        case _:
            with object_stores.azure(monkeypatch, tmp_path / "server") as bucket:
                yield bucket


@pytest.fixture
def made(place: Place) -> Place:
    assert place.is_empty()
    place.make(FOLDERS)
    return place


def put(place: Place, name: str, text: str) -> bool:
    return place.put(name, lambda path: path.write_text(text))


def test_what_is_put_first_stays(made: Place, tmp_path: Path) -> None:
    assert put(made, "results/a", "one")
    assert not put(made, "results/a", "two")
    assert made.read("results/a", 100) == b"one"
    assert made.read("results/a", 2) == b"on"
    made.fetch("results/a", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_text() == "one"
    assert made.names("results") == ["a"]
    assert not made.is_empty()


def test_a_large_file_comes_and_goes_whole(made: Place, tmp_path: Path) -> None:
    content = bytes(range(256)) * (6 << 12)
    assert made.put("inputs/a", lambda path: path.write_bytes(content))
    made.fetch("inputs/a", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == content


def test_of_many_that_put_at_once_one_does(made: Place) -> None:
    if made.where.startswith("memory"):
        pytest.skip("memory is of one process, for tests")
    won: list[int] = []
    start = threading.Barrier(6)

    def one(number: int) -> None:
        start.wait()
        if put(made, "leases/a", str(number)):
            won.append(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(won) == 1
    assert made.read("leases/a", 10) == str(won[0]).encode()


def test_a_put_that_fails_leaves_nothing(made: Place) -> None:
    def fill(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        made.put("results/a", fill)
    assert [name for name in made.names("results") if not name.startswith(".")] == []
    assert not made.has("results/a")


def test_a_file_that_is_replaced_is_the_old_or_the_new_one(made: Place) -> None:
    made.replace("workers/a", b"0" * 50_000)
    seen: set[bytes] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            seen.add(made.read("workers/a", 100_000))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(1, 8):
        made.replace("workers/a", str(number).encode() * 50_000)
    over.set()
    watcher.join()
    assert seen <= {str(number).encode() * 50_000 for number in range(8)}


def test_what_is_not_there_is_said(made: Place, tmp_path: Path) -> None:
    assert not made.has("jobs/a")
    for use in (
        lambda: made.read("jobs/a", 1),
        lambda: made.fetch("jobs/a", tmp_path / "a"),
        lambda: made.age_s("jobs/a"),
    ):
        with pytest.raises(FileNotFoundError):
            use()
    assert made.names("jobs") == []


def test_what_is_removed_is_gone(made: Place) -> None:
    made.replace("jobs/a", b"{}")
    made.remove("jobs/a")
    assert not made.has("jobs/a")
    assert made.names("jobs") == []


def test_ages_are_of_the_clock_of_the_place(made: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    made.replace("leases/a", b"{}")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 86_400)
    assert made.age_s("leases/a") < 10
    assert made.names("leases") == ["a"]


def test_a_store_is_made_where_nothing_is(made: Place, tmp_path: Path) -> None:
    store = Store(made)
    assert store.put_text("jobs", "a.json", {"one": 1})
    store.replace("workers", "b.json", {"two": 2})
    assert store.read("jobs", "a.json") == {"one": 1}
    assert store.names("workers") == ["b.json"]
    assert store.fetch("jobs", "a.json", tmp_path / "a")
    assert not store.fetch("jobs", "c.json", tmp_path / "c")
    assert (store.age_s("jobs", "a.json") or 0) < 10
    assert store.age_s("jobs", "c.json") is None
    store.remove("jobs", "a.json")
    store.remove("jobs", "a.json")


def test_a_session_that_ends_is_begun_again(tmp_path: Path) -> None:
    if not SFTP_SERVER.exists():
        pytest.skip("the SFTP server of OpenSSH is not installed")
    place = BehindSsh([str(SFTP_SERVER)], str(tmp_path / "store"), "sftp://here/store")
    place.make(FOLDERS)
    assert place._session is not None
    place._session._child.kill()
    place._session._child.wait()
    assert put(place, "jobs/a", "one")


def test_a_machine_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "echo 'ssh: no route to host' >&2; exit 255"]
    place = BehindSsh(command, str(tmp_path / "store"), "sftp://away/store")
    with pytest.raises(LabError, match="cannot be used: the connection ended: ssh: no route to host") as error:
        Store(place).names("jobs")
    assert "sftp://away/store" in str(error.value)
    assert not place.is_there()


def test_a_full_disk_says_what_helps() -> None:
    error = unusable(Directory(Path("/farm")), OSError(28, "No space left on device"))
    assert "No space left" in error.message
    assert "farm tidy" in (error.hint or "")


@pytest.mark.parametrize(
    "location",
    [
        "s3://key:secret@bucket/farm",
        "s3://bucket/farm?token=secret",
        "sftp://me:secret@host/farm",
        "gs://x@y/farm#secret",
    ],
)
def test_a_secret_in_a_location_is_refused_and_not_repeated(location: str) -> None:
    with pytest.raises(UsageError) as error:
        place_at(location)
    assert "secret" not in error.value.report()


@pytest.mark.parametrize(
    "location", ["sftp://-oProxyCommand=x/farm", "s3://b/../c", "sftp://host", "sftp://host:x/a", "s3://a b/c"]
)
def test_a_location_that_cannot_be_is_refused(location: str) -> None:
    with pytest.raises(UsageError):
        place_at(location)


def test_a_store_of_one_machine_is_a_directory(tmp_path: Path) -> None:
    found = place_at(f"store://{tmp_path}")
    assert isinstance(found, Directory)
    assert shutil.which("ssh") is None or isinstance(place_at("sftp://lab2/srv/farm"), BehindSsh)

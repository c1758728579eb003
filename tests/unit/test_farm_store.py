"""The store of a farm: what is put once, what a job may ask for, whose turn it is, and archives of strangers."""

from __future__ import annotations

import io
import json
import os
import tarfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import firstlight
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, LabError, UsageError
from firstlight.experiment.boot_cache import engine_digest
from firstlight.farm import job as jobs
from firstlight.farm.job import ALLOWED, INPUTS, REFUSED, Input, Job, options_of, read_job, unequal
from firstlight.farm.leases import EXPIRED_S, Beat, give_up, is_leased, take
from firstlight.farm.packing import pack, unpack
from firstlight.farm.status import farm_status, live_workers
from firstlight.farm.store import Store, open_store
from firstlight.farm.tidy import tidy
from firstlight.recipe.choices import Choices
from firstlight.version import VERSION

KEY = "ab" * 32


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "farm", make=True)


def folder_of(store: Store) -> Path:
    """The directory of a store."""
    return Path(store.where)


def put_job(store: Store, key: str = KEY, **changed: Any) -> Job:
    job = Job(
        **{"key": key, "choices": {"append": "quiet"}, "inputs": {}, "digests": {"qemu": "q"},
           "firstlight": VERSION, "engine": engine_digest()} | changed
    )  # fmt: skip
    store.put_text("jobs", f"{key}.json", job.model_dump(mode="json"))
    return job


def let_pass(store: Store, folder: str, name: str, seconds: float) -> None:
    """Let a file have been written so long ago."""
    then = time.time() - seconds
    os.utime(folder_of(store) / folder / name, (then, then))


def test_what_is_put_first_stays(store: Store) -> None:
    assert store.put_text("results", f"{KEY}.json", {"worker": "one"})
    assert not store.put_text("results", f"{KEY}.json", {"worker": "two"})
    assert store.read("results", f"{KEY}.json") == {"worker": "one"}
    assert not [each for each in (folder_of(store) / "results").iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize("name", ["../a", "a/b", "", ".hidden", "a\nb", "x" * 200])
def test_a_name_that_could_lead_elsewhere_is_refused(store: Store, name: str) -> None:
    with pytest.raises(LabError, match="cannot be the name"):
        store.read("jobs", name)


def test_only_an_empty_directory_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").write_text("dear")
    with pytest.raises(LabError, match="not the store of a farm"):
        open_store(tmp_path / "mine", make=True)
    with pytest.raises(LabError, match="not the store of a farm") as error:
        open_store(tmp_path / "nothing")
    assert "firstlight work" in (error.value.hint or "")


def test_a_location_that_is_no_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be at `http://`"):
        open_store("http://bucket/farm")
    assert folder_of(open_store(f"store://{tmp_path}/farm", make=True)) == tmp_path / "farm"


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "damaged"), ('{"format": "firstlight-store", "version": 99}', "version 99"), ("[]", "not the store")],
)
def test_a_store_of_the_future_or_a_damaged_one_is_named(store: Store, text: str, message: str) -> None:
    (folder_of(store) / "store.json").write_text(text)
    with pytest.raises(LabError, match=message):
        open_store(folder_of(store))


def test_a_store_that_goes_away_is_named(store: Store) -> None:
    folder_of(store).rename(folder_of(store).with_name("unmounted"))
    for use in (lambda: store.names("jobs"), lambda: store.put_text("jobs", "a.json", {}), lambda: farm_status(store)):
        with pytest.raises(LabError, match="the store cannot be used"):
            use()


def test_every_choice_of_a_boot_may_be_sent_or_is_refused_with_a_reason() -> None:
    known = ALLOWED | set(INPUTS) | set(REFUSED)
    assert known == {each.name for each in fields(Choices)}
    assert len(known) == len(ALLOWED) + len(INPUTS) + len(REFUSED)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"qemu_options": ["-device", "x"]}, "may not contain the choice `qemu_options`"),
        ({"qemu": "/bin/sh"}, "may not contain the choice `qemu`"),
        ({"kernel": "/etc/passwd"}, "may not contain the choice `kernel`"),
        ({"rootfs": "/"}, "may not contain the choice `rootfs`"),
        ({"memory": 5}, "are invalid"),
        ({"timeout_wall_s": 1e9}, "more than a day"),
    ],
)
def test_a_job_asks_for_nothing_of_this_machine(
    store: Store, tmp_path: Path, choices: dict[str, Any], message: str
) -> None:
    job = put_job(store, choices=choices)
    with pytest.raises(LabError, match=message):
        options_of(job, tmp_path / "a.boot", store)


def test_an_input_is_taken_by_its_digest_alone(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "tree/etc").mkdir(parents=True)
    (tmp_path / "tree/etc/motd").write_text("hello")
    sent = jobs._put(tmp_path / "tree", store)
    assert sent == jobs._put(tmp_path / "tree", store)
    job = put_job(store, inputs={"overlay": sent})
    options = options_of(job, tmp_path / "a.boot", store)
    assert options.overlay is not None
    assert (options.overlay / "etc/motd").read_text() == "hello"
    # Another content under the same name is not an input, on a machine that has not fetched it yet.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-cache"))
    (folder_of(store) / "inputs" / sent.digest).write_bytes(b"evil")
    with pytest.raises(FirstlightError, match="does not match its digest"):
        options_of(job, tmp_path / "a.boot", store)
    (folder_of(store) / "inputs" / sent.digest).unlink()
    with pytest.raises(FirstlightError, match="lacks an input"):
        options_of(job, tmp_path / "a.boot", store)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": 1}', json.dumps({"schema_version": 7})])
def test_a_damaged_job_is_named(store: Store, text: str) -> None:
    (folder_of(store) / "jobs" / f"{KEY}.json").write_text(text)
    if text in ("", "{", "[]"):
        assert read_job(store, KEY) is None
    else:
        with pytest.raises(LabError, match="damaged"):
            read_job(store, KEY)


def test_a_job_under_the_name_of_another_is_named(store: Store) -> None:
    put_job(store)
    (folder_of(store) / "jobs" / f"{KEY}.json").rename(folder_of(store) / "jobs" / f"{'cd' * 32}.json")
    with pytest.raises(LabError, match="name of another job"):
        read_job(store, "cd" * 32)


class Resolved:
    """The inputs of a machine."""

    def __init__(self, **digests: str) -> None:
        self.digests = digests


def test_a_machine_that_would_boot_something_else_says_what(store: Store) -> None:
    job = put_job(store, digests={"qemu": "1" * 64, "kernel": "k"})
    here: Any = Resolved(qemu="2" * 64, kernel="k")
    assert unequal(job, KEY, here) == (
        "these differ here from what the job requires: qemu (222222222222, not 111111111111)"
    )
    assert unequal(job, KEY, Resolved(**job.digests)) is None  # type: ignore[arg-type]
    assert "a different boot" in str(unequal(job, "cd" * 32, Resolved(**job.digests)))  # type: ignore[arg-type]
    older = job.model_copy(update={"firstlight": "0.0.1"})
    assert f"this is {VERSION}" in str(unequal(older, KEY, here))
    assert "engine" in str(unequal(job.model_copy(update={"engine": "e"}), KEY, here))


def test_a_lease_is_one_workers_until_it_is_silent(store: Store) -> None:
    first = take(store, KEY, "one")
    assert first is not None
    assert take(store, KEY, "two") is None
    assert is_leased(store, KEY)
    let_pass(store, "leases", first, EXPIRED_S + 1)
    second = take(store, KEY, "two")
    assert second is not None
    assert second != first
    assert take(store, KEY, "one") is None
    give_up(store, KEY)
    assert not is_leased(store, KEY)


def test_the_clocks_of_machines_do_not_matter(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # A machine whose clock is a day ahead reads no other age: both times are of the store.
    lease = take(store, KEY, "one")
    assert lease is not None
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 86_400)
    assert take(store, KEY, "two") is None
    let_pass(store, "leases", lease, -3600)
    assert is_leased(store, KEY)


def test_a_worker_is_seen_waiting_lost_and_left_out(store: Store) -> None:
    with Beat(store, "workers", "lab1.json", {"state": "waiting", "boots": 2, "refused": {KEY: "another QEMU"}}):
        [seen] = farm_status(store).workers
        assert (seen.state, seen.boots, seen.refused, seen.reason) == ("waiting", 2, 1, "another QEMU")
        assert live_workers(store) == {"lab1": {KEY: "another QEMU"}}
    let_pass(store, "workers", "lab1.json", EXPIRED_S + 5)
    assert farm_status(store).workers[0].state == "lost"
    store.put_text("excluded", "lab1.json", {"reason": "its boot differs"})
    assert farm_status(store).workers[0].reason == "its boot differs"
    assert live_workers(store) == {}


def test_the_state_of_jobs_adds_up(store: Store) -> None:
    for number in range(4):
        put_job(store, f"{number:064x}")
    store.put_text("results", f"{0:064x}.json", {})
    take(store, f"{1:064x}", "lab1")
    store.put_text("failed", f"{2:064x}.1.json", {})
    found = farm_status(store)
    assert (found.jobs, found.done, found.running, found.waiting, found.failed) == (4, 1, 1, 2, 1)


def test_tidying_leaves_what_is_needed(store: Store) -> None:
    for number, digest in ((0, "a" * 64), (1, "b" * 64)):
        put_job(store, f"{number:064x}", inputs={"kernel": Input(digest=digest, kind="file")})
        store.put("inputs", digest, lambda path: path.write_bytes(b"k"))
        let_pass(store, "inputs", digest, 7200)
    store.put_text("results", f"{0:064x}.json", {})
    found = tidy(store)
    assert (found.jobs, found.inputs) == (1, 1)
    assert store.names("jobs") == [f"{1:064x}.json"]
    assert store.names("inputs") == ["b" * 64]
    assert store.names("results") == []


def test_files_that_are_no_jobs_are_counted_and_tidied_away(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    put_job(store)
    (folder_of(store) / "jobs" / "notes.txt").write_text("buy milk")
    (folder_of(store) / "jobs" / "garbage.json").write_text("garbage")
    (folder_of(store) / "jobs" / f"{'cd' * 32}.json").write_text("garbage")
    newer = folder_of(store) / "jobs" / f"{'ef' * 32}.json"
    newer.write_text(json.dumps({"schema_version": 7}))
    found = farm_status(store)
    assert (found.jobs, found.waiting, found.strays) == (3, 3, 2)
    assert run(["farm", "status", store.where]) == 0
    assert "2 files among the jobs are not jobs" in capsys.readouterr().out
    assert run(["farm", "tidy", store.where]) == 0
    assert "3 files that were not jobs" in capsys.readouterr().out
    assert store.names("jobs") == [f"{KEY}.json", newer.name]


def test_a_packed_directory_has_the_same_bytes_everywhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "b").mkdir(parents=True)
        (tmp_path / name / "b/run").write_text("#!/bin/sh\n")
        (tmp_path / name / "b/run").chmod(0o4755)
        (tmp_path / name / "a").symlink_to("/etc/passwd")
        os.utime(tmp_path / name / "b/run", (len(name), len(name) + ord(name[0])))
        pack(tmp_path / name, tmp_path / f"{name}.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    unpack(tmp_path / "one.tar", tmp_path / "back")
    assert (tmp_path / "back/b/run").stat().st_mode & 0o7777 == 0o4755
    assert os.fspath((tmp_path / "back/a").readlink()) == "/etc/passwd"


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([member("../out")], "path outside it"),
        ([member("/etc/out")], "path outside it"),
        ([member("a", tarfile.SYMTYPE, "/tmp"), member("a/out")], "path outside it"),
        ([member("no/parent")], "path outside it"),
        ([member("pipe", tarfile.FIFOTYPE)], "not a file, directory or link"),
        ([member("hard", tarfile.LNKTYPE, "/etc/passwd")], "not a file, directory or link"),
        ([member("same"), member("same")], "damaged"),
    ],
)
def test_nothing_is_unpacked_outside_its_directory(
    tmp_path: Path, members: list[tarfile.TarInfo], message: str
) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for each in members:
            archive.addfile(each, io.BytesIO())
    with pytest.raises(LabError, match=message):
        unpack(tmp_path / "a.tar", tmp_path / "inside")
    assert {each.name for each in tmp_path.iterdir()} == {"a.tar", "inside"}


def test_a_cut_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/file").write_bytes(b"x" * 5000)
    pack(tmp_path / "tree", tmp_path / "a.tar")
    (tmp_path / "a.tar").write_bytes((tmp_path / "a.tar").read_bytes()[:3000])
    with pytest.raises(LabError, match="damaged"):
        unpack(tmp_path / "a.tar", tmp_path / "inside")


@pytest.mark.parametrize("workers", ["local:0", "local:x", "local:", "local:1000"])
def test_a_number_of_workers_that_cannot_be_is_named(workers: str) -> None:
    with pytest.raises(UsageError, match="not a number of workers"), firstlight.boots_by(workers):
        pass

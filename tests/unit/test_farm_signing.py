"""Signed stores: who signs, who is trusted, and what comes of a job or a result that is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import firstlight
from answers import answer
from firstlight.errors import LabError
from firstlight.experiment.boot_cache import engine_digest
from firstlight.farm import job as jobs
from firstlight.farm.job import Job, UntrustedJobError, read_job
from firstlight.farm.signing import Keys, make_key, read_keys
from firstlight.farm.store import Store, open_store
from firstlight.farm.worker import work
from firstlight.version import VERSION

KEY = "ab" * 32
ONE, TWO = Keys(b"1" * 32), Keys(b"2" * 32)


def trusting(own: bytes | None, *others: Keys) -> Keys:
    return Keys(own, {each.public: "other" for each in others})


def a_job(**changed: Any) -> Job:
    return Job(
        **{"key": KEY, "choices": {}, "inputs": {}, "digests": {}, "firstlight": VERSION, "engine": engine_digest()}
        | changed
    )


@pytest.fixture
def plain(tmp_path: Path) -> Store:
    return open_store(tmp_path / "farm", make=True)


def test_a_job_of_a_trusted_key_is_taken(plain: Store) -> None:
    jobs._put_job(a_job(), Store(plain.place, ONE))
    assert read_job(Store(plain.place, trusting(None, ONE)), KEY) == a_job()
    # A machine without a list takes it, too, and one whose own key it is.
    assert read_job(plain, KEY) == a_job()
    assert read_job(Store(plain.place, trusting(b"1" * 32, TWO)), KEY) == a_job()


@pytest.mark.parametrize(
    ("signed_by", "reason"), [(Keys(), "not signed"), (TWO, "not trusted here")], ids=["unsigned", "of another"]
)
def test_another_job_is_left_and_the_worker_says_why(plain: Store, signed_by: Keys, reason: str) -> None:
    jobs._put_job(a_job(), Store(plain.place, signed_by))
    store = Store(plain.place, trusting(None, ONE))
    with pytest.raises(UntrustedJobError, match=reason):
        read_job(store, KEY)
    worked = work(store, name="lab1", wait_s=0)
    assert reason in worked.refused[KEY]
    assert worked.boots == worked.failed == 0


def test_a_job_that_was_changed_is_not_taken(plain: Store) -> None:
    jobs._put_job(a_job(), Store(plain.place, ONE))
    found = plain.read("jobs", f"{KEY}.json") or {}
    plain.replace("jobs", f"{KEY}.json", found | {"choices": {"append": "init=/bin/sh"}})
    with pytest.raises(UntrustedJobError, match="signature is invalid"):
        read_job(Store(plain.place, trusting(None, ONE)), KEY)


def test_a_signature_of_a_result_is_none_of_a_job(plain: Store) -> None:
    plain.replace("jobs", f"{KEY}.json", ONE.signed("result", a_job().model_dump(mode="json")))
    with pytest.raises(UntrustedJobError, match="signature is invalid"):
        read_job(Store(plain.place, trusting(None, ONE)), KEY)


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        (7, "it is not signed"),
        ({}, "its key is not trusted here"),
        ({"key": 7}, "its key is not trusted here"),
        ({"key": ONE.public}, "its signature is invalid"),
        ({"key": ONE.public, "value": "?"}, "its signature is invalid"),
    ],
)
def test_what_is_no_signature_is_refused(signature: object, reason: str) -> None:
    assert trusting(None, ONE).objection("job", {"signature": signature}) == reason


def test_an_unsigned_job_makes_room_for_a_signed_one(plain: Store) -> None:
    jobs._put_job(a_job(firstlight="0.0.0"), plain)
    jobs._put_job(a_job(), Store(plain.place, trusting(b"1" * 32, TWO)))
    assert read_job(Store(plain.place, trusting(None, ONE)), KEY) == a_job()
    # One that is signed by a trusted machine stays.
    jobs._put_job(a_job(firstlight="0.0.1"), Store(plain.place, trusting(b"2" * 32, ONE)))
    assert read_job(plain, KEY) == a_job()


def test_a_key_is_made_once_and_is_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_FARM_KEYS", str(tmp_path / "keys"))
    code, data = answer("farm", "key")
    assert code == 0
    assert data == {"name": data["name"], "public_key": read_keys().public, "directory": str(tmp_path / "keys")}
    assert firstlight.farm_key().public_key == data["public_key"]
    assert (tmp_path / "keys/own.key").stat().st_mode & 0o777 == 0o600
    (tmp_path / "keys/own.key").chmod(0o644)
    with pytest.raises(LabError, match="other users can read"):
        read_keys()


def test_the_list_of_trusted_keys(tmp_path: Path) -> None:
    (tmp_path / "trusted").write_text(f"# ours\nlab1 {ONE.public}\n\nlab2 {TWO.public}  # the other\n")
    assert read_keys(tmp_path).trusted == {ONE.public: "lab1", TWO.public: "lab2"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("trusted", b"lab1\n", "line 1 has no key"),
        ("trusted", b"", "is empty"),
        ("trusted", b"\xff", "not text"),
        ("own.key", b"zz", "not a private key"),
    ],
)
def test_keys_that_cannot_be_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(LabError, match=message):
        read_keys(tmp_path)


def test_a_machine_without_keys_signs_nothing_and_trusts_everybody(tmp_path: Path) -> None:
    keys = read_keys(tmp_path / "none")
    assert keys.signed("job", {"a": 1}) == {"a": 1}
    assert keys.objection("job", {"a": 1}) is None


def test_no_private_key_comes_into_a_store(plain: Store, tmp_path: Path) -> None:
    make_key(tmp_path / "keys")
    store = Store(plain.place, read_keys(tmp_path / "keys"))
    jobs._put_job(a_job(), store)
    secret = (tmp_path / "keys/own.key").read_bytes().strip()
    for folder, _, names in os.walk(plain.where):
        assert all(secret not in (Path(folder) / name).read_bytes() for name in names)

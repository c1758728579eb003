"""Boots asked of workers: what is removed meanwhile, what was left by workers that died, and what is wrong."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, write_table
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.cache import file_digest
from firstlight.errors import LabError
from firstlight.experiment import boot_cache
from firstlight.experiment.boot_cache import engine_digest
from firstlight.farm import requests, worker
from firstlight.farm.job import Input, Job
from firstlight.farm.packing import pack
from firstlight.farm.requests import Requests, asked_of
from firstlight.farm.results import packed_name
from firstlight.farm.signing import Keys
from firstlight.farm.store import Store, open_store
from firstlight.farm.tidy import tidy
from firstlight.lab.host.progress import SilentProgress
from firstlight.recipe.options import RecordOptions
from firstlight.version import VERSION

KERNEL = "c" * 64


@dataclass
class Farm:
    """A store with one boot that may be asked of it."""

    store: Store
    bundle: Path
    key: str
    notes: list[str]
    submitted: list[str]

    def put_result(self, worker: str = "honest", bundle: Path | None = None, keys: Keys | None = None) -> None:
        """What a worker puts when it has made the boot."""
        packed = self.bundle.parent / f"{worker.replace('/', '-')}.tar"
        pack(bundle or self.bundle, packed)
        digest = file_digest(packed)
        self.store.put("results", packed_name(self.key, digest), lambda made: shutil.copyfile(packed, made))
        manifest = file_digest((bundle or self.bundle) / "manifest.json")
        about = {"key": self.key, "worker": worker, "manifest": manifest, "packed": digest}
        self.store.put_text("results", f"{self.key}.json", (keys or Keys()).signed("result", about))

    def forged(self) -> Path:
        """A bundle that is sound in itself, of a boot that never was."""
        forged = shutil.copytree(self.bundle, self.bundle.with_name("forged.boot"))
        log = pl.read_parquet(forged / "log.parquet")
        write_table(forged, "log", log.with_columns(text=pl.lit("another")))
        return forged

    def ask(self, store: Store | None = None, *, trusting: bool = False) -> Path:
        """Ask for the boot; returns where it came."""
        output = self.bundle.with_name("asked.boot")
        inputs: Any = SimpleNamespace(key=self.key)
        with asked_of(store or self.store, self.notes.append, trusting=trusting):
            boot_cache.make(RecordOptions(output), inputs, SilentProgress())
        return output

    def later(self, do: Callable[[], object]) -> threading.Thread:
        """Act as a worker does: when the job is there, and no result."""

        def wait() -> None:
            until = time.monotonic() + 30
            while time.monotonic() < until:
                there = self.store.has("jobs", f"{self.key}.json")
                if there and not self.store.has("results", f"{self.key}.json"):
                    do()
                    return
                time.sleep(0.01)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Farm:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bundle = make_bundle(tmp_path)
    key = key_of_boot(read_manifest(bundle))
    assert key is not None
    made = Farm(open_store(tmp_path / "farm", make=True), bundle, key, [], [])

    def submit(options: RecordOptions, key: str, inputs: object, store: Store) -> Job:
        job = Job(
            key=key, choices={}, inputs={"kernel": Input(digest=KERNEL, kind="file")}, digests={}, firstlight=VERSION,
            engine=engine_digest(),
        )  # fmt: skip
        store.put("inputs", KERNEL, lambda path: path.write_bytes(b"kernel"))
        store.put_text("jobs", f"{key}.json", job.model_dump(mode="json"))
        made.submitted.append(key)
        return job

    def record(options: RecordOptions, *_: object) -> Path:
        return Path(shutil.copytree(bundle, options.output))

    monkeypatch.setattr(requests, "submit", submit)
    monkeypatch.setattr(requests, "record", record)
    monkeypatch.setattr(requests, "_LOOK_S", 0.0)
    monkeypatch.setattr(made.store.place, "poll_s", 0.01)
    return made


class Tidied(Store):
    """A store that another person tidies each time before a bundle is fetched, twice."""

    left = 2

    def fetch(self, folder: str, name: str, target: Path) -> bool:
        """Fetch after tidying."""
        if folder == "results" and self.left:
            self.left -= 1
            tidy(self)
        return super().fetch(folder, name, target)


def test_a_result_that_is_tidied_away_while_it_is_read_is_no_fault_of_its_worker(farm: Farm) -> None:
    farm.put_result()
    farm.store.put_text("jobs", f"{farm.key}.json", {})
    store = Tidied(farm.store.place)

    def again() -> None:
        farm.put_result()
        farm.later(farm.put_result)

    farm.later(again)
    asked = farm.ask(store)
    assert store.left == 0
    assert file_digest(asked / "manifest.json") == file_digest(farm.bundle / "manifest.json")
    assert farm.store.names("excluded") == []
    assert farm.notes == []


def test_a_job_that_is_tidied_away_is_put_again_with_its_inputs(farm: Farm) -> None:
    def remove() -> None:
        farm.store.remove("inputs", KERNEL)
        farm.store.remove("jobs", f"{farm.key}.json")
        farm.later(farm.put_result)

    farm.later(remove)
    farm.ask()
    assert len(farm.submitted) >= 2
    assert farm.store.names("inputs") == [KERNEL]


def test_an_input_that_is_gone_is_put_again(farm: Farm) -> None:
    def remove() -> None:
        farm.store.remove("inputs", KERNEL)
        while not farm.store.has("inputs", KERNEL):
            time.sleep(0.01)
        farm.put_result()

    farm.later(remove)
    farm.ask()
    assert len(farm.submitted) >= 2


def test_who_asks_gets_the_inputs_that_were_resolved_before(tmp_path: Path, farm: Farm) -> None:
    got: list[object] = []
    with boot_cache.recorded_by(lambda options, inputs, progress: got.append(inputs)):
        inputs: Any = object()
        boot_cache.make(RecordOptions(tmp_path / "a.boot"), inputs, SilentProgress())
    assert got == [inputs]


def test_a_worker_that_gives_other_bytes_is_named(farm: Farm) -> None:
    farm.put_result("liar", farm.forged())
    farm.later(farm.put_result)
    asked = farm.ask()
    assert file_digest(asked / "manifest.json") == file_digest(farm.bundle / "manifest.json")
    assert farm.store.names("excluded") == ["liar.json"]
    assert "worker `liar` is left out" in farm.notes[0]
    # What it made is gone, and what another makes is taken.
    assert not any("liar" in str(farm.store.read("results", name)) for name in farm.store.names("results"))


@pytest.mark.parametrize("name", ["../up", "a\nb", "x" * 300])
def test_a_worker_whose_name_cannot_be_a_file_is_left_out_without_it(farm: Farm, name: str) -> None:
    farm.put_result(name[:20].replace("\n", "-"), farm.forged())
    farm.store.remove("results", f"{farm.key}.json")
    farm.store.put_text("results", f"{farm.key}.json", {"worker": name, "packed": "d" * 64})
    farm.later(farm.put_result)
    farm.ask()
    assert "worker `unknown` is left out" in farm.notes[0]


def test_a_result_without_its_bundle_is_its_workers_fault(farm: Farm) -> None:
    farm.store.put_text("results", f"{farm.key}.json", {"worker": "hollow", "packed": "d" * 64})
    farm.later(farm.put_result)
    farm.ask()
    assert farm.store.names("excluded") == ["hollow.json"]
    assert "its bundle is missing" in farm.notes[0]


def test_a_result_that_is_not_signed_is_removed_and_blames_nobody(farm: Farm) -> None:
    worker_key = Keys(b"w" * 32)
    trusting = Store(farm.store.place, Keys(None, {worker_key.public: "lab1"}))
    farm.put_result("honest")
    farm.later(lambda: farm.put_result(keys=worker_key))
    farm.ask(trusting)
    assert "is removed: it is not signed" in farm.notes[0]
    assert farm.store.names("excluded") == []


def test_a_signed_result_of_another_boot_is_removed(farm: Farm) -> None:
    worker_key = Keys(b"w" * 32)
    trusting = Store(farm.store.place, Keys(None, {worker_key.public: "lab1"}))
    of_another = worker_key.signed("result", {"key": "f" * 64, "worker": "lab1", "packed": "d" * 64})
    farm.store.put_text("results", f"{farm.key}.json", of_another)
    farm.later(lambda: farm.put_result(keys=worker_key))
    farm.ask(trusting)
    assert "signature is for another boot" in farm.notes[0]


def test_what_a_worker_left_that_died_is_not_taken_for_the_result_of_another(farm: Farm) -> None:
    packed = packed_name(farm.key, "e" * 64)
    farm.store.put("results", packed, lambda made: made.write_bytes(b"half of a boot"))
    farm.put_result()
    farm.ask()
    assert farm.store.names("excluded") == []


def test_an_input_that_changed_on_this_machine_is_not_blamed_on_a_worker(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_bundle(farm.bundle.with_name("elsewhere"), append="other")

    def record(options: RecordOptions, *_: object) -> Path:
        return Path(shutil.copytree(other, options.output))

    monkeypatch.setattr(requests, "record", record)
    farm.put_result()
    with pytest.raises(LabError, match="changed after the request"):
        farm.ask()
    assert farm.store.names("excluded") == []


def test_boots_that_counted_are_withdrawn_with_their_worker(farm: Farm) -> None:
    farm.put_result()
    asking = Requests(farm.store, farm.notes.append, trusting=False)
    output = farm.bundle.with_name("counted.boot")
    inputs: Any = SimpleNamespace(key=farm.key)
    asking(RecordOptions(output), inputs, SilentProgress())
    assert output.is_dir()
    asking._exclude("honest", "f" * 64, "its memory is broken")
    assert not output.exists()
    assert asking.withdrawn == [farm.key]


def test_a_worker_passes_over_a_job_whose_input_is_not_there(farm: Farm) -> None:
    job = Job(
        key=farm.key, choices={}, inputs={"kernel": Input(digest=KERNEL, kind="file")}, digests={}, firstlight=VERSION,
        engine=engine_digest(),
    )  # fmt: skip
    farm.store.put_text("jobs", f"{farm.key}.json", job.model_dump(mode="json"))
    worked = worker.work(farm.store, name="lab1", wait_s=0)
    assert (worked.boots, worked.failed, worked.refused) == (0, 0, {})
    assert farm.store.names("failed") == []
    assert farm.store.names("leases") == []


@pytest.mark.parametrize("name", ["notes.txt", "garbage.json", f"{'cd' * 32}.json"])
def test_a_worker_ends_beside_a_file_that_is_no_job(farm: Farm, name: str) -> None:
    (Path(farm.store.where) / "jobs" / name).write_text("garbage")
    worked = worker.work(farm.store, name="lab1", wait_s=0.5)
    assert (worked.boots, worked.failed) == (0, 0)
    assert all("not a job" in why for why in worked.refused.values())
    assert farm.store.names("leases") == []


def test_the_boots_of_a_store_come_into_a_fleet(farm: Farm, tmp_path: Path) -> None:
    farm.put_result()
    farm.store.put_text("results", f"{'9' * 64}.json", {"worker": "hollow", "packed": "d" * 64})
    fleet = firstlight.init_fleet(tmp_path / "fleet").directory
    first = firstlight.add_to_fleet(fleet, [f"store://{farm.store.where}"], {"model": "A"})
    assert (first.added, first.known) == (1, 0)
    assert [why for _, why in first.quarantined] == ["its bundle is missing"]
    # Once more, and as a directory; of what is known nothing is fetched.
    again = firstlight.add_to_fleet(fleet, [Path(farm.store.where)])
    assert (again.added, again.known) == (0, 1)
    assert firstlight.query_fleet(fleet, "SELECT model FROM boots")["model"].to_list() == ["A"]

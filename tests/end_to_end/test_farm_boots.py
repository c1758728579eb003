"""Boots of a plan by workers: one is killed, one has another QEMU, one lies. The results are those of this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import write_table
from firstlight.cache import file_digest
from firstlight.farm.packing import pack
from firstlight.farm.results import packed_name
from firstlight.farm.store import Store, open_store
from short_boots import SHORT

pytestmark = pytest.mark.boot

PLAN = f'canary = false\n[base]\nappend = "{SHORT}"\n' + "".join(
    f'[[arm]]\nname = "a{n}"\nappend = "arm={n}"\n' for n in range(3)
)


@contextlib.contextmanager
def worker(store: Store, name: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A worker, as a user starts it."""
    command = [sys.executable, "-m", "firstlight", "work", store.where, "--name", name, "--wait", "300"]
    child = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield child
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not what():
        assert time.monotonic() < until
        time.sleep(0.1)


def lie(store: Store, honest: Path, key: str, folder: Path) -> None:
    """Put a result that fits in itself, of another boot than the job's."""
    forged = shutil.copytree(honest, folder / "forged.boot")
    log = pl.read_parquet(forged / "log.parquet")
    write_table(forged, "log", log.with_columns(text=pl.col("text").str.replace("Linux", "Minix")))
    pack(forged, folder / "forged.tar")
    packed = file_digest(folder / "forged.tar")
    store.put("results", packed_name(key, packed), lambda path: shutil.copyfile(folder / "forged.tar", path))
    store.put_text("results", f"{key}.json", {"worker": "liar", "manifest": "", "packed": packed, "took_s": 1.0})


def test_workers_that_die_differ_or_lie_change_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    keys = [cell.key for cell in firstlight.plan_experiment(plan).state.cells]
    own = firstlight.record(tmp_path / "own.boot", append=f"{SHORT} arm=0").directory
    store = open_store(tmp_path / "farm", make=True)
    lie(store, own, keys[0], tmp_path)
    # Another QEMU: the same program, but not the same file.
    others = tmp_path / "bin"
    others.mkdir()
    qemu = shutil.which("qemu-system-x86_64")
    (others / "qemu-system-x86_64").write_text(f'#!/bin/sh\nexec {qemu} "$@"\n')
    (others / "qemu-system-x86_64").chmod(0o755)
    # What this machine has in its cache would be taken from there.
    monkeypatch.setattr("firstlight.experiment.boot_cache.is_cached", lambda key: False)
    with (
        worker(store, "other", PATH=f"{others}:{os.environ['PATH']}"),
        worker(store, "killed") as killed,
        contextlib.ExitStack() as more,
    ):
        wait_for(lambda: len(store.names("workers")) == 2)

        def kill_then_start_another() -> None:
            wait_for(lambda: (store.read("workers", "killed.json") or {}).get("state") == "booting")
            killed.send_signal(signal.SIGKILL)
            more.enter_context(worker(store, "good"))

        from threading import Thread

        helper = Thread(target=kill_then_start_another)
        helper.start()
        with firstlight.boots_by(f"store://{store.where}"):
            results = firstlight.run_experiment(plan)
        helper.join()
        status = {each.name: each for each in firstlight.farm_status(store.where).workers}
    assert [cell.problem for cell in results.cells] == [None, None, None]
    assert file_digest(tmp_path / "plan/a0/1.boot/manifest.json") == file_digest(own / "manifest.json")
    assert "worker `liar` is left out" in capsys.readouterr().err
    assert store.names("excluded") == ["liar.json"]
    assert status["good"].boots >= 2
    assert status["other"].boots == 0
    assert "qemu (" in str(status["other"].reason)


def test_workers_of_this_machine_end_with_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.experiment.boot_cache.is_cached", lambda key: False)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'canary = false\n[base]\nappend = "{SHORT}"\n[[arm]]\nname = "a"\n[[arm]]\nname = "b"\nappend = "arm=b"\n'
    )
    with firstlight.boots_by("local:2"):
        results = firstlight.run_experiment(plan)
    assert [cell.problem for cell in results.cells] == [None, None]
    found = subprocess.run(["pgrep", "-f", "firstlight work .*firstlight-farm-"], capture_output=True, text=True)
    assert found.stdout == ""

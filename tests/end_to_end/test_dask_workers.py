"""Workers that a Dask cluster starts: a scheduler and its workers run on this machine.

The commands run as programs of their own: Dask's client has an event loop, and this process may have another.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import firstlight
from farm_plans import TWO_BOOTS
from firstlight.cli.main import run
from firstlight.farm.store import open_store
from servers import answers, ended, free_port, wait_for

pytestmark = pytest.mark.boot

DASK = [sys.executable, "-m", "dask"]
WORK = [sys.executable, "-m", "firstlight", "work"]


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler without workers."""
    port = free_port()
    command = [*DASK, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with ended(command) as [child]:
        wait_for(lambda: answers(port), child)
        yield f"tcp://127.0.0.1:{port}"


def dask_worker(scheduler: str, place: Path, threads: int) -> list[str]:
    options = ["--no-nanny", "--no-dashboard", "--nthreads", str(threads), "--local-directory", str(place)]
    return [*DASK, "worker", scheduler, *options]


def answer_of(*arguments: str) -> dict[str, object]:
    done = subprocess.run([*WORK, *arguments, "--json"], capture_output=True, text=True, timeout=240, check=False)
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def test_a_cluster_without_a_worker_is_named(scheduler: str, tmp_path: Path) -> None:
    answer = answer_of(str(tmp_path), "--dask", scheduler)
    assert answer["error"] == {
        "code": "usage",
        "message": "the cluster has no worker",
        "where": scheduler,
        "hint": "start workers with `dask worker`, or give `--workers N` if the cluster grows with its tasks",
        "exit_code": 2,
    }


def test_a_worker_for_each_thread_of_the_cluster_makes_the_boots_of_an_experiment(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstlight.experiment.boot_cache.is_cached", lambda key: False)
    plan = tmp_path / "plan.toml"
    plan.write_text(TWO_BOOTS)
    store = str(open_store(tmp_path / "store", make=True).where)
    with ended(dask_worker(scheduler, tmp_path / "dask", 2)):
        command = [*WORK, store, "--dask", scheduler, "--workers", "2", "--wait", "20", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
            wait_for(lambda: len(open_store(store).names("workers")) == 2)
            with firstlight.boots_by(store):
                results = firstlight.run_experiment(plan)
            data = json.loads(starter.communicate(timeout=240)[0])["data"]
        assert [cell.problem for cell in results.cells] == [None, None]
        assert data["scheduler"] == scheduler
        assert data["boots"] == 2
        assert len({each["worker"] for each in data["workers"]}) == 2
        assert all(each["failed"] == 0 and each["refused"] == {} for each in data["workers"])
        (tmp_path / "other").mkdir()
        (tmp_path / "other/file").write_text("no store")
        error = answer_of(str(tmp_path / "other"), "--dask", scheduler)["error"]
        assert isinstance(error, dict)
        assert "this is not the store of a farm" in error["message"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answers: Connection refused"),
        (["--dask", "lab1"], "this is not an address of a scheduler"),
        (["--dask", "tcp://lab1:port"], "this is not an address of a scheduler"),
        (["--dask", "tcp://127.0.0.1:1", "--name", "me"], "`--name` names one worker"),
        (["--workers", "2"], "`--workers` needs `--dask`"),
    ],
)
def test_wrong_use_is_named(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["work", str(tmp_path), *arguments]) != 0
    assert says in capsys.readouterr().err

"""Every question has the same answer on DuckDB and on Spark: in this process, and on a cluster of two workers."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import firstlight
from firstlight.errors import UsageError
from firstlight.fleet.questions import Question
from invented_fleet import Group, make_fleet

pyspark = pytest.importorskip("pyspark", reason="`make fleet-spark` runs this with Spark")
_STARTS_S = 180
_WORKERS = 2


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    groups = [
        Group({"model": model, "kernel": kernel}, 50, factors | ({"probe_3": 4.0} if model == "B" else {}))
        for model in ("A", "B")
        for kernel, factors in (("6.6.1", {}), ("6.12.1", {"probe_7": 1.25}))
    ]
    return make_fleet(tmp_path / "fleet", groups).directory


def answers_are_equal(fleet: Path, engine: str) -> None:
    for question in Question:
        one, other = (firstlight.ask_fleet(fleet, question, engine=name).rows.to_dicts() for name in ("duckdb", engine))
        assert one or question == Question.OUTLIERS
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            for column, value in left.items():
                if isinstance(value, float):
                    assert right[column] == pytest.approx(value, rel=1e-12, abs=1e-12)
                else:
                    assert right[column] == value


def test_spark_gives_the_same_answers(fleet: Path) -> None:
    answers_are_equal(fleet, "spark")


def test_a_cluster_gives_the_same_answers(fleet: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        address = stack.enter_context(_started(tmp_path, "master", r"Starting Spark master at (spark://\S+)"))
        for number in range(_WORKERS):
            registered = r"Successfully registered with master (spark://\S+)"
            stack.enter_context(_started(tmp_path, f"worker{number}", registered, address))
        with _session(address) as session:
            answers_are_equal(fleet, address)
            # It is not ours to stop, and no other engine is meant by it.
            assert session.range(3).count() == 3
            with pytest.raises(UsageError, match="already has a Spark session on spark://"):
                firstlight.ask_fleet(fleet, "phases", engine="spark")
    for number in range(_WORKERS):
        # Both did a part of the work.
        assert "Asked to launch executor" in (tmp_path / f"worker{number}.log").read_text()


@contextmanager
def _session(master: str) -> Iterator[Any]:
    """A session for all questions: each of its own would start the executors anew."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _started(folder: Path, name: str, says: str, master: str | None = None) -> Iterator[str]:
    """A process of a cluster, once its log has a text; what the text says in parentheses."""
    program = Path(pyspark.__file__).parent / "bin/spark-class"
    local = ["--host", "127.0.0.1", "--webui-port", "0"]
    if master is None:
        command = ["org.apache.spark.deploy.master.Master", *local, "--port", "0"]
    else:
        work = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"{name}-work")]
        command = ["org.apache.spark.deploy.worker.Worker", *local, *work, master]
    log = folder / f"{name}.log"
    with log.open("wb") as written:
        child = subprocess.Popen([str(program), *command], stdout=written, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + _STARTS_S
        while not (found := re.search(says, log.read_text())):
            assert child.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until, log.read_text()[-2000:]
            time.sleep(0.2)
        yield found[1]
    finally:
        child.terminate()
        child.wait()

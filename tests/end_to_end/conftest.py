"""Real boots, each recorded once for all tests."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firstlight.lab.options import RecordOptions
from firstlight.lab.record import record

Recorder = Callable[..., Path]


@pytest.fixture(scope="session")
def boots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the recorded boots are; do not change them."""
    return tmp_path_factory.mktemp("boots")


@pytest.fixture(scope="session")
def default_boot(boots: Path) -> Path:
    """The default recipe."""
    return record(RecordOptions(output=boots / "default.boot"))


@pytest.fixture(scope="session")
def loaded_boot(boots: Path) -> Path:
    """The default recipe again, while every processor of the host has something else to do."""
    with host_under_load():
        return record(RecordOptions(output=boots / "loaded.boot"))


@pytest.fixture(scope="session")
def plain_boot(boots: Path) -> Path:
    """The default recipe without the plugin."""
    return record(RecordOptions(output=boots / "plain.boot", profile=False))


def _spin() -> None:
    while True:
        pass


@contextmanager
def host_under_load() -> Iterator[None]:
    """Keep every processor of the host busy."""
    context = multiprocessing.get_context("spawn")
    spinners = [context.Process(target=_spin, daemon=True) for _ in range(multiprocessing.cpu_count())]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.join()

"""Real boots, each recorded once for all tests."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from busy_host import host_under_load
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions
from short_boots import short

Recorder = Callable[..., Path]


@pytest.fixture(scope="session")
def boots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this process records boots; do not change them."""
    return tmp_path_factory.mktemp("boots")


@pytest.fixture(scope="session")
def shared_boots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the boots are that every process of a run of the tests uses; do not change them."""
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared-boots"
    shared.mkdir(exist_ok=True)
    return shared


def _recorded_once(options: RecordOptions, loaded: bool = False) -> Path:
    """The boot, recorded by the first process that asks for it while the others wait."""
    with Path(f"{options.output}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not options.output.exists():
            with host_under_load() if loaded else nullcontext():
                record(options)
    return options.output


@pytest.fixture(scope="session")
def default_boot(shared_boots: Path) -> Path:
    """The default recipe."""
    return _recorded_once(RecordOptions(output=shared_boots / "default.boot"))


@pytest.fixture(scope="session")
def loaded_boot(shared_boots: Path) -> Path:
    """The default recipe again, while the host has other things to do."""
    return _recorded_once(RecordOptions(output=shared_boots / "loaded.boot"), loaded=True)


@pytest.fixture(scope="session")
def plain_boot(shared_boots: Path) -> Path:
    """The default recipe without the plugin."""
    return _recorded_once(RecordOptions(output=shared_boots / "plain.boot", profile=False))


@pytest.fixture(scope="session")
def short_boot(shared_boots: Path) -> Path:
    """The default guest, without what takes half of the emulator's time."""
    return _recorded_once(short(output=shared_boots / "short.boot"))


@pytest.fixture(scope="session")
def debian_boot(shared_boots: Path) -> Path:
    """Debian with systemd."""
    return _recorded_once(short(output=shared_boots / "debian-1.boot", rootfs="debian"))

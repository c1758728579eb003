"""Real boots, each recorded once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from busy_host import host_under_load
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions

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
    """The default recipe again, while the host has other things to do."""
    with host_under_load():
        return record(RecordOptions(output=boots / "loaded.boot"))


@pytest.fixture(scope="session")
def plain_boot(boots: Path) -> Path:
    """The default recipe without the plugin."""
    return record(RecordOptions(output=boots / "plain.boot", profile=False))


@pytest.fixture(scope="session")
def debian_boot(boots: Path) -> Path:
    """Debian with systemd."""
    return record(RecordOptions(output=boots / "debian-1.boot", rootfs="debian"))

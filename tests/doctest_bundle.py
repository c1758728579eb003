"""Gives every doctest the package and a bundle to work on, under the name `bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import firstlight
from bundles import make_bundle


@pytest.fixture(scope="session")
def invented_boot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of an invented boot; do not change it."""
    return make_bundle(tmp_path_factory.mktemp("invented"))


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, Any], invented_boot: Path) -> None:
    doctest_namespace.update(firstlight=firstlight, bundle=invented_boot)

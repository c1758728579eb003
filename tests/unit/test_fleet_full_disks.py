"""What a full disk leaves of a fleet, and what is said of it."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import firstlight
from bundles import make_bundle
from firstlight.errors import FirstlightError


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    return firstlight.init_fleet(tmp_path / "fleet").directory


def test_a_full_disk_leaves_the_fleet_as_it_was(fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firstlight.add_to_fleet(fleet, [make_bundle(tmp_path)])
    before = (fleet / "current.json").read_text()
    write = pl.DataFrame.write_parquet

    def full(frame: pl.DataFrame, path: Path, **options: object) -> None:
        if "boots/" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(frame, path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(FirstlightError, match="No space left"):
        firstlight.add_to_fleet(fleet, [make_bundle(tmp_path, name="b.boot", seed=2)])
    assert (fleet / "current.json").read_text() == before
    listed = json.loads(before)
    files = {str(path.relative_to(fleet)) for path in fleet.rglob("*.par*")}
    assert files == {*listed["boots"], *listed["spans"]}


def test_a_full_disk_is_named_although_the_engine_does_not_say_it(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(frame: pl.DataFrame, path: Path, **options: object) -> None:
        raise pl.exceptions.ComputeError("parquet: File out of specification: Invalid thrift: transport error")

    boot = make_bundle(tmp_path)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(FirstlightError, match="Invalid thrift"):
        firstlight.add_to_fleet(fleet, [boot])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(total=1 << 30, used=1 << 30, free=0))
    with pytest.raises(FirstlightError, match="No space left"):
        firstlight.add_to_fleet(fleet, [boot])


def test_a_fleet_that_could_not_be_made_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(FirstlightError, match="No space left"):
            firstlight.init_fleet(tmp_path / "fleet")
    firstlight.init_fleet(tmp_path / "fleet")
    assert firstlight.add_to_fleet(tmp_path / "fleet", [make_bundle(tmp_path)]).added == 1

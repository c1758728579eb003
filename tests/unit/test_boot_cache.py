"""Boots that are kept by their keys: one that is damaged is booted again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.experiment import boot_cache


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of a boot that is kept in a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bundle = make_bundle(tmp_path)
    found = key_of_boot(read_manifest(bundle))
    assert found is not None
    shutil.copytree(bundle, boot_cache.place(found))
    return found


def test_a_sound_boot_is_kept(key: str, tmp_path: Path) -> None:
    assert boot_cache.is_cached(key)
    assert boot_cache.find(key, tmp_path / "copy.boot")


@pytest.mark.parametrize("table", ["calls", "marks"])
@pytest.mark.parametrize("how", ["cut", "flipped", "missing"])
def test_a_damaged_boot_is_not_and_makes_room(
    key: str, table: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = boot_cache.place(key) / f"{table}.parquet"
    content = path.read_bytes()
    match how:
        case "cut":
            path.write_bytes(content[:50])
        case "flipped":
            path.write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
        case _:
            path.unlink()
    assert not boot_cache.is_cached(key)
    assert "a boot in the cache is booted again, because it is damaged" in capsys.readouterr().err
    assert not boot_cache.place(key).exists()


def test_boots_are_kept_where_the_cache_is_now(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    former = boot_cache.place(key)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert boot_cache.place(key).is_relative_to(tmp_path / "another")
    assert not boot_cache.is_cached(key)
    boot_cache.keep(former, key)
    assert boot_cache.is_cached(key)

"""Equal boots are equal files: what only one recording has stands in `provenance.json`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bundles import make_bundle, make_recorded
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.bundle.provenance import PROVENANCE
from firstlight.bundle.writer import write_manifest
from firstlight.errors import BundleError
from firstlight.lab.host.made_here import made_here, remember
from firstlight.recipe.recipe import Files

Fields = dict[str, Any]


def rewritten(bundle: Path, **changed: Any) -> Path:
    """A bundle of an earlier version, written by this one, as if on a machine where these fields are others."""
    manifest = read_manifest(bundle)
    write_manifest(bundle, manifest.model_copy(update={"schema_version": 4, **changed}))
    return bundle


def fields_of(path: Path) -> Fields:
    found: Fields = json.loads(path.read_text())
    return found


@pytest.fixture
def boot(tmp_path: Path) -> Path:
    return rewritten(make_recorded(make_bundle(tmp_path), kernel="/boot/vmlinuz", append="quiet", memory="1G", seed=7))


def test_a_manifest_is_read_from_both_files_as_from_one(tmp_path: Path) -> None:
    old = make_recorded(make_bundle(tmp_path), kernel="/boot/vmlinuz", append="quiet", timeout_wall_s=5.0)
    new = rewritten(shutil.copytree(old, tmp_path / "new.boot"))
    before, after = read_manifest(old), read_manifest(new)
    assert after.model_dump() == before.model_dump() | {"schema_version": 4}
    assert after.chosen == before.chosen
    assert key_of_boot(after) == key_of_boot(before)


def test_one_boot_of_two_machines_differs_in_nothing_but_its_provenance(tmp_path: Path) -> None:
    def recorded(name: str, kernel: str, output: str, **changed: Any) -> Path:
        made = make_recorded(
            make_bundle(tmp_path / name), kernel=kernel, append="quiet ", memory="1G", files={"kernel": kernel}
        )
        reproduce = f"firstlight record --kernel {kernel} --append 'quiet ' --memory 1G -o {output}"
        return rewritten(made, reproduce=reproduce, **changed)

    one = recorded("one", "/boot/vmlinuz", "a.boot")
    other = recorded("other", "/srv/k", "b.boot", host={"system": "other"}, recorded_at="2030-01-01T00:00:00Z")
    for file in sorted(path for path in one.rglob("*") if path.is_file()):
        equal = file.read_bytes() == (other / file.relative_to(one)).read_bytes()
        assert equal == (file.name != PROVENANCE), file.name
    assert "vmlinuz" not in (one / "manifest.json").read_text()
    assert read_manifest(one).file_digest != read_manifest(other).file_digest


def test_another_provenance_makes_a_bundle_another_than_the_one_made_here(
    boot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    remember(read_manifest(boot).file_digest, Files(kernel=Path("/k")), {})
    assert made_here(read_manifest(boot))
    said = fields_of(boot / PROVENANCE)
    (boot / PROVENANCE).write_text(json.dumps(said | {"recorded_at": "later"}))
    assert not made_here(read_manifest(boot))


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("manifest.json", lambda f: f | {"recorded_at": ""}, "`recorded_at` belongs into `provenance.json`"),
        ("manifest.json", lambda f: f["recipe"]["chosen"].update(kernel="/k"), "`recipe.chosen.kernel` stands in both"),
        (
            PROVENANCE,
            lambda f: f["recipe"].update({"chosen.seed": 9}),
            "`recipe.chosen.seed` is not a field that an equal",
        ),
        (PROVENANCE, lambda f: f | {"recipe": {}}, "`recipe.files.kernel`: Field required"),
        (PROVENANCE, lambda f: f | {"more": 1}, "`more`: no such field is known"),
        (PROVENANCE, lambda f: f | {"host": 3}, "`host`: "),
        (PROVENANCE, lambda f: f | {"reproduce": "firstlight record -o a.boot"}, "it is not the command that makes"),
        (PROVENANCE, lambda f: [f], "is damaged"),
    ],
)
def test_two_files_that_do_not_go_together_are_damage(
    boot: Path, file: str, change: Callable[[Fields], Any], said: str
) -> None:
    fields = fields_of(boot / file)
    (boot / file).write_text(json.dumps(change(fields) or fields))
    with pytest.raises(BundleError, match=r"damaged|contradicts") as caught:
        read_manifest(boot)
    assert said in caught.value.message


def test_a_bundle_without_provenance_is_named(boot: Path) -> None:
    (boot / PROVENANCE).unlink()
    with pytest.raises(BundleError, match=r"it has no `provenance\.json`"):
        read_manifest(boot)

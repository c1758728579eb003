"""Manifests whose statements exclude one another: what was chosen, what came of it, how it ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bundles import make_bundle, make_recorded
from firstlight.bundle.open import read_manifest
from firstlight.errors import BundleError

FAILURE = {"reason": "panic", "detail": "Kernel panic", "console_tail": []}


def merged(before: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    both = dict(before)
    for name, value in change.items():
        inner = before.get(name)
        both[name] = merged(inner, value) if isinstance(value, dict) and isinstance(inner, dict) else value
    return both


def changed(bundle: Path, change: dict[str, Any]) -> Path:
    path = bundle / "manifest.json"
    path.write_text(json.dumps(merged(json.loads(path.read_text()), change)))
    return bundle


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"recipe": {"memory": 512}}, "`recipe.memory`: write mebibytes without a fraction as a text, such as `512M`"),
        ({"recipe": {"memory": "2G"}}, "`recipe.memory`: write mebibytes without a fraction, such as `512M`"),
        ({"recipe": {"memory": "511M"}}, "`recipe.memory`: it is `511M`, and `chosen` says '512M'"),
        ({"recipe": {"cpu": "EPYC-v1"}}, "`recipe.cpu`: it is 'EPYC-v1', and `chosen` says 'Nehalem'"),
        ({"recipe": {"machine": "pc"}}, "`recipe.machine`: it is 'pc', and `chosen` says 'pc-q35-7.2'"),
        ({"recipe": {"command_line": "console=ttyS0 nokaslr"}},
         "`recipe.command_line`: it does not end with the chosen `append`: 'quiet'"),
        ({"recipe": {"command_line": "console=ttyS0 notquiet"}}, "`recipe.command_line`: it does not end"),
        ({"recipe": {"icount_shift": 3}}, "`icount_shift` does not repeat what `chosen` says"),
        ({"clock": {"icount_shift": 3}}, "`clock.icount_shift`: it is 3, and `recipe.chosen.shift` 0"),
        ({"totals": {"virtual_ns": 7}}, "`totals.virtual_ns`: it is 7, and instructions and idle time make"),
        ({"totals": {"idle_ns": -7}}, "`totals.idle_ns`: it is -7, less than nothing"),
        ({"totals": {"instructions": None}}, "`totals.instructions`: it is null, and the boot has a profile"),
        ({"status": "failed"}, "`status`: it is `failed`, and `failure` says nothing"),
        ({"failure": FAILURE}, "`status`: it is `complete`, and `failure` says `panic`"),
        ({"mode": "imported"}, "`mode`: it is `imported`, and the recipe is of an `exact` boot"),
        ({"reproduce": "rm -rf /"}, "`reproduce`: it is not the command that makes this recipe: 'rm -rf /'"),
        ({"reproduce": ""}, "`reproduce`: it is not the command that makes this recipe"),
        ({"reproduce": "firstlight record 'a"}, "`reproduce`: it is not the command that makes this recipe"),
        ({"reproduce": "firstlight record --append quiet -o a.boot; rm -rf /"}, "`reproduce`: it is not the command"),
        ({"reproduce": "firstlight record --append quiet --machine pc-q35-7.2 -o a.boot"}, "`reproduce`: it is not"),
    ],
)  # fmt: skip
def test_is_an_error_that_names_the_field(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    chosen: dict[str, Any] = {"append": "quiet", "cpu": "Nehalem", "machine": "pc-q35-7.2", "memory": "512M"}
    bundle = make_recorded(make_bundle(tmp_path), **chosen)
    read_manifest(bundle)
    with pytest.raises(BundleError) as caught:
        read_manifest(changed(bundle, change))
    assert said in caught.value.message
    assert caught.value.where == str(bundle / "manifest.json")
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({}, {}),
        ({"shift": 2}, {"shift": 2}),
        ({"failed": True}, {"append": " quiet  "}),
        ({"live": True}, {"live": True}),
        ({"profile": False}, {"profile": False}),
        ({}, {"memory": "512"}),
        ({}, {"guest_commands": ["echo 'a b'"], "qemu_options": ["-usb"]}),
    ],
    ids=str,
)
def test_honest_manifests_open(tmp_path: Path, given: dict[str, Any], chosen: dict[str, Any]) -> None:
    found = read_manifest(make_recorded(make_bundle(tmp_path, **given), **chosen)).chosen
    as_given = {name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()}
    assert {name: getattr(found, name) for name in chosen} == as_given


def test_the_path_behind_the_command_may_be_any(tmp_path: Path) -> None:
    bundle = changed(make_recorded(make_bundle(tmp_path)), {"reproduce": "firstlight record -o '/my boots/x; ls.boot'"})
    assert read_manifest(bundle).reproduce.endswith("ls.boot'")

"""The choices of a recording as a command line, and from a manifest back."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from bundles import make_bundle, make_recorded
from firstlight.bundle.open import open as open_boot
from firstlight.errors import BundleError
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.recipe.choices import Choices
from firstlight.recipe.command import repeat_command
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions


def test_only_what_was_chosen_is_repeated() -> None:
    assert repeat_command(Choices(), Path("a.boot")) == "firstlight record -o a.boot"


def test_every_choice_survives_a_shell() -> None:
    choices = Choices(
        kernel=Path("vm linuz"),
        append="-- a='b c' $HOME",
        ready=r"login: $",
        timeout_virtual_s=12.5,
        shift=3,
        qemu_options=("-smbios", "type=1"),
        live=True,
    )
    words = shlex.split(repeat_command(choices, Path("my boot.boot")))
    assert words[:2] == ["firstlight", "record"]
    assert words[words.index("--kernel") + 1] == "vm linuz"
    assert "--append=-- a='b c' $HOME" in words
    assert words[words.index("--ready") + 1] == "login: $"
    assert words[words.index("--timeout-virtual") + 1] == "12.5"
    assert [word for word in words if word.startswith("--qemu-option")] == [
        "--qemu-option=-smbios",
        "--qemu-option=type=1",
    ]
    assert "--live" in words
    assert words[-2:] == ["-o", "my boot.boot"]


def test_the_files_of_the_recording_are_taken_where_they_are_still_there(tmp_path: Path) -> None:
    kernel = tmp_path / "vmlinuz"
    kernel.write_bytes(b"kernel")
    files = {"kernel": str(kernel), "initrd": None}
    bundle = make_recorded(make_bundle(tmp_path, shift=2), files=files, append="quiet", shift=2, qemu_options=["-usb"])
    options = options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle), trust=True)
    expected = RecordOptions(
        Path("again.boot"), kernel=kernel, append="quiet", shift=2, qemu_options=("-usb",), cpu="Nehalem"
    )
    assert options == expected
    kernel.unlink()
    options = options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle), trust=True)
    assert options == replace(expected, kernel=None)


@pytest.mark.parametrize(("recorded", "taken"), [("qemu64-v0", "qemu64-v0"), (X86_64.cpu, None)])
def test_the_recorded_processor_is_taken_also_where_the_default_was_another_one(
    tmp_path: Path, recorded: str, taken: str | None
) -> None:
    bundle = make_recorded(make_bundle(tmp_path))
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["recipe"]["cpu"] = recorded
    path.write_text(json.dumps(manifest))
    assert options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle)).cpu == taken


def test_a_bundle_without_recipe_cannot_be_repeated(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    with pytest.raises(BundleError, match="no recipe"):
        options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle))

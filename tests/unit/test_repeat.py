"""The choices of a recording as a command line, and from a manifest back."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.boot.open import open as open_boot
from firstlight.errors import BundleError
from firstlight.lab.architecture import X86_64
from firstlight.lab.options import RecordOptions
from firstlight.lab.repeat import options_from_manifest, repeat_command


def test_only_what_was_chosen_is_repeated() -> None:
    assert repeat_command(RecordOptions(output=Path("a.boot"))) == "firstlight record -o a.boot"


def test_every_choice_survives_a_shell() -> None:
    options = RecordOptions(
        output=Path("my boot.boot"),
        kernel=Path("vm linuz"),
        append="-- a='b c' $HOME",
        ready=r"login: $",
        timeout_virtual_s=12.5,
        shift=3,
        qemu_options=("-smbios", "type=1"),
        live=True,
    )
    words = shlex.split(repeat_command(options))
    assert words[:2] == ["firstlight", "record"]
    assert words[words.index("--kernel") + 1] == "vm linuz"
    assert "--append=-- a='b c' $HOME" in words
    assert words[words.index("--ready") + 1] == "login: $"
    assert words[words.index("--timeout-virtual") + 1] == "12.5"
    assert [word for word in words if word.startswith("--qemu-option")] == [
        "--qemu-option=-smbios",
        "--qemu-option=type=1",
    ]
    assert words[-3:] == ["--live", "-o", "my boot.boot"]


def test_the_files_of_the_recording_are_taken_where_they_are_still_there(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    kernel = tmp_path / "vmlinuz"
    kernel.write_bytes(b"kernel")
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["recipe"]["chosen"] = {"kernel": None, "append": "quiet", "shift": 2, "qemu_options": ["-usb"]}
    manifest["recipe"]["files"] = {"kernel": str(kernel), "initrd": None}
    path.write_text(json.dumps(manifest))
    options = options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle))
    expected = RecordOptions(
        Path("again.boot"), kernel=kernel, append="quiet", shift=2, qemu_options=("-usb",), cpu="Nehalem"
    )
    assert options == expected
    kernel.unlink()
    options = options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle))
    assert options == replace(expected, kernel=None)


@pytest.mark.parametrize(("recorded", "taken"), [("qemu64-v1", "qemu64-v1"), (X86_64.cpu, None), (None, None)])
def test_the_recorded_processor_is_taken_also_where_the_default_was_another_one(
    tmp_path: Path, recorded: str | None, taken: str | None
) -> None:
    bundle = make_bundle(tmp_path)
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["recipe"] |= {"cpu": recorded, "chosen": {"cpu": None}, "files": {"kernel": "/no", "initrd": None}}
    path.write_text(json.dumps(manifest))
    assert options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle)).cpu == taken


def test_a_bundle_without_recipe_cannot_be_repeated(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    with pytest.raises(BundleError, match="no recipe"):
        options_from_manifest(open_boot(bundle).manifest, Path("again.boot"), str(bundle))

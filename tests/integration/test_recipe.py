"""One typed recipe: the manifest's, the command that repeats a boot, and the key of a boot are made of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from bundles import make_bundle, make_recorded
from firstlight.bundle.open import read_manifest
from firstlight.cli.main import run
from firstlight.errors import BundleError
from firstlight.recipe.choices import Choices, read_choices
from firstlight.recipe.command import repeat_command
from firstlight.recipe.field_types import Accelerator
from firstlight.recipe.key import OBSERVERS, key_of, leaves
from firstlight.recipe.options import RecordOptions, options_for
from firstlight.recipe.recipe import Files, Recipe

DIGESTS = {"kernel": "1" * 64}

RECIPE = Recipe(
    architecture="x86_64",
    machine="pc-q35-7.2",
    cpu="qemu64-v1",
    memory=512 << 20,
    command_line="console=ttyS0",
    chosen=Choices(),
    files=Files(kernel=Path("/boot/vmlinuz")),
)

#: A value of its own for every field of the choices; a new field has to be added here, or this module fails.
OTHER_CHOICES: dict[str, Any] = {
    "kernel": Path("vm linuz"),
    "initrd": Path("i,j.cpio"),
    "rootfs": "/a root",
    "root_as": "ext4",
    "storage": "emmc",
    "overlay": Path("overlay"),
    "initramfs_files": Path("more"),
    "guest_commands": ("echo 'a b'", "-x"),
    "append": "-- quiet 'x y'",
    "arch": "arm64",
    "loader": "ovmf",
    "loader_symbols": Path("u boot"),
    "dtb": Path("bo ard.dtb"),
    "memory": "1G",
    "cpu": "EPYC-v1",
    "cpus": 2,
    "machine": "pc-q35-8.0",
    "shift": 3,
    "seed": 7,
    "initramfs_order": 5,
    "ready": "login: $",
    "profile": False,
    "devices": True,
    "user_functions": True,
    "symbols": Path("de bug"),
    "live": True,
    "timeout_wall_s": 7.5,
    "timeout_virtual_s": None,
    "qemu": Path("/opt/q e m u"),
    "qemu_options": ("-smbios", "type=1"),
}

#: And for every other field of the recipe.
OTHERS: dict[str, Any] = {
    "architecture": "another",
    "machine": "pc-q35-8.0",
    "cpu": "EPYC-v1",
    "memory": 513 << 20,
    "command_line": "console=ttyS0 quiet",
    "modules": ("ext4",),
    "image_size": 4096,
    "loaded_address": 4096,
    "accelerator": Accelerator.KVM,
}


def with_others() -> Iterator[tuple[str, Recipe]]:
    """Every field of the recipe by its dotted name, and the recipe with another value there."""
    for name, _ in leaves(RECIPE):
        part, _, field = name.rpartition(".")
        if part == "chosen":
            yield name, RECIPE.choosing(**{field: OTHER_CHOICES[field]})
        elif part == "files":
            yield name, RECIPE.model_copy(update={"files": RECIPE.files.model_copy(update={field: Path("/other")})})
        else:
            yield name, RECIPE.model_copy(update={name: OTHERS[name]})


class TestTheKey:
    @pytest.mark.parametrize(("name", "other"), [*with_others()], ids=lambda value: value if type(value) is str else "")
    def test_every_field_changes_it_but_the_named_observers(self, name: str, other: Recipe) -> None:
        changed = key_of(other, DIGESTS, 1) != key_of(RECIPE, DIGESTS, 1)
        assert changed != (name in OBSERVERS)

    def test_every_observer_is_a_field_and_has_a_reason(self) -> None:
        assert OBSERVERS.keys() <= {name for name, _ in leaves(RECIPE)}
        assert all(OBSERVERS.values())

    def test_a_field_that_nobody_thought_of_changes_it(self) -> None:
        class Extended(Recipe):
            new: int = 0

        known = {name: getattr(RECIPE, name) for name in Recipe.model_fields}
        one, other = Extended(**known, new=1), Extended(**known, new=2)
        assert key_of(one, DIGESTS, 1) != key_of(other, DIGESTS, 1)

    def test_the_content_of_every_input_and_the_schema_change_it(self) -> None:
        key = key_of(RECIPE, DIGESTS, 1)
        assert key_of(RECIPE, {"kernel": "2" * 64}, 1) != key
        assert key_of(RECIPE, DIGESTS | {"initrd": None}, 1) != key
        assert key_of(RECIPE, DIGESTS, 2) != key


class TestTheCommandThatRepeatsABoot:
    def test_these_are_all_choices(self) -> None:
        assert OTHER_CHOICES.keys() == {each.name for each in fields(Choices)}

    @pytest.mark.parametrize("name", OTHER_CHOICES)
    def test_every_choice_comes_through_the_command_line(
        self, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, invented_boot: Path
    ) -> None:
        taken: list[RecordOptions] = []

        def take(given: RecordOptions, progress: object) -> Path:
            taken.append(given)
            return invented_boot

        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("firstlight.lab.run.record.record", take)
        choices = Choices(**{name: OTHER_CHOICES[name]})
        assert run(shlex.split(repeat_command(choices, Path("b.boot")))[1:]) == 0
        assert taken == [options_for(choices, Path("b.boot"))]


class TestTheManifest:
    def test_the_recipe_comes_back_as_it_was(self) -> None:
        whole = RECIPE.model_copy(update={"chosen": Choices(**OTHER_CHOICES), "modules": ("ext4", "nfit")})
        assert Recipe.model_validate_json(whole.model_dump_json()) == whole
        assert read_choices(json.loads(whole.model_dump_json())["chosen"]) == whole.chosen

    def test_what_readers_look_for_at_the_top_repeats_the_choices(self) -> None:
        said = RECIPE.choosing(append="quiet", seed=3, ready="up").model_dump(mode="json")
        assert (said["memory"], said["append"], said["seed"], said["ready"]) == ("512M", "quiet", 3, "console:up")
        assert (said["icount_shift"], said["rtc"], said["profile"]) == (0, "2024-01-01T00:00:00", True)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"chosen": {"shift": "0"}}, "`recipe.chosen.shift`: Input should be a valid integer"),
            ({"chosen": {"live": 1}}, "`recipe.chosen.live`: Input should be a valid boolean"),
            ({"chosen": {"kernel": "a\0b"}}, "`recipe.chosen.kernel`: a NUL byte"),
            ({"chosen": {"colour": "red"}}, "`recipe.chosen.colour`: no such field is known"),
            ({"chosen": {"timeout_wall_s": [1]}}, "`recipe.chosen.timeout_wall_s`"),
            ({"chosen": {"seed": 1 << 70}}, "`recipe.chosen.seed`"),
            ({"chosen": None}, "`recipe.chosen`"),
            ({"files": {}}, "`recipe.files.kernel`: Field required"),
            ({"memory": "much"}, "`recipe.memory`: write mebibytes without a fraction"),
            ({"architecture": "z80"}, "`recipe.architecture`: no architecture of guests is called `z80`"),
            ({"seed": 9}, "`recipe`: `seed` does not repeat what `chosen` says"),
            ({"append": "quiet"}, "`recipe`: `append` does not repeat what `chosen` says"),
        ],
    )
    def test_one_that_does_not_fit_is_told_with_its_file_and_field(
        self, tmp_path: Path, change: dict[str, Any], said: str
    ) -> None:
        bundle = make_recorded(make_bundle(tmp_path))
        path = bundle / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["recipe"] |= change
        path.write_text(json.dumps(manifest))
        with pytest.raises(BundleError) as caught:
            read_manifest(bundle)
        assert said in caught.value.message
        assert caught.value.where == str(path)
        assert caught.value.hint is not None

    def test_choices_that_came_later_have_their_defaults_in_an_older_one(self, tmp_path: Path) -> None:
        chosen = read_manifest(make_recorded(make_bundle(tmp_path), append="quiet")).chosen
        assert chosen == Choices(append="quiet")

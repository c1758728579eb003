"""The choices behind a bundle, to boot its recipe again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from firstlight.boot.manifest import Manifest
from firstlight.errors import BundleError
from firstlight.lab.options import RecordOptions, options_for
from firstlight.recipe.choices import Choices
from firstlight.recipe.recipe import Files, Recipe


def options_from_manifest(manifest: Manifest, output: Path, where: str) -> RecordOptions:
    """The choices behind a bundle, to boot its recipe again into another one.

    :raises BundleError: when the bundle was not recorded by Firstlight.
    """
    recipe = manifest.recipe
    if not isinstance(recipe, Recipe):
        raise BundleError("this bundle has no recipe to boot", where=where, hint="only recordings can be repeated")
    return options_for(with_files(recipe.chosen, recipe.files), output)


def with_files(chosen: Choices, files: Files) -> Choices:
    """Choices with the very files of the recording where they are still there: a relative path is another file from
    another directory, and the distribution's default kernel changes.
    """
    if files.kernel.is_file():
        chosen = replace(chosen, kernel=files.kernel)
    if chosen.initrd is not None and files.initrd is not None and files.initrd.is_file():
        chosen = replace(chosen, initrd=files.initrd)
    return chosen

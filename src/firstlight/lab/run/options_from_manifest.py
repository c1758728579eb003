"""The choices of a bundle, to boot its recipe again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from firstlight.bundle.manifest import Manifest
from firstlight.errors import BundleError, FirstlightError
from firstlight.lab.host.made_here import known_input, made_here
from firstlight.lab.qemu.untrusted import programs, questionable
from firstlight.quantities import joined
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa import Architecture, architecture_of
from firstlight.recipe.options import RecordOptions, options_for
from firstlight.recipe.recipe import Files, Recipe

_DEFAULTS = Choices()


def options_from_manifest(
    manifest: Manifest, output: Path, where: str, *, trust: bool = False, given: Mapping[str, Any] | None = None
) -> RecordOptions:
    """The choices behind a bundle, to boot its recipe again into another one.

    A bundle that was recorded here is booted as it was. Of any other no path is opened that it names, and no program
    runs: QEMU is this machine's or the given one, kernel and initramfs are given, found by their digests among what
    was used here before, or the defaults. What else names files or runs commands has to be given again, or trusted.

    :param where: the bundle, for messages.
    :param trust: take its paths, guest commands and options of QEMU; its programs are not taken even then.
    :param given: choices that the user gives anew, by their names; none is not given.
    :raises BundleError: when the bundle was not recorded by Firstlight.
    :raises FirstlightError: when its recipe asks for more than a stranger's may.
    """
    recipe = manifest.recipe
    if not isinstance(recipe, Recipe):
        raise BundleError("this bundle has no recipe to boot", where=where, hint="only recordings can be repeated")
    recorded = with_processor(recipe.chosen, recipe.cpu, architecture_of(recipe.architecture))
    anew = {name: value for name, value in (given or {}).items() if value is not None}
    if made_here(manifest):
        return options_for(replace(with_files(recorded, recipe.files), **anew), output)
    # What is given again is nothing that anybody has to be trusted with.
    chosen = replace(recorded, **{name: getattr(_DEFAULTS, name) for name in ("qemu", *anew)})
    check_programs(chosen, where)
    if trust:
        return options_for(replace(with_files(chosen, recipe.files), **anew), output)
    known = {name: known_input(manifest.digests.get(name)) for name in ("kernel", "initrd")}
    asked = [f"`--{name} {getattr(chosen, name)}`" for name in known
             if getattr(chosen, name) is not None and known[name] is None]  # fmt: skip
    if asked := asked + questionable(chosen):
        raise _not_trusted(asked, where)
    if chosen.initrd is None:
        # Firstlight makes its own: the digest is of that one.
        known["initrd"] = None
    return options_for(replace(chosen, **(known | anew)), output)


def check_untrusted(chosen: Choices, where: str, *, trust: bool) -> Choices:
    """Choices that come from a file somebody wrote, fit for booting.

    :raises FirstlightError: when they ask for more than a stranger's may.
    """
    check_programs(chosen, where)
    if trust:
        return replace(chosen, qemu=None)
    asked = [f"`--{name} {path}`" for name in ("kernel", "initrd") if (path := getattr(chosen, name)) is not None]
    asked += questionable(chosen)
    if asked:
        raise _not_trusted(asked, where)
    return replace(chosen, qemu=None)


def with_files(chosen: Choices, files: Files) -> Choices:
    """Choices with the very files of the recording where they are still there: a relative path is another file from
    another directory, and the distribution's default kernel changes.
    """
    if files.kernel.is_file():
        chosen = replace(chosen, kernel=files.kernel)
    if chosen.initrd is not None and files.initrd is not None and files.initrd.is_file():
        chosen = replace(chosen, initrd=files.initrd)
    if chosen.loader is not None and files.loader is not None and files.loader.is_file():
        chosen = replace(chosen, loader=str(files.loader))
    tree = files.device_tree
    if chosen.dtb is not None and files.image is None and tree is not None and tree.is_file():
        chosen = replace(chosen, dtb=tree)
    if chosen.storage is not None and files.storage is not None and files.storage.is_file():
        chosen = replace(chosen, storage=str(files.storage))
    return chosen


def with_processor(chosen: Choices, cpu: str, architecture: Architecture) -> Choices:
    """Choices with the processor of the recording, where none was chosen and the default was another one then.

    >>> pc = architecture_of("x86_64")
    >>> with_processor(Choices(), "qemu64-v0", pc).cpu, with_processor(Choices(), pc.cpu, pc).cpu
    ('qemu64-v0', None)
    """
    default = architecture.live_cpu if chosen.live else architecture.cpu
    return replace(chosen, cpu=cpu) if chosen.cpu is None and cpu != default else chosen


def check_programs(chosen: Choices, where: str) -> None:
    """Check that choices of a stranger load nothing into QEMU.

    :raises FirstlightError: naming it.
    """
    if found := programs(chosen):
        raise FirstlightError(
            f"this bundle was not recorded here, and names a program: {found[0]}",
            where=where,
            hint="Firstlight takes no program from a bundle: if you trust it, record with it yourself",
        )


def _not_trusted(asked: list[str], where: str) -> FirstlightError:
    return FirstlightError(
        f"this bundle was not recorded here, and its recipe needs {joined(asked, 3)}",
        where=where,
        hint="`firstlight verify` takes your own files (`--kernel FILE`, `--rootfs DIR`, ...); "
        "`--trust` uses all that the bundle names, including guest commands and paths of this machine",
    )

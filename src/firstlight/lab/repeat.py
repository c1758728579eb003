"""The choices of a recording as a command line, as part of a manifest, and back."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from pathlib import Path

from pydantic import JsonValue

from firstlight.boot.manifest import Manifest
from firstlight.errors import BundleError
from firstlight.lab.architecture import X86_64
from firstlight.lab.inputs import Inputs
from firstlight.lab.options import RecordOptions
from firstlight.lab.recipe import RTC

_DEFAULTS = RecordOptions(output=Path("a.boot"))
_OPTIONS = {
    "kernel": "--kernel",
    "initrd": "--initrd",
    "rootfs": "--rootfs",
    "root_as": "--root-as",
    "overlay": "--overlay",
    "initramfs_files": "--initramfs-files",
    "append": "--append",
    "memory": "--memory",
    "cpu": "--cpu",
    "machine": "--machine",
    "shift": "--shift",
    "seed": "--seed",
    "initramfs_order": "--initramfs-order",
    "ready": "--ready",
    "timeout_wall_s": "--timeout-wall",
    "timeout_virtual_s": "--timeout-virtual",
    "qemu": "--qemu",
}


def repeat_command(options: RecordOptions) -> str:
    """The command line that makes a boot again, ready for a shell.

    >>> repeat_command(RecordOptions(output=Path("a.boot"), append="quiet loglevel=3", profile=False))
    "firstlight record --append 'quiet loglevel=3' --no-profile -o a.boot"
    """
    words = ["firstlight", "record"]
    for name, option in _OPTIONS.items():
        value = getattr(options, name)
        if value != getattr(_DEFAULTS, name) and value is not None:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            # A value that starts with a dash would be taken for an option.
            words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    words += [f"--qemu-option={word}" for word in options.qemu_options]
    words += [f"--guest-command={command}" for command in options.guest_commands]
    words += ["--no-profile"] if not options.profile else []
    words += ["--live"] if options.live else []
    return shlex.join([*words, "-o", str(options.output)])


def recipe_for_manifest(options: RecordOptions, inputs: Inputs, accelerator: str) -> dict[str, JsonValue]:
    """The manifest's recipe: what was chosen, and what came of it."""
    recipe = inputs.recipe
    chosen: dict[str, JsonValue] = {}
    for each in fields(RecordOptions):
        if each.name in ("output", "force", "dry_run"):
            continue
        value = getattr(options, each.name)
        chosen[each.name] = (
            list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
        )
    # With the paths that QEMU got: a relative one is another file from another directory.
    chosen["qemu_options"] = list(recipe.qemu_options)
    image = recipe.image
    return {
        "architecture": recipe.architecture.name,
        "machine": recipe.machine,
        "cpu": recipe.cpu,
        "memory": f"{recipe.memory >> 20}M",
        "kernel": chosen["kernel"],
        "initrd": chosen["initrd"],
        "rootfs": chosen["rootfs"],
        **({"root_as": chosen["root_as"]} if options.root_as is not None else {}),
        **({"overlay": chosen["overlay"]} if options.overlay is not None else {}),
        **({"initramfs_files": chosen["initramfs_files"]} if options.initramfs_files is not None else {}),
        **({"guest_commands": chosen["guest_commands"]} if options.guest_commands else {}),
        "append": options.append,
        "command_line": recipe.command_line,
        "modules": list(recipe.modules),
        "accelerator": accelerator,
        "icount_shift": None if recipe.live else recipe.shift,
        "rtc": None if recipe.live else RTC,
        "seed": recipe.seed,
        "ready": recipe.ready_rule(),
        "profile": recipe.profile,
        "chosen": chosen,
        "files": {
            "kernel": str(recipe.kernel),
            "initrd": str(recipe.initrd) if recipe.initrd is not None else None,
            "image": str(image.path) if image is not None else None,
            "qemu": str(inputs.qemu.path),
        },
    }


def options_from_manifest(manifest: Manifest, output: Path, where: str) -> RecordOptions:
    """The choices behind a bundle, to boot its recipe again into another one.

    The very files of the recording are taken where they are still there: a relative path is another file from another
    directory, and the distribution's default kernel changes. Firstlight's default processor changes too: the recorded
    one is taken.

    :raises BundleError: when the bundle was not recorded by Firstlight.
    """
    chosen = manifest.recipe.get("chosen")
    files = manifest.recipe.get("files")
    if not isinstance(chosen, dict) or not isinstance(files, dict):
        raise BundleError("this bundle has no recipe to boot", where=where, hint="only recordings can be repeated")
    known = {each.name for each in fields(RecordOptions)}
    values: dict[str, object] = {name: value for name, value in chosen.items() if name in known}
    values["qemu_options"] = tuple(str(word) for word in _list(values.get("qemu_options")))
    values["guest_commands"] = tuple(str(command) for command in _list(values.get("guest_commands")))
    for name in ("kernel", "initrd", "qemu", "overlay", "initramfs_files"):
        text = values.get(name)
        values[name] = Path(str(text)) if text is not None else None
    options = replace(_DEFAULTS, output=output, **values)  # type: ignore[arg-type]
    # The default processor of another Firstlight may be another one.
    recorded = manifest.recipe_text("cpu")
    if options.cpu is None and recorded is not None and recorded != (X86_64.live_cpu if options.live else X86_64.cpu):
        options = replace(options, cpu=recorded)
    kernel = Path(str(files.get("kernel")))
    options = replace(options, kernel=kernel if kernel.is_file() else options.kernel)
    if options.initrd is not None and (initrd := Path(str(files.get("initrd")))).is_file():
        options = replace(options, initrd=initrd)
    return options


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

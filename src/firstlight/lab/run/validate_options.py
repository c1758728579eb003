"""Checks of the user's choices that need no file."""

from __future__ import annotations

import re
from dataclasses import replace

from firstlight.errors import UsageError
from firstlight.lab.kernel.command_line.contradictions import wants_kaslr
from firstlight.lab.qemu.arguments import read_options
from firstlight.lab.qemu.processors import check_processors
from firstlight.lab.qemu.validation import validate_cpu, validate_options
from firstlight.lab.rootfs.filesystems import find_format
from firstlight.lab.storage.model import find_model, read_model
from firstlight.quantities import parse_size
from firstlight.recipe.isa import Architecture, architectures
from firstlight.recipe.options import RecordOptions

_LARGEST_SHIFT = 10
"""QEMU's own limit."""


def check_choices(options: RecordOptions, architecture: Architecture) -> None:
    """Check what can be checked without looking at any file.

    :raises UsageError: naming the option.
    """
    _check_not_empty(options)
    _check_what_exists(options, architecture)
    validate_options(options.qemu_options, live=options.live)
    check_processors(options, architecture)
    if options.cpu is not None:
        validate_cpu(options.cpu, architecture, live=options.live)
    if options.root_as is not None:
        _check_root_as(options)
    if options.machine is not None and architecture.is_small(options.machine) and options.rootfs is not None:
        raise UsageError(
            f"`--machine {options.machine}` has no persistent memory, which `--rootfs` needs",
            hint="put the root file system into an initramfs and pass it with `--initrd`, or use "
            f"`--machine {architecture.machine}`",
        )
    if options.storage is not None:
        _check_storage(options, architecture)
    if options.loader is not None:
        _check_loader(options, architecture)
    elif options.loader_symbols is not None:
        raise UsageError("`--loader-symbols` needs `--loader`", hint="give the file that was made of that program")
    if options.loader_symbols is not None and (options.live or not options.profile):
        word = "--live" if options.live else "--no-profile"
        raise UsageError(
            f"`{word}` cannot be combined with `--loader-symbols`", hint="functions are followed with the profile"
        )
    if (
        options.initrd is not None
        and options.rootfs is None
        and (options.overlay is not None or options.guest_commands)
    ):
        word = "--overlay" if options.overlay is not None else "--guest-command"
        raise UsageError(
            f"`--initrd` cannot be combined with `{word}`",
            hint="your initramfs is booted unchanged: change it yourself, or pass a root file system with `--rootfs`",
        )
    if options.initramfs_files is not None and options.initrd is not None:
        raise UsageError(
            "`--initrd` cannot be combined with `--initramfs-files`",
            hint="your initramfs is booted unchanged: change it yourself",
        )
    if options.initramfs_files is not None and (options.rootfs is None or options.root_as is not None):
        raise UsageError(
            "`--initramfs-files` needs `--rootfs`, mounted by an initramfs",
            hint="the minimal guest is an initramfs: add files to it with `--overlay`",
        )
    if any("\0" in command or not command.strip() for command in options.guest_commands):
        raise UsageError("this is not a command", where="--guest-command")
    if options.initrd is not None and options.initramfs_order is not None:
        hint = "Firstlight can order only the files of its own initramfs"
        raise UsageError("`--initrd` and `--initramfs-order` cannot be combined", hint=hint)
    if not 0 <= options.shift <= _LARGEST_SHIFT:
        raise UsageError(f"`--shift {options.shift}` is out of range", hint=f"0 to {_LARGEST_SHIFT}")
    if not 0 <= options.seed < 1 << 32:
        raise UsageError(f"`--seed {options.seed}` is out of range", hint="0 to 4294967295")
    if options.timeout_wall_s <= 0 or (options.timeout_virtual_s is not None and options.timeout_virtual_s <= 0):
        raise UsageError("a timeout must be longer than 0", hint="give seconds")
    if "\n" in options.append or "\0" in options.append:
        raise UsageError("the kernel's command line is one line", where="--append")
    if wants_kaslr(options.append) and options.profile and not options.live:
        raise UsageError(
            "`--append kaslr` cannot be combined with a profile: the kernel is not at its symbols' addresses",
            hint="add `--no-profile`, or leave `kaslr` out: Firstlight adds `nokaslr`, because the profile names "
            "functions by their addresses",
        )
    if options.devices and (options.live or not options.profile):
        word = "--live" if options.live else "--no-profile"
        raise UsageError(f"`{word}` cannot be combined with `--devices`", hint="devices are followed with the profile")
    if options.user_functions and (options.live or not options.profile):
        word = "--live" if options.live else "--no-profile"
        raise UsageError(
            f"`{word}` cannot be combined with `--user-functions`", hint="user code is followed with the profile"
        )
    if options.symbols is not None and not options.user_functions:
        raise UsageError(
            "`--symbols` needs `--user-functions`", hint="add it: without it there are no functions to name"
        )
    if options.symbols is not None and not options.symbols.is_dir():
        raise UsageError("there is no such directory", where=f"--symbols {options.symbols}")
    if options.ready is not None:
        _check_pattern(options.ready)
    guest_memory(options, architecture)


def _check_what_exists(options: RecordOptions, architecture: Architecture) -> None:
    """Reject what there is no plugin or no machine for on this architecture."""
    guest = f"a guest of {architecture.distribution_name}"
    if not architecture.has_root_images and options.rootfs is not None:
        hint = "put the files into an initramfs: `--initrd`"
        raise UsageError(f"{guest} cannot be booted with `--rootfs`", hint=hint)
    if options.root_as is not None and not find_format(options.root_as).boots_on(architecture):
        hint = "take a root file system: `--rootfs`" if architecture.has_root_images else "use an initramfs: `--initrd`"
        raise UsageError(f"{guest} cannot be booted with `--root-as`", hint=hint)
    if options.dtb is not None and not architecture.has_device_tree:
        others = sorted(
            f"`--arch {each.distribution_name}`" for each in architectures().values() if each.has_device_tree
        )
        hint = f"leave it out, or boot another kernel: {', '.join(others)}"
        raise UsageError(
            f"{guest} has no device tree to replace: its firmware describes the machine", hint=hint, where="--dtb"
        )
    if options.dtb is not None and any(option == "dtb" for option, _ in read_options(options.qemu_options)):
        raise UsageError("`--dtb` and `--qemu-option -dtb` cannot be combined", hint="give one of them")
    if not architecture.has_profile:
        _check_needs_no_profile(options, guest)
    if not architecture.has_processes and (word := _needs_processes(options)) is not None:
        hint = f"leave `{word}` out: the profile of the kernel has every function without it"
        raise UsageError(f"{guest} is not followed beyond the functions of its kernel", where=word, hint=hint)


def _needs_processes(options: RecordOptions) -> str | None:
    """The first option that reads more of the guest than its functions."""
    given = {"--devices": options.devices, "--user-functions": options.user_functions}
    return next((word for word, is_given in given.items() if is_given), None)


def _check_needs_no_profile(options: RecordOptions, guest: str) -> None:
    """Reject what is recorded with the profile, which :func:`without_missing_profile` leaves out."""
    word = "--loader-symbols" if options.loader_symbols is not None else _needs_processes(options)
    if word is not None:
        hint = f"leave `{word}` out: the boot is still exact"
        raise UsageError(f"{guest} cannot be profiled: the plugin has no module for it", where=word, hint=hint)


def without_missing_profile(options: RecordOptions, architecture: Architecture) -> RecordOptions:
    """The same options; without a profile where the plugin has no module for the guest's architecture.

    >>> from pathlib import Path
    >>> from firstlight.recipe.isa import architecture_of
    >>> architecture = replace(architecture_of("arm"), has_profile=False)
    >>> without_missing_profile(RecordOptions(Path("a.boot"), arch="armhf"), architecture).profile
    False
    """
    return options if architecture.has_profile or options.live else replace(options, profile=False)


def _check_storage(options: RecordOptions, architecture: Architecture) -> None:
    """Check what goes with a disk with a model, and the model."""
    assert options.storage is not None
    if not options.storage.strip():
        raise UsageError("the option is empty", where="--storage", hint="give a model, or leave the option out")
    read_model(find_model(options.storage))
    if options.rootfs is None:
        hint = "add `--rootfs debian`, or your own directory or image: this is the content of the disk"
        raise UsageError("`--storage` needs `--rootfs`", hint=hint)
    for name, reason in (
        ("live", "a model counts on the virtual clock"),
        ("root_as", "the kernel would need the driver of the disk built in"),
        ("initrd", "Firstlight's initramfs loads the driver of the disk"),
    ):
        if getattr(options, name):
            raise UsageError(
                f"`--{name.replace('_', '-')}` cannot be combined with `--storage`", hint=f"leave one out: {reason}"
            )
    if not architecture.has_disk_models:
        raise UsageError(
            f"a guest of {architecture.distribution_name} cannot be booted with `--storage`", hint="leave it out"
        )


def _check_loader(options: RecordOptions, architecture: Architecture) -> None:
    """Check what goes with a boot loader of the user's choice."""
    if not architecture.largest_loader:
        raise UsageError(
            f"a guest of {architecture.distribution_name} cannot be started by `--loader`",
            hint="leave it out: QEMU starts it",
        )
    if options.machine is not None and architecture.is_small(options.machine):
        raise UsageError(
            f"`--machine {options.machine}` has no memory for `--loader`",
            hint=f"use `--machine {architecture.machine}`",
        )
    if options.root_as is not None:
        raise UsageError(
            "`--loader` and `--root-as` cannot be combined",
            hint="a boot loader uses the memory of that root: pass it with `--rootfs` or `--initrd`",
        )
    if any(option == "bios" for option, _ in read_options(options.qemu_options)):
        raise UsageError("`--loader` and `--qemu-option -bios` cannot be combined", hint="give one of them")


def _check_not_empty(options: RecordOptions) -> None:
    """Refuse an option with nothing in it: it is what an unset variable of a script leaves."""
    for name in ("rootfs", "loader", "memory", "cpu", "machine"):
        value = getattr(options, name)
        if value is not None and not value.strip():
            raise UsageError("the option is empty", where=f"--{name}", hint="give a value, or leave the option out")


def _check_root_as(options: RecordOptions) -> None:
    """Check what goes with a root that the kernel mounts by itself."""
    assert options.root_as is not None
    find_format(options.root_as)
    hint = "the kernel mounts this root: there is no initramfs"
    if options.initrd is not None:
        raise UsageError("`--initrd` and `--root-as` cannot be combined", hint=hint)
    if options.initramfs_order is not None:
        raise UsageError("`--initramfs-order` and `--root-as` cannot be combined", hint=hint)
    if options.rootfs is None:
        return
    if options.rootfs == "debian":
        hint = "pass a directory or an image, and `--ready REGEX` for the console line at which it is up"
        raise UsageError("`--rootfs debian` cannot be combined with `--root-as`", hint=hint)
    if options.overlay is not None or options.guest_commands:
        word = "--overlay" if options.overlay is not None else "--guest-command"
        hint = "change the directory or the image yourself, or leave `--rootfs` out for the minimal guest"
        raise UsageError(f"`--rootfs` with `--root-as` cannot be combined with `{word}`", hint=hint)


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"`{pattern}` is not a regular expression: {error}", where="--ready") from error
    if re.search(pattern, "") and re.search(pattern, "anything at all"):
        raise UsageError(
            f"`{pattern}` matches every line, so the boot would end at its first byte",
            where="--ready",
            hint="give an expression that only the awaited line matches, such as `login:`",
        )
    if re.search(r"\(\?(<?[=!]|P=|\()|\\[1-9]", pattern):
        raise UsageError(
            f"`{pattern}` uses look-around or back references, which the plugin does not support",
            where="--ready",
            hint="use an expression without `(?=`, `(?!`, `(?<` and `\\1`",
        )


def guest_memory(options: RecordOptions, architecture: Architecture) -> int:
    """Bytes of the guest's memory: what was chosen, or the default of its kind.

    :raises UsageError: for what is not a size, or is more than the machine can have.
    """
    if options.memory is not None:
        # QEMU takes whole mebibytes of what it is given here.
        memory = max(1 << 20, parse_size(options.memory) >> 20 << 20)
        largest = architecture.largest_memory
        if largest is not None and memory > largest:
            raise UsageError(
                f"a guest of {architecture.distribution_name} has no machine with so much memory",
                where=f"--memory {options.memory}",
                hint=f"give {largest >> 30}G at most",
            )
        return memory
    default = architecture.default_memory if options.rootfs is None else architecture.default_rootfs_memory
    return parse_size(default)

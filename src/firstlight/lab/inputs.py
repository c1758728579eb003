"""From a person's choices to a recipe whose inputs all exist, with their digests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from firstlight.cache import file_digest
from firstlight.carried import carried
from firstlight.errors import LabError, UsageError
from firstlight.lab.architecture import X86_64, Architecture
from firstlight.lab.initramfs import BEFORE_ROOT, GuestConfig, build_initramfs
from firstlight.lab.initrd_check import check_initrd
from firstlight.lab.kernel import Kernel, default_kernel, open_kernel
from firstlight.lab.kernel_root import KernelRoot, image_root, small_root, tree_root
from firstlight.lab.machine import check_memory, kernel_command_line, persistent_memory
from firstlight.lab.modules import modules_for, require_built_in
from firstlight.lab.named_files import own_firmware, with_inputs
from firstlight.lab.options import RecordOptions
from firstlight.lab.overlay import check_overlay
from firstlight.lab.progress import Progress, SilentProgress
from firstlight.lab.qemu import Qemu, find_qemu, require_plugins
from firstlight.lab.recipe import LoadedMemory, PersistentMemory, Recipe
from firstlight.lab.refuse import refuse_cpu, refuse_machine, refuse_options
from firstlight.lab.root_formats import find_format
from firstlight.lab.rootfs import root_image
from firstlight.lab.sizes import parse_size
from firstlight.lab.symbols import kernel_symbols

_LARGEST_SHIFT = 10
"""QEMU's own limit."""


@dataclass(frozen=True)
class Inputs:
    """Everything that one boot is made of."""

    recipe: Recipe
    qemu: Qemu
    kernel: Kernel
    plugin: Path | None = None
    symbols: Path | None = None
    digests: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class _Guest:
    """What runs in the machine, beside the kernel."""

    initrd: Path | None
    helper: bool
    image: PersistentMemory | None = None
    loaded: LoadedMemory | None = None
    words: str = ""
    """For the kernel's command line, before the person's own."""
    image_digest: str | None = None
    modules: tuple[str, ...] = ()


def resolve(options: RecordOptions, progress: Progress | None = None) -> Inputs:
    """Find, check and where needed make every input of a recording; nothing is booted, but perhaps the probe that
    asks a new kernel for its symbols.

    :raises UsageError: for choices that cannot be, such as those that break exactness.
    :raises LabError: for an input that is missing, damaged or does not fit.
    """
    progress = progress or SilentProgress()
    architecture = X86_64
    check_choices(options, architecture)
    qemu = find_qemu(architecture, options.qemu)
    if options.machine is not None:
        refuse_machine(options.machine, architecture, qemu.machines(), live=options.live)
    words, named = with_inputs(options.qemu_options, qemu.data_directories)
    plugin = None
    if options.profile and not options.live:
        require_plugins(qemu)
        plugin = carried("firstlight-plugin.so")
    progress.step("looking for the kernel")
    kernel = open_kernel(options.kernel) if options.kernel is not None else default_kernel()
    if options.root_as is not None:
        _check_signs(find_format(options.root_as).signs, options.root_as, kernel, qemu, progress)
    elif options.rootfs is not None and kernel.modules is None:
        _check_built_in(architecture, kernel, qemu, progress)
    guest = _guest(options, architecture, kernel, progress)
    recipe = Recipe(
        architecture=architecture,
        machine=options.machine or architecture.machine,
        cpu=options.cpu or (architecture.live_cpu if options.live else architecture.cpu),
        memory=_memory(options, architecture),
        kernel=kernel.path.absolute(),
        initrd=guest.initrd,
        command_line=kernel_command_line(architecture, f"{guest.words} {options.append}".strip()),
        image=guest.image,
        loaded=guest.loaded,
        modules=guest.modules,
        shift=options.shift,
        seed=options.seed,
        ready_pattern=options.ready,
        guest_helper=guest.helper,
        profile=plugin is not None,
        live=options.live,
        timeout_wall_s=options.timeout_wall_s,
        timeout_virtual_s=options.timeout_virtual_s,
        qemu_options=words,
    )
    check_memory(recipe)
    symbols = kernel_symbols(kernel, qemu, progress) if plugin is not None else None
    digests = {
        "kernel": kernel.digest,
        "initrd": file_digest(guest.initrd) if guest.initrd is not None else None,
        "image": guest.image_digest,
        "qemu": qemu.digest(),
        "firmware": qemu.firmware_digest(architecture, own_firmware(options.qemu_options)),
        "plugin": file_digest(plugin) if plugin is not None else None,
        "guest": file_digest(carried("firstlight-guest"))
        if options.initrd is None and (options.root_as is None or guest.helper)
        else None,
        "symbols": file_digest(symbols) if symbols is not None else None,
        **named,
    }
    return Inputs(recipe, qemu, kernel, plugin, symbols, digests)


def _check_built_in(architecture: Architecture, kernel: Kernel, qemu: Qemu, progress: Progress) -> None:
    """A root file system needs what is a module in most kernels; where none were found, the symbols tell."""
    try:
        symbols = kernel_symbols(kernel, qemu, progress)
    except LabError:
        # A kernel may keep its symbols; nobody can know then what it has built in.
        return
    require_built_in(kernel, symbols, architecture.built_in_signs)


def _check_signs(signs: tuple[str, ...], what: str, kernel: Kernel, qemu: Qemu, progress: Progress) -> None:
    """What a kernel needs to mount its root by itself cannot be a module; its own symbols tell what is none."""
    try:
        symbols = kernel_symbols(kernel, qemu, progress)
    except LabError:
        return
    with symbols.open(encoding="utf-8", errors="replace") as lines:
        names = {fields[2].partition(".")[0] for fields in map(str.split, lines) if len(fields) == 3}
    missing = [f"`{sign}`" for sign in signs if sign not in names]
    if missing:
        raise LabError(
            f"this kernel cannot mount {what} by itself: it has not built in {', '.join(missing)}",
            where=str(kernel.path),
            hint="take one that has: `firstlight image build kernel`, and `--kernel $(firstlight image path kernel)`",
        )


def check_choices(options: RecordOptions, architecture: Architecture) -> None:
    """Check what can be checked without looking at any file.

    :raises UsageError: naming the option.
    """
    refuse_options(options.qemu_options, live=options.live)
    if options.cpu is not None:
        refuse_cpu(options.cpu, architecture, live=options.live)
    if options.initrd is not None and options.rootfs is not None:
        raise UsageError(
            "`--initrd` and `--rootfs` exclude each other",
            hint="a root file system is mounted by Firstlight's own initramfs",
        )
    if options.root_as is not None:
        _check_root_as(options)
    if options.initrd is not None and (options.overlay is not None or options.guest_commands):
        word = "--overlay" if options.overlay is not None else "--guest-command"
        raise UsageError(
            f"`--initrd` excludes `{word}`",
            hint="an initramfs of your own is booted as it is: change it before, or give the user land with `--rootfs`",
        )
    if options.initramfs_files is not None and (options.rootfs is None or options.root_as is not None):
        raise UsageError(
            "`--initramfs-files` needs `--rootfs`, mounted by an initramfs",
            hint="the small guest is its initramfs: lay files over it by `--overlay`",
        )
    if any("\0" in command or not command.strip() for command in options.guest_commands):
        raise UsageError("this is no command", where="--guest-command")
    if options.initrd is not None and options.initramfs_order is not None:
        hint = "only Firstlight's own initramfs has members that it can order"
        raise UsageError("`--initrd` and `--initramfs-order` exclude each other", hint=hint)
    if not 0 <= options.shift <= _LARGEST_SHIFT:
        raise UsageError(f"`--shift {options.shift}` is out of range", hint=f"0 to {_LARGEST_SHIFT}")
    if not 0 <= options.seed < 1 << 32:
        raise UsageError(f"`--seed {options.seed}` is out of range", hint="0 to 4294967295")
    if options.timeout_wall_s <= 0 or (options.timeout_virtual_s is not None and options.timeout_virtual_s <= 0):
        raise UsageError("a time-out has to be longer than nothing", hint="give seconds")
    if "\n" in options.append or "\0" in options.append:
        raise UsageError("the kernel's command line is one line", where="--append")
    if options.ready is not None:
        _check_pattern(options.ready)
    _memory(options, architecture)


def _check_root_as(options: RecordOptions) -> None:
    """Check what goes with a root that the kernel mounts by itself."""
    assert options.root_as is not None
    find_format(options.root_as)
    hint = "it is the kernel that mounts this root: there is no initramfs"
    if options.initrd is not None:
        raise UsageError("`--initrd` and `--root-as` exclude each other", hint=hint)
    if options.initramfs_order is not None:
        raise UsageError("`--initramfs-order` and `--root-as` exclude each other", hint=hint)
    if options.rootfs is None:
        return
    if options.rootfs == "debian":
        hint = "give the directory or the image of a user land, and say with `--ready REGEX` when it is up"
        raise UsageError("`--rootfs debian` cannot be had with `--root-as`", hint=hint)
    if options.overlay is not None or options.guest_commands:
        word = "--overlay" if options.overlay is not None else "--guest-command"
        hint = "change the directory or the image before, or leave `--rootfs` out for the small guest"
        raise UsageError(f"`--rootfs` with `--root-as` excludes `{word}`", hint=hint)


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"`{pattern}` is no regular expression: {error}", where="--ready") from error
    if re.search(r"\(\?(<?[=!]|P=|\()|\\[1-9]", pattern):
        raise UsageError(
            f"`{pattern}` looks around or back, which the plugin's expressions cannot",
            where="--ready",
            hint="use an expression without `(?=`, `(?!`, `(?<` and `\\1`",
        )


def _memory(options: RecordOptions, architecture: Architecture) -> int:
    if options.memory is not None:
        # QEMU takes whole mebibytes of what it is given here.
        return max(1 << 20, parse_size(options.memory) >> 20 << 20)
    default = architecture.default_memory if options.rootfs is None else architecture.default_rootfs_memory
    return parse_size(default)


def _guest(options: RecordOptions, architecture: Architecture, kernel: Kernel, progress: Progress) -> _Guest:
    report = f"/dev/{architecture.report_device}"
    for files in (options.overlay, options.initramfs_files):
        if files is not None:
            check_overlay(files)
    if options.root_as is not None:
        progress.step("making the image that the kernel mounts")
        return _mounted_by_kernel(options, architecture, kernel, report)
    if options.initrd is not None:
        check_initrd(options.initrd)
        return _Guest(options.initrd.absolute(), helper=False)
    if options.rootfs is None:
        progress.step("building the initramfs")
        config = GuestConfig(report=report)
        made = build_initramfs(config, (), options.overlay, options.guest_commands, options.initramfs_order)
        return _Guest(made.path, helper=True)
    progress.step("making the root file system's image")
    source: Path | Literal["debian"] = "debian" if options.rootfs == "debian" else Path(options.rootfs)
    root = root_image(source, options.overlay, options.guest_commands)
    if options.guest_commands and not root.has_systemd:
        raise UsageError(
            "this root file system has no systemd, which would run the command",
            where=options.rootfs,
            hint="change its own start-up scripts with `--overlay`",
        )
    if options.ready is None and not root.has_systemd:
        raise UsageError(
            "this root file system has no systemd, so nothing in it says when it is up",
            where=options.rootfs,
            hint="say with `--ready REGEX` which line of the console means it",
        )
    modules = modules_for(kernel, architecture.pmem_modules)
    files = options.initramfs_files
    config = GuestConfig(
        root=architecture.pmem_device,
        init=root.init,
        before_root=files is not None and (files / BEFORE_ROOT).is_file(),
        report=report,
        unit=options.ready is None,
    )
    initramfs = build_initramfs(config, modules, files, order=options.initramfs_order)
    return _Guest(
        initramfs.path,
        helper=options.ready is None,
        # QEMU runs elsewhere, and would make a file of zeros where it finds none.
        image=persistent_memory(root.path.absolute(), root.size_bytes),
        image_digest=root.digest,
        modules=tuple(module.name for module in modules),
    )


def _mounted_by_kernel(options: RecordOptions, architecture: Architecture, kernel: Kernel, report: str) -> _Guest:
    root = kernel_root(options, report)
    helper = options.rootfs is None or options.ready is None
    memory = _memory(options, architecture)
    return _Guest(
        root.path if root.form.device in ("ram", "initramfs") else None,
        helper=helper,
        image=persistent_memory(root.path, root.size) if root.form.device == "pmem" else None,
        image_digest=root.digest,
        loaded=root.loaded(memory, kernel),
        words=root.words(memory, kernel, helper=helper),
    )


def kernel_root(options: RecordOptions, report: str = f"/dev/{X86_64.report_device}") -> KernelRoot:
    """The image of `options.root_as`, made or found in the cache.

    :param report: the port that the small guest's report goes to.
    :raises UsageError: for a kind that there is not, or a root file system in which nothing would say when it is up.
    :raises LabError: when it cannot be made.
    """
    assert options.root_as is not None
    form = find_format(options.root_as)
    if options.rootfs is None:
        return small_root(form, GuestConfig(report=report), options.overlay, options.guest_commands)
    path = Path(options.rootfs)
    if not path.is_dir():
        return image_root(form, path, helper=options.ready is None)
    if options.ready is None:
        raise UsageError(
            "nothing in this directory says when it is up",
            where=options.rootfs,
            hint="say with `--ready REGEX` which line of the console means it",
        )
    return tree_root(form, path)

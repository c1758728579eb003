"""Turns the user's choices into a recipe with existing inputs and their digests."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from firstlight.assets import asset_path
from firstlight.bundle.manifest import KEY_VERSION
from firstlight.cache import file_digest
from firstlight.errors import LabError, UsageError
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.kernel.command_line.contradictions import contradictions
from firstlight.lab.kernel.kernel import Kernel, default_kernel, open_kernel
from firstlight.lab.kernel.modules import modules_for, require_built_in
from firstlight.lab.qemu.command_line import check_memory, image_region, kernel_command_line, persistent_memory
from firstlight.lab.qemu.device_tree import own_tree, packed_tree, tree_with_region
from firstlight.lab.qemu.emulator import Qemu, find_qemu, require_firmware, require_plugins
from firstlight.lab.qemu.given_tree import Machine, read_given
from firstlight.lab.qemu.loaders import check_symbols, find_loader
from firstlight.lab.qemu.option_files import directory_digest, own_firmware, with_inputs
from firstlight.lab.qemu.processors import require_repeatable
from firstlight.lab.qemu.validation import validate_machine
from firstlight.lab.rootfs.distribution_initrd import root_words, with_drivers
from firstlight.lab.rootfs.filesystems import find_format
from firstlight.lab.rootfs.image import root_image
from firstlight.lab.rootfs.initramfs import BEFORE_ROOT, GuestConfig, build_initramfs
from firstlight.lab.rootfs.initrd_check import check_initrd
from firstlight.lab.rootfs.kernel_mounted import KernelRoot, image_root, minimal_root, tree_root
from firstlight.lab.rootfs.overlay import check_overlay
from firstlight.lab.run.device_probes import check_functions
from firstlight.lab.run.guest_architecture import guest_architecture
from firstlight.lab.run.symbols import kernel_symbols, known_symbols
from firstlight.lab.run.validate_options import check_choices, guest_memory, without_missing_profile
from firstlight.lab.storage.model import find_model
from firstlight.recipe.isa import DEFAULT, Architecture
from firstlight.recipe.key import key_of
from firstlight.recipe.options import RecordOptions
from firstlight.recipe.recipe import Files, LoadedMemory, PersistentMemory, Recipe


@dataclass(frozen=True)
class Inputs:
    """Everything that one boot is made of."""

    recipe: Recipe
    qemu: Qemu
    kernel: Kernel
    plugin: Path | None = None
    symbols: Path | None = None
    digests: dict[str, str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The digest of everything that decides the boot, before it is recorded."""
        return key_of(self.recipe, self.digests, KEY_VERSION)


@dataclass(frozen=True)
class _Guest:
    """What runs in the machine, beside the kernel."""

    initrd: Path | None
    image: PersistentMemory | None = None
    loaded: LoadedMemory | None = None
    words: str = ""
    """For the kernel's command line, before the person's own."""
    image_digest: str | None = None
    modules: tuple[str, ...] = ()


def resolve(options: RecordOptions, progress: Progress | None = None, *, dry_run: bool = False) -> Inputs:
    """Find, check and where needed make every input of a recording; nothing is booted, but perhaps the probe that
    asks a new kernel for its symbols.

    :param dry_run: boot nothing at all; the symbols of a new kernel are then missing.
    :raises UsageError: for choices that cannot be, such as those that break exactness.
    :raises LabError: for an input that is missing, damaged or does not fit, and on another system than Linux.
    """
    if sys.platform != "linux":
        raise LabError("boots are recorded on Linux only", hint="`firstlight import` reads records on every system")
    progress = progress or SilentProgress()
    architecture = guest_architecture(options)
    check_choices(options, architecture)
    if options.profile and not (options := without_missing_profile(options, architecture)).profile:
        progress.note(f"a guest of {architecture.distribution_name} has no profile: the plugin has no module for it")
    qemu = find_qemu(architecture, options.qemu)
    if options.machine is not None:
        validate_machine(options.machine, architecture, qemu.machines(), live=options.live)
    if not options.live:
        require_repeatable(options.cpus, qemu, architecture)
    require_firmware(qemu, architecture, options.machine or architecture.machine, own_firmware(options.qemu_options))
    loader = find_loader(architecture, options.loader) if options.loader is not None else None
    if options.loader_symbols is not None and loader is not None:
        check_symbols(architecture, options.loader_symbols, loader)
    words, named = with_inputs(options.qemu_options, qemu.data_directories)
    plugin = None
    storage = find_model(options.storage) if options.storage is not None else None
    if storage is not None:
        require_plugins(qemu)
    if options.profile and not options.live:
        require_plugins(qemu)
        plugin = asset_path("firstlight-plugin.so")
    progress.step("looking for the kernel")
    kernel = open_kernel(options.kernel) if options.kernel is not None else default_kernel(architecture)
    if loader is not None and kernel.is_elf:
        raise LabError(
            f"{loader.title} cannot start an ELF file",
            where=str(kernel.path),
            hint=f"give the {architecture.kernel_format} that is made from it: `{architecture.kernel_image}`",
        )
    if options.root_as is not None:
        symbols = _symbols_if_any(options, kernel, qemu, progress, dry_run=dry_run)
        _check_signs(find_format(options.root_as).signs, options, kernel, symbols)
    elif options.rootfs is not None and kernel.modules is None:
        signs = architecture.built_in_signs if storage is None else architecture.disk_signs
        _check_built_in(signs, kernel, _symbols_if_any(options, kernel, qemu, progress, dry_run=dry_run))
    guest = _guest(options, architecture, kernel, progress)
    image, loaded = guest.image, guest.loaded
    for what in contradictions(kernel_command_line(architecture, guest.words), options.append):
        progress.note(what)
    recipe = Recipe(
        architecture=architecture.name,
        machine=options.machine or architecture.machine,
        cpu=options.cpu or (architecture.live_cpu if options.live else architecture.cpu),
        memory=guest_memory(options, architecture),
        command_line=kernel_command_line(architecture, f"{guest.words} {options.append}".strip()),
        modules=guest.modules,
        image_size=image.size if image is not None else None,
        loaded_address=loaded.address if loaded is not None else None,
        # With the paths that QEMU gets: a relative one is another file from another directory.
        chosen=replace(options.choices, qemu_options=words),
        files=Files(
            kernel=kernel.path.absolute(),
            initrd=guest.initrd,
            image=image.path if image is not None else None,
            loaded=loaded.path if loaded is not None else None,
            storage=storage,
            loader=loader.path if loader is not None else None,
            qemu=qemu.path,
        ),
    )
    if (tree := _device_tree(options, architecture, qemu, recipe, progress)) is not None:
        recipe = recipe.model_copy(update={"files": recipe.files.model_copy(update={"device_tree": tree})})
    check_memory(recipe)
    symbols = _symbols(options, kernel, qemu, progress, dry_run=dry_run) if plugin is not None else None
    if options.devices and symbols is not None:
        check_functions(symbols, str(kernel.path))
    digests = {
        "kernel": kernel.digest,
        "initrd": file_digest(guest.initrd) if guest.initrd is not None else None,
        "image": guest.image_digest,
        "qemu": qemu.digest(),
        "firmware": qemu.firmware_digest(
            architecture.firmware_of(recipe.machine, elf=kernel.is_elf), own_firmware(options.qemu_options)
        ),
        "plugin": file_digest(plugin) if plugin is not None else None,
        "guest": file_digest(asset_path(architecture.helper_asset))
        if options.guest_helper or (options.initrd is None and options.root_as is None)
        else None,
        "symbols": file_digest(symbols) if symbols is not None else None,
        **({"device tree": file_digest(recipe.files.device_tree)} if recipe.files.device_tree is not None else {}),
        **(
            {"storage": file_digest(storage), "storage plugin": file_digest(asset_path("firstlight-storage.so"))}
            if storage is not None
            else {}
        ),
        **({"loader": loader.digest} if loader is not None else {}),
        **({"loader symbols": file_digest(options.loader_symbols)} if options.loader_symbols is not None else {}),
        **({"debug files": directory_digest(options.symbols)} if options.symbols is not None else {}),
        **named,
    }
    return Inputs(recipe, qemu, kernel, plugin, symbols, digests)


def _device_tree(
    options: RecordOptions, architecture: Architecture, qemu: Qemu, recipe: Recipe, progress: Progress
) -> Path | None:
    """The file of the device tree that the kernel gets; none where that is QEMU's own."""
    given, region = None, image_region(recipe)
    if options.dtb is not None:
        own = own_tree(qemu, recipe.machine, recipe.cpu, recipe.memory)
        machine = Machine(architecture, recipe.machine, recipe.cpu, recipe.memory, own)
        reports = options.guest_helper and architecture.report_card is not None
        given, notes = read_given(options.dtb, machine, reports=reports, loader=options.loader is not None)
        for note in notes:
            progress.note(note)
    if region is not None:
        return tree_with_region(qemu, recipe.machine, recipe.cpu, recipe.memory, region, given, options.cpus)
    return None if given is None else packed_tree(given)


def _symbols(options: RecordOptions, kernel: Kernel, qemu: Qemu, progress: Progress, *, dry_run: bool) -> Path | None:
    """The kernel's symbols; where nothing may be booted only those that are known already."""
    if dry_run:
        return known_symbols(kernel)
    return kernel_symbols(kernel, qemu, progress, options.timeout_wall_s)


def _symbols_if_any(
    options: RecordOptions, kernel: Kernel, qemu: Qemu, progress: Progress, *, dry_run: bool
) -> Path | None:
    """The same; nothing for a kernel that keeps them: it is unknown what it has built in."""
    try:
        return _symbols(options, kernel, qemu, progress, dry_run=dry_run)
    except LabError:
        return None


def _check_built_in(signs: Mapping[str, str], kernel: Kernel, symbols: Path | None) -> None:
    """A root file system needs what is a module in most kernels; where none were found, the symbols show."""
    if symbols is not None:
        require_built_in(kernel, symbols, signs)


def _check_signs(signs: tuple[str, ...], options: RecordOptions, kernel: Kernel, symbols: Path | None) -> None:
    """What a kernel needs to mount its root by itself cannot be a module; its own symbols show what is none."""
    if symbols is None:
        return
    with symbols.open(encoding="utf-8", errors="replace") as lines:
        names = {fields[2].partition(".")[0] for fields in map(str.split, lines) if len(fields) == 3}
    missing = [f"`{sign}`" for sign in signs if sign not in names]
    if missing:
        raise LabError(
            f"this kernel cannot mount {options.root_as} by itself: these are not built in: {', '.join(missing)}",
            where=str(kernel.path),
            hint="use one with them: `firstlight image build kernel`, and `--kernel $(firstlight image path kernel)`",
        )


def _guest(options: RecordOptions, architecture: Architecture, kernel: Kernel, progress: Progress) -> _Guest:
    for files in (options.overlay, options.initramfs_files):
        if files is not None:
            check_overlay(files)
    if options.root_as is not None:
        progress.step("making the image that the kernel mounts")
        return _mounted_by_kernel(options, architecture, kernel)
    if options.initrd is not None:
        check_initrd(options.initrd)
    if options.initrd is not None and options.rootfs is None:
        return _Guest(options.initrd.absolute())
    if options.rootfs is None:
        progress.step("building the initramfs")
        config = GuestConfig.of(architecture)
        made = build_initramfs(config, (), options.overlay, options.guest_commands, options.initramfs_order)
        return _Guest(made.path)
    progress.step("making the root file system's image")
    source: Path | Literal["debian"] = "debian" if options.rootfs == "debian" else Path(options.rootfs)
    report = f"/dev/{architecture.report_device}"
    reports = report if options.initrd is not None and options.ready is None else None
    root = root_image(source, options.overlay, options.guest_commands, kernel.modules, reports, architecture)
    if options.guest_commands and not root.has_systemd:
        raise UsageError(
            "this root file system has no systemd, which would run the command",
            where=options.rootfs,
            hint="change its own start-up scripts with `--overlay`",
        )
    if options.ready is None and not root.has_systemd:
        raise UsageError(
            "this root file system has no systemd, so nothing in it reports when it is up",
            where=options.rootfs,
            hint="give the console line that means that it is up: `--ready REGEX`",
        )
    on_disk = options.storage is not None
    modules = modules_for(kernel, architecture.disk_modules if on_disk else architecture.pmem_modules)
    image = persistent_memory(root.path.absolute(), root.size_bytes)
    memory = _ONE_AT_A_TIME if on_disk else _memory_words(options, architecture)
    if options.initrd is not None:
        return _Guest(
            with_drivers(options.initrd, modules).path,
            image=image,
            words=f"{memory} {root_words(options.append, architecture.pmem_device)}".strip(),
            image_digest=root.digest,
            modules=tuple(module.name for module in modules),
        )
    files = options.initramfs_files
    config = GuestConfig.of(
        architecture,
        root=architecture.disk_device if on_disk else architecture.pmem_device,
        init=root.init,
        before_root=files is not None and (files / BEFORE_ROOT).is_file(),
        unit=options.ready is None,
    )
    initramfs = build_initramfs(config, modules, files, order=options.initramfs_order)
    return _Guest(
        initramfs.path,
        # QEMU runs elsewhere, and would make a file of zeros where it finds none.
        image=image,
        words=memory,
        image_digest=root.digest,
        modules=tuple(module.name for module in modules),
    )


#: The disk of a model serves one request after the other: more would wait in it instead of in the kernel.
_ONE_AT_A_TIME = "virtio_blk.queue_depth=1"


def _memory_words(options: RecordOptions, architecture: Architecture) -> str:
    """What keeps the kernel from the memory that holds the image, where it is a part of the machine's."""
    return "" if architecture.memory_start is None else f"mem={guest_memory(options, architecture) >> 20}M"


def _mounted_by_kernel(options: RecordOptions, architecture: Architecture, kernel: Kernel) -> _Guest:
    root = kernel_root(options, architecture)
    memory = guest_memory(options, architecture)
    return _Guest(
        root.path if root.form.device in ("ram", "initramfs") else None,
        image=persistent_memory(root.path, root.size) if root.form.device in ("pmem", "ubi") else None,
        image_digest=root.digest,
        loaded=root.loaded(memory, kernel),
        words=root.words(memory, kernel, helper=options.guest_helper),
    )


def kernel_root(options: RecordOptions, architecture: Architecture = DEFAULT) -> KernelRoot:
    """The image of `options.root_as`, made or found in the cache.

    :param architecture: of the guest.
    :raises UsageError: for a kind that there is not, or a root file system in which nothing would say when it is up.
    :raises LabError: when it cannot be made.
    """
    assert options.root_as is not None
    form = find_format(options.root_as)
    if options.rootfs is None:
        return minimal_root(form, GuestConfig.of(architecture), options.overlay, options.guest_commands)
    path = Path(options.rootfs)
    if not path.is_dir():
        return image_root(form, path, helper=options.ready is None)
    if options.ready is None:
        raise UsageError(
            "nothing in this directory says when it is up",
            where=options.rootfs,
            hint="give the console line that means that it is up: `--ready REGEX`",
        )
    return tree_root(form, path)

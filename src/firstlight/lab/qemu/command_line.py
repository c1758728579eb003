"""From a recipe to QEMU's command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstlight.assets import asset_path
from firstlight.errors import LabError, UsageError
from firstlight.lab.kernel import elf_image, flat_image
from firstlight.lab.kernel.boot_parts import parts_before_kernel
from firstlight.lab.kernel.command_line.contradictions import wants_kaslr
from firstlight.lab.kernel.image_header import memory_needed
from firstlight.lab.kernel.vmlinux import is_vmlinux, read_vmlinux
from firstlight.lab.qemu.arguments import properties, read_options
from firstlight.lab.qemu.device_tree import Region
from firstlight.lab.qemu.loaders import open_loader
from firstlight.lab.storage.model import read_model
from firstlight.quantities import parse_size, size_text
from firstlight.recipe.isa import Architecture, architecture_of
from firstlight.recipe.recipe import RTC, PersistentMemory, Recipe

_MIB = 1 << 20


@dataclass(frozen=True)
class RunFiles:
    """Where one run leaves its evidence: a private directory."""

    directory: Path

    @property
    def console(self) -> Path:
        """What the guest printed, byte for byte."""
        return self.directory / "console.log"

    @property
    def report(self) -> Path:
        """What the guest's helper wrote to the second serial port."""
        return self.directory / "report.bin"

    @property
    def status(self) -> Path:
        """The plugin's status line."""
        return self.directory / "status.json"

    @property
    def profile(self) -> Path:
        """The plugin's profile."""
        return self.directory / "profile.flp"

    @property
    def answers(self) -> Path:
        """What the plugin recorded of the calls of functions that were asked about, a line of JSON each."""
        return self.directory / "answers.jsonl"

    @property
    def plugin_config(self) -> Path:
        """The plugin's configuration."""
        return self.directory / "plugin.json"

    @property
    def storage_config(self) -> Path:
        """The configuration of the plugin that is the disk."""
        return self.directory / "storage.json"

    @property
    def storage_log(self) -> Path:
        """What the guest asked of the disk, a line each."""
        return self.directory / "storage.tsv"

    @property
    def log(self) -> Path:
        """QEMU's own messages."""
        return self.directory / "qemu.log"


def kernel_command_line(architecture: Architecture, append: str) -> str:
    """The kernel's command line: the console, fixed addresses of the kernel (the symbols are those of a probe boot) and
    of programs (so that a change of one thing does not move all others), then the person's words.

    >>> from firstlight.recipe.isa import DEFAULT
    >>> kernel_command_line(DEFAULT, "quiet  ")
    'console=ttyS0 nokaslr norandmaps quiet'

    Who asks for a random address of the kernel (`kaslr`) gets one; such a boot has no profile.

    >>> kernel_command_line(DEFAULT, "kaslr")
    'console=ttyS0 norandmaps kaslr'

    :raises UsageError: when it is longer than the kernel takes.
    """
    fixed = "" if wants_kaslr(append) else "nokaslr "
    line = f"console={architecture.console_device} {fixed}norandmaps {append}".strip()
    longest = architecture.longest_command_line
    if len(line.encode()) > longest:
        raise UsageError(
            f"the kernel's command line has {len(line.encode()):,} bytes, but the kernel accepts {longest:,}",
            where="--append",
            hint="leave arguments out",
        )
    return line


def quote_value(value: str) -> str:
    """Quote a value within an option of QEMU, where a comma separates: it is doubled.

    >>> quote_value("/images/a,b.img")
    '/images/a,,b.img'
    """
    return value.replace(",", ",,")


def qemu_arguments(recipe: Recipe, files: RunFiles, plugin: Path | None = None) -> list[str]:
    """QEMU's arguments for one run of a recipe, without the program.

    :param plugin: the plugin's shared object; loaded when given, with the configuration in *files*.

    Source of the exact options: the design's part "Exact mode: what is known to work", measured on QEMU 7.2 and 10.0.
    """
    words = ["-machine", recipe.machine, "-cpu", recipe.cpu, "-smp", str(recipe.chosen.cpus)]
    chosen = recipe.chosen
    further = further_memory(chosen.qemu_options)
    region = image_region(recipe)
    on_disk = recipe.files.storage is not None
    memory = f"{(recipe.memory + (0 if region is None else region.memory)) // _MIB}M"
    if region is None and ((recipe.image is not None and not on_disk) or further):
        words[1] += f",{architecture_of(recipe.architecture).nvdimm_property}"
        own = [] if recipe.image is None or on_disk else [recipe.image.size]
        limit = recipe.memory + sum(own) + sum(further) + 1024 * _MIB
        memory += f",slots={len(own) + len(further)},maxmem={-(-limit // _MIB)}M"
    words += ["-m", memory]
    if chosen.live:
        words += ["-accel", recipe.accelerator]
    else:
        words += ["-accel", "tcg,thread=single"]
        words += ["-icount", f"shift={chosen.shift},sleep=off,align=off"]
        words += ["-rtc", f"base={RTC},clock=vm"]
    words += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-seed", str(chosen.seed)]
    words += ["-monitor", "none"]
    for name, path in (("console", files.console), ("report", files.report)):
        words += ["-chardev", f"file,id={name},path={quote_value(str(path))}", *_port(recipe, name)]
    if recipe.image is not None and on_disk:
        words += disk_arguments(recipe.image.path, files)
    elif recipe.image is not None and region is not None:
        # Copied into the machine's memory: what the guest writes stays in this run.
        where = f"addr={hex(region.address)},force-raw=on"
        words += ["-device", f"loader,file={quote_value(str(recipe.image.path))},{where}"]
    elif recipe.image is not None:
        # Not shared: what the guest writes stays in this run, and the image is the same for the next.
        backend = f"memory-backend-file,id=root,share=off,size={recipe.image.size}"
        words += ["-object", f"{backend},mem-path={quote_value(str(recipe.image.path))}"]
        words += ["-device", "nvdimm,id=nvdimm0,memdev=root"]
    if recipe.files.device_tree is not None:
        words += ["-dtb", str(recipe.files.device_tree)]
    if recipe.loaded is not None:
        where = f"addr={hex(recipe.loaded.address)},force-raw=on"
        words += ["-device", f"loader,file={quote_value(str(recipe.loaded.path))},{where}"]
    if recipe.files.loader is not None:
        words += ["-bios", str(recipe.files.loader)]
    words += ["-kernel", str(recipe.files.kernel)]
    if recipe.files.initrd is not None:
        words += ["-initrd", quote_value(str(recipe.files.initrd))]
    words += ["-append", recipe.command_line]
    if plugin is not None:
        words += ["-plugin", f"{quote_value(str(plugin))},config={quote_value(str(files.plugin_config))}"]
    return [*words, *chosen.qemu_options]


#: Of the disk in QEMU's object tree.
_DISK = "/machine/peripheral/storage/virtio-backend"


def disk_arguments(image: Path, files: RunFiles) -> list[str]:
    """QEMU's arguments for a disk with a model: a virtio disk, and the plugin that decides when its requests are done.

    :param image: what is on the disk; what the guest writes goes into a temporary file.
    :raises LabError: when the plugin is not built.
    """
    # Answered where the guest asks, not in another thread; one queue; no requests that the model has no cost for.
    device = "virtio-blk-pci,id=storage,drive=disk,ioeventfd=off,num-queues=1,discard=off,write-zeroes=off"
    plugin = f"{quote_value(str(asset_path('firstlight-storage.so')))},config={quote_value(str(files.storage_config))}"
    return [
        "-drive", f"file={quote_value(str(image))},format=raw,if=none,id=disk,snapshot=on",
        "-device", device,
        "-plugin", plugin,
    ]  # fmt: skip


def write_storage_config(recipe: Recipe, files: RunFiles) -> None:
    """Write the configuration of the disk's plugin into the run's directory; nothing for a recipe without one.

    :raises UsageError: when the model cannot be read.
    """
    if recipe.files.storage is None:
        return
    config = {"model": read_model(recipe.files.storage).in_plugin(), "log": str(files.storage_log), "device": _DISK}
    files.storage_config.write_text(json.dumps(config, indent=1), encoding="utf-8")


def image_region(recipe: Recipe) -> Region | None:
    """The memory behind the guest's own that holds its root file system.

    None on a machine with devices for persistent memory, or without such a root.
    """
    start = architecture_of(recipe.architecture).memory_start
    if recipe.image is None or start is None or recipe.files.storage is not None:
        return None
    return Region(start + recipe.memory, recipe.image.size)


def loader_symbols(recipe: Recipe) -> Path | None:
    """The program file that names the boot loader's functions, by its absolute path: QEMU runs elsewhere."""
    given = recipe.chosen.loader_symbols
    return given.absolute() if given is not None and recipe.profile else None


def _port(recipe: Recipe, name: str) -> list[str]:
    """How a serial port is connected: a machine with one of its own takes the second as a card."""
    architecture = architecture_of(recipe.architecture)
    if name == "report" and architecture.report_card is not None:
        return ["-device", f"{architecture.report_card},chardev=report"]
    if name == "report" and architecture.is_small(recipe.machine):
        return ["-device", "isa-serial,index=1,chardev=report"]
    return ["-serial", f"chardev:{name}"]


def further_memory(words: Sequence[str]) -> list[int]:
    """The sizes in bytes of the persistent memories that further options add to the machine: each takes a slot.

    >>> further_memory(["-object memory-backend-file,id=a,size=4M,mem-path=a", "-device nvdimm,memdev=a"])
    [4194304]
    """
    options = [(option, dict(properties(option, value))) for option, value in read_options(words)]
    sizes = {given.get("id"): given.get("size", "0") for option, given in options if option == "object"}
    # QEMU takes a number without a suffix for bytes here.
    texts = [sizes.get(given.get("memdev"), "0") for _, given in options if given.get("driver") == "nvdimm"]
    return [int(text) if text.isdigit() else parse_size(text, option="--qemu-option") for text in texts]


def write_plugin_config(recipe: Recipe, files: RunFiles, symbols: Path, asks: Mapping[str, Any] | None = None) -> None:
    """Write the plugin's configuration (docs/reference/formats/plugin.md) into the run's directory."""
    chosen = recipe.chosen
    limit = chosen.timeout_virtual_s
    known = _function_names(symbols)
    marks = [(each.mark, each.found_in(known)) for each in architecture_of(recipe.architecture).marks]
    config = {
        "symbols": str(symbols),
        "output": str(files.profile),
        "status": str(files.status),
        "console": str(files.console),
        "icount_shift": chosen.shift,
        "ready": {
            "nop": chosen.ready is None and chosen.guest_helper,
            "console": chosen.ready,
            "function": None,
        },
        "virtual_limit_ns": None if limit is None else round(limit * 1e9),
        "marks": [{"mark": mark, "function": function} for mark, function in marks if function is not None],
        "clock": "auto",
        "cpus": chosen.cpus,
        "user_functions": chosen.user_functions,
    }
    if recipe.files.loader is not None:
        architecture = architecture_of(recipe.architecture)
        loader = open_loader(architecture, recipe.files.loader, "--loader")
        config["console_registers"] = architecture.console_registers
        symbols_of_loader = loader_symbols(recipe)
        config["loader_symbols"] = None if symbols_of_loader is None else str(symbols_of_loader)
        config["parts"] = parts_before_kernel(recipe.files.kernel, loader.runs_first)
    if asks is not None:
        config["asks"] = {**asks, "output": str(files.answers)}
    files.plugin_config.write_text(json.dumps(config, indent=1), encoding="utf-8")


def _function_names(symbols: Path) -> frozenset[str]:
    with symbols.open(encoding="utf-8", errors="replace") as lines:
        fields = (line.split() for line in lines)
        return frozenset(each[2] for each in fields if len(each) == 3 and each[1] in "tTwW")


def check_memory(recipe: Recipe) -> None:
    """Make sure that kernel, initramfs and image fit in the guest's memory, before anything is started.

    The kernel says in its header how much it needs to start; the initramfs lies in memory twice while it is
    unpacked; persistent memory needs 64 bytes of ordinary memory for each of its pages of 4 KiB. What they need
    at least is a bound from below: a guest may still run out of memory later.

    :raises LabError: naming what does not fit, and how much it needs.
    """
    used = recipe.files
    kernel = kernel_memory(used.kernel)
    initrd = 2 * used.initrd.stat().st_size if used.initrd is not None else 0
    mapped = recipe.image.size if recipe.image is not None and used.storage is None else 0
    pages = (sum(further_memory(recipe.chosen.qemu_options)) + mapped) // 64
    loaded = recipe.loaded.path.stat().st_size if recipe.loaded is not None else 0
    below = architecture_of(recipe.architecture).loaded_below
    if below is not None and used.initrd is not None and kernel + initrd // 2 > below:
        message = f"kernel and initramfs are too large: this machine loads both into its first {size_text(below)}"
        raise LabError(message, where=str(used.initrd), hint="give a smaller initramfs")
    needed = kernel + initrd + pages + loaded + 32 * _MIB
    if recipe.memory >= needed:
        return
    parts = [(kernel, used.kernel), (initrd, used.initrd)]
    parts += [(pages, recipe.image.path)] if recipe.image is not None else []
    parts += [(loaded, recipe.loaded.path)] if recipe.loaded is not None else []
    where = max(parts, key=lambda part: part[0])[1]
    raise LabError(
        f"{size_text(recipe.memory)} of memory are not enough: kernel, initramfs and image need at least "
        f"{size_text(needed)}",
        where=str(where),
        hint=f"give more, such as `--memory {-(-needed // (128 * _MIB)) * 128}M`",
    )


def kernel_memory(kernel: Path) -> int:
    """How much memory in bytes a kernel needs to start, from its header or an ELF file's program headers; 0
    when it does not say.
    """
    with kernel.open("rb") as file:
        header = file.read(1 << 12)
    if is_vmlinux(header):
        return read_vmlinux(kernel).end
    readers = (memory_needed, *(image.memory for image in (flat_image.FORMATS | elf_image.FORMATS).values()))
    return next(filter(None, (read(header) for read in readers)), 0)


def persistent_memory(path: Path, size: int) -> PersistentMemory:
    """Check that an image can be attached, privately, as persistent memory.

    :raises LabError: when QEMU could not open it. It maps the file privately, but opens it for writing.
    """
    try:
        with path.open("r+b"):
            pass
    except OSError as error:
        raise LabError(
            f"the image cannot be opened: {error.strerror}",
            where=str(path),
            hint="QEMU opens it for writing but never writes: make it writable for you, or copy it",
        ) from error
    return PersistentMemory(path, size)

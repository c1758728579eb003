"""The confinement of QEMU, because kernels and images may be hostile and QEMU has bugs.

There are two mechanisms; each is used if the machine has it. QEMU's own system call filter (`-sandbox`) keeps it from
starting programs and from gaining the rights of other users. Landlock restricts it to the files of its run: it reads
what the recipe names, and writes only into its folder of raw evidence.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from firstlight.assets import asset_path
from firstlight.lab.host.landlock import Access, version
from firstlight.lab.host.process import Confined
from firstlight.lab.qemu.arguments import properties, read_options
from firstlight.lab.qemu.command_line import RunFiles, loader_symbols, qemu_arguments
from firstlight.lab.qemu.emulator import Qemu
from firstlight.lab.qemu.untrusted import is_harmless
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.recipe import Recipe

SWITCH = "FIRSTLIGHT_CONFINE"
"""The environment's variable that switches Landlock off (`no`), for a QEMU that lies where it may not reach."""

_FILTER = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_FILTER_WITH_HELPERS = "on,obsolete=deny,resourcecontrol=deny"
"""A network of the host may be set up by a program that QEMU starts; only live recordings have one."""
_NETWORKS = frozenset({"netdev", "net", "nic"})
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/qemu")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


@dataclass(frozen=True)
class Launch:
    """QEMU's command, and the files that it may use."""

    command: list[str]
    confined: Confined | None = None
    """The files that it may use; nothing: all that the user may."""

    def described(self) -> dict[str, str]:
        """What confines this QEMU, for the manifest."""
        calls = "-sandbox" if "-sandbox" in self.command else "none"
        return {"system_calls": calls, "files": f"Landlock {version()}" if self.confined else "none"}


def launch(
    qemu: Qemu, recipe: Recipe, files: RunFiles, plugin: Path | None = None, symbols: Path | None = None
) -> Launch:
    """QEMU's command for one run of a recipe, confined as far as this machine can.

    :param plugin: the plugin's shared object, loaded when given.
    :param symbols: what the plugin reads.
    """
    words = filter_words(qemu, recipe)
    command = [str(qemu.path), *words, *qemu_arguments(recipe, files, plugin)]
    if not files_are_confined():
        return Launch(command)
    more = [path for path in (plugin, symbols) if path is not None]
    return Launch(command, Confined(_allowed(qemu, recipe, files, more), offline=not recipe.chosen.live))


def filter_words(qemu: Qemu, recipe: Recipe) -> list[str]:
    """The words that let QEMU filter its own system calls; none where it was built without."""
    if not qemu.has_sandbox:
        return []
    with_helpers = recipe.chosen.live and any(
        option in _NETWORKS and value != "none" for option, value in read_options(recipe.chosen.qemu_options)
    )
    return ["-sandbox", _FILTER_WITH_HELPERS if with_helpers else _FILTER]


def files_are_confined() -> bool:
    """Whether QEMU is kept from the files of this machine."""
    return version() > 0 and os.environ.get(SWITCH, "") not in ("no", "0", "off")


def _allowed(qemu: Qemu, recipe: Recipe, files: RunFiles, more: list[Path]) -> dict[Path, Access]:
    allowed = {Path(path): Access.RUN for path in _PROGRAMS}
    allowed |= {Path(path): Access.READ for path in _SETTINGS}
    allowed |= {Path(path): Access.DEVICE for path in _DEVICES}
    if recipe.chosen.live:
        allowed[Path("/dev/kvm")] = Access.DEVICE
        # What the processor and KVM can do.
        allowed |= {Path(path): Access.READ for path in ("/sys/module", "/sys/devices/system/cpu", "/proc/cpuinfo")}
    allowed |= dict.fromkeys(qemu.data_directories, Access.READ)
    allowed |= _own_tree(qemu.path)
    firmware = architecture_of(recipe.architecture).firmware_of(recipe.machine, elf=True)
    allowed |= dict.fromkeys(qemu.firmware(firmware), Access.READ)
    used = recipe.files
    given = (used.kernel, used.initrd, used.loaded, used.device_tree, used.loader, loader_symbols(recipe), *more)
    allowed |= {path: Access.READ_FILE for path in given if path is not None}
    if used.image is not None and used.storage is not None:
        allowed[used.image] = Access.READ_FILE
        allowed[asset_path("firstlight-storage.so")] = Access.READ_FILE
    elif used.image is not None:
        # QEMU opens it for writing, maps it privately and never writes; its length it cannot change.
        allowed[used.image] = Access.USE
    allowed |= _named(recipe)
    # Last: a file in it may be named above.
    return allowed | {files.directory.absolute(): Access.OWN}


def _own_tree(program: Path) -> dict[Path, Access]:
    """A QEMU of one's own, with what lies beside it: libraries, firmware, the program that a script starts."""
    real = program.resolve()
    home = Path.home()
    allowed = {program: Access.RUN, real: Access.RUN}
    if real.parent not in (home, *home.parents):
        allowed[real.parent] = Access.RUN
    return allowed


def _named(recipe: Recipe) -> dict[Path, Access]:
    """What the user's own options name: files and where they would be made."""
    found: dict[Path, Access] = {}
    for option, value in read_options(recipe.chosen.qemu_options):
        if is_harmless(option, value):
            continue
        texts = [text for _, text in properties(option, value)] + [value, value.partition(":")[2]]
        for text in texts:
            path = Path(text)
            if not path.is_absolute() or "\0" in text:
                continue
            if path.is_dir():
                found[path] = Access.READ
            elif path.exists():
                found[path] = Access.DEVICE | Access.TRUNCATE
            elif path.parent.is_dir() and path.parent != Path("/"):
                found[path.parent] = Access.OWN
    return found

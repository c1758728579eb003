"""A distribution's own initramfs, and the modules it needs to mount a root in persistent memory.

Kernels unpack several archives, one after another (`Documentation/driver-api/early-userspace/buffer-format.rst`). So
the user's initramfs stays unchanged, and a second archive after it has the drivers of persistent memory, with a
configuration that loads them before the search for the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.assets import asset_path
from firstlight.cache import digest_of, entry, file_digest
from firstlight.lab.kernel.command_line.account import split_words
from firstlight.lab.kernel.modules import Module
from firstlight.lab.rootfs.initramfs import Initramfs
from firstlight.lab.rootfs.newc import Archive
from firstlight.lab.rootfs.overlay import apply_overlay, settle
from firstlight.recipe.isa import DEFAULT, Architecture

_NAME = "initramfs.cpio"
_FOLDER = "firstlight/modules"
#: initramfs-tools reads these as shell scripts before it mounts anything (`conf.d` in initramfs.conf(5)).
_CONF = "conf/conf.d/firstlight"
_HELPER = "usr/lib/firstlight/guest"
_UNIT = "firstlight-ready.service"


def with_drivers(initrd: Path, modules: Sequence[Module]) -> Initramfs:
    """An initramfs with the drivers of persistent memory behind it, from the cache; itself, when none is needed.

    :param initrd: the person's, which was checked.
    :param modules: what the kernel has not built in, in the order in which it is loaded.
    :raises LabError: when the cache cannot be written.
    """
    digest = file_digest(initrd)
    if not modules:
        return Initramfs(initrd.absolute(), digest)
    archive = Archive()
    paths = [f"{_FOLDER}/{index:02}-{module.name}.ko" for index, module in enumerate(modules)]
    for path, module in zip(paths, modules, strict=True):
        archive.file(path, module.content)
    # One that the initramfs has loaded already says so, and does no harm.
    lines = [f"insmod /{path} 2>/dev/null || modprobe {module.name} 2>/dev/null || true" for path, module in zip(
        paths, modules, strict=True)]  # fmt: skip
    archive.file(_CONF, ("\n".join(lines) + "\n").encode(), 0o644)
    content = archive.bytes(None)

    def make(folder: Path) -> None:
        own = initrd.read_bytes()
        # An archive begins at a multiple of four bytes.
        (folder / _NAME).write_bytes(own + bytes(-len(own) % 4) + content)

    folder = entry("initramfs", digest_of("behind", digest, content), make)
    return Initramfs(folder / _NAME, file_digest(folder / _NAME))


def root_words(append: str, device: str) -> str:
    """What the kernel's command line says of the root, unless the person says it.

    The root is writable, as Firstlight's own initramfs mounts it: a userspace without `/etc/fstab` would leave it
    read-only, and its services fail.

    >>> root_words("quiet", "/dev/pmem0"), root_words("root=LABEL=system ro", "/dev/pmem0")
    ('root=/dev/pmem0 rootfstype=ext4 rw', '')
    """
    if any(word.startswith("root=") for word in split_words(append)[0]):
        return ""
    return f"root={device} rootfstype=ext4 rw"


def add_helper(tree: Path, scratch: Path, report: str, architecture: Architecture = DEFAULT) -> None:
    """Put Firstlight's helper into a userspace with systemd, and a unit that gives the ready mark and reports.

    Firstlight's own initramfs brings both in memory; a distribution's does not know them.

    :param tree: the userspace, which is changed.
    :param scratch: a directory for what is laid over it.
    :param report: the port that the report goes to.
    :param architecture: of the guest.
    :raises LabError: when something is in the way.
    """
    program = scratch / _HELPER
    program.parent.mkdir(parents=True)
    program.write_bytes(asset_path(architecture.helper_asset).read_bytes())
    program.chmod(0o755)
    unit = scratch / "etc/systemd/system" / _UNIT
    unit.parent.mkdir(parents=True)
    # Without default dependencies a target does not wait for what it wants; so this one can wait for the target.
    unit.write_text(
        "[Unit]\nDescription=Firstlight ready mark\nDefaultDependencies=no\nAfter=default.target\n\n"
        f"[Service]\nType=oneshot\nRuntimeDirectory=firstlight\nExecStart=/{_HELPER} ready {report}\n",
        encoding="utf-8",
    )
    link = scratch / "etc/systemd/system/default.target.wants" / _UNIT
    link.parent.mkdir(parents=True)
    link.symlink_to(f"/etc/systemd/system/{_UNIT}")
    settle(scratch)
    apply_overlay(scratch, tree)

"""What the user may choose about one boot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from firstlight.recipe.field_types import FilePath, Seconds, Text, Whole, Words

STRICT = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Choices:
    """The choices behind one boot, as given; nothing in here is looked up or checked against this machine yet.

    Times are seconds; `memory` is a size as the user writes it (`512M`, `2G`; a bare number is MiB). `None` means
    that Firstlight chooses. A field of this class is an option of `firstlight record`, part of the manifest, of the
    command that repeats a boot, and of the key of a boot, unless :data:`firstlight.recipe.key.OBSERVERS` names it.

    >>> choices = Choices(append="quiet", memory="1G")
    >>> choices.shift, choices.profile, choices.live
    (0, True, False)
    """

    kernel: FilePath | None = None
    """A bzImage or vmlinuz; by default the distribution's cloud kernel."""
    initrd: FilePath | None = None
    """An initramfs of the person's own; by default Firstlight's small one. With `rootfs` it mounts that by itself."""
    rootfs: Text | None = None
    """A directory, an image or a tar archive with a whole userspace, or `debian`."""
    root_as: Text | None = None
    """A kind of image that the kernel mounts as its root by itself, without an initramfs: made of the
    small guest, or of the directory or image that `rootfs` names."""
    storage: Text | None = None
    """A model of a disk, by name or as a file: `rootfs` is on such a disk instead of in persistent memory."""
    overlay: FilePath | None = None
    """A directory whose files are laid over the guest's; `.wh.NAME` in it removes NAME."""
    initramfs_files: FilePath | None = None
    """A directory whose files Firstlight's own initramfs has besides; a shell runs its `before-root` before the root
    file system is mounted."""
    guest_commands: Words = ()
    """Run by a shell in the guest, one after another, before it is ready."""
    append: Text = ""
    """Words added at the end of the kernel's command line."""

    arch: Text | None = None
    """The guest's processor architecture, such as `arm64`; by default that of the kernel."""
    loader: Text | None = None
    """Start the kernel by this firmware or boot loader instead of QEMU's own: `ovmf`, `u-boot`, or a file."""
    loader_symbols: FilePath | None = None
    """The program file with symbols (ELF) of which `loader` was made; it names the loader's functions."""
    dtb: FilePath | None = None
    """A flattened device tree that the kernel gets instead of QEMU's own; it has to fit QEMU's machine."""
    memory: Text | None = None
    """Memory of the guest, by default 512M (1G with a root file system)."""
    cpu: Text | None = None
    """A named CPU model of QEMU."""
    cpus: Whole = 1
    """Processors of the guest; in exact mode they take turns on one virtual time line."""
    machine: Text | None = None
    """A versioned machine type of QEMU."""
    shift: Whole = 0
    """N of `-icount shift=N`: one instruction takes 2^N ns of virtual time."""

    seed: Whole = 1
    """Of every random number that QEMU hands to the guest."""
    initramfs_order: Whole | None = None
    """Firstlight's own initramfs with its members in another order, drawn with this number; else sorted by name."""

    ready: Text | None = None
    """A regular expression on single console lines that ends the recording, instead of the guest's own mark."""
    profile: bool = True
    """Load the plugin."""
    devices: bool = False
    """Record the probes of devices, their deferrals with the reason, and their suppliers, from outside."""
    user_functions: bool = False
    """Follow user code, too: which thread executed how much of each function."""
    symbols: FilePath | None = None
    """A directory with debug files of the guest's programs and libraries, which name their functions."""
    live: bool = False
    """Without instruction counting, by KVM where it works: not exact."""

    timeout_wall_s: Seconds = 600.0
    """Give up after this much time of the host."""
    timeout_virtual_s: Seconds | None = 300.0
    """Give up after this much virtual time of the guest (exact mode)."""

    qemu: FilePath | None = None
    """The QEMU to use, by default the one in PATH."""
    qemu_options: Words = ()
    """Further words of QEMU's command line; those that break exactness are refused."""

    @property
    def guest_helper(self) -> bool:
        """Whether Firstlight's guest runs inside: it gives the mark, a report, and powers off."""
        if self.initrd is not None and self.rootfs is None:
            return False
        return self.rootfs is None or self.ready is None

    @property
    def ready_rule(self) -> str:
        """What ends the recording, in one line."""
        if self.ready is not None:
            return f"console:{self.ready}"
        return "instruction" if self.guest_helper else "none"


def read_choices(data: Mapping[str, object]) -> Choices:
    """Choices from JSON that was read already.

    :raises ValidationError: naming the field that does not fit; it is a `ValueError`.

    >>> read_choices({"kernel": "bzImage", "guest_commands": ["sync"]}).kernel
    PosixPath('bzImage')
    """
    # As JSON again: there a list is a tuple, and a text is a path.
    return _adapter().validate_json(json.dumps(data))


@cache
def _adapter() -> TypeAdapter[Choices]:
    return TypeAdapter(Choices)

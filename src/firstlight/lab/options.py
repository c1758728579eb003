"""What a person may choose about one recording."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RecordOptions:
    """The choices behind one `firstlight record`, as given; nothing in here is looked up or checked yet.

    Times are seconds; `memory` is a size as a person writes it (`512M`, `2G`; a bare number is MiB). `None` means
    that Firstlight chooses.

    >>> options = RecordOptions(output=Path("a.boot"), append="quiet", memory="1G")
    >>> options.shift, options.profile, options.live
    (0, True, False)
    """

    output: Path
    """Where the bundle goes, conventionally `NAME.boot`."""
    force: bool = False
    """Replace a bundle that is already there."""

    kernel: Path | None = None
    """A bzImage or vmlinuz; by default the distribution's cloud kernel."""
    initrd: Path | None = None
    """An initramfs of the person's own; by default Firstlight's small one."""
    rootfs: str | None = None
    """A directory, an image or a tar archive with a whole user land, or `debian`."""
    root_as: str | None = None
    """A kind of image that the kernel mounts as its root by itself, without an initramfs: made of the
    small guest, or of the directory or image that `rootfs` names."""
    overlay: Path | None = None
    """A directory whose files are laid over the guest's; `.wh.NAME` in it removes NAME."""
    initramfs_files: Path | None = None
    """A directory whose files Firstlight's own initramfs has besides; a shell runs its `before-root` before the root
    file system is mounted."""
    guest_commands: tuple[str, ...] = ()
    """Run by a shell in the guest, one after another, before it is ready."""
    append: str = ""
    """Words added at the end of the kernel's command line."""

    memory: str | None = None
    """Memory of the guest, by default 512M (1G with a root file system)."""
    cpu: str | None = None
    """A named CPU model of QEMU."""
    machine: str | None = None
    """A versioned machine type of QEMU."""
    shift: int = 0
    """N of `-icount shift=N`: one instruction takes 2^N ns of virtual time."""

    seed: int = 1
    """Of every random number that QEMU hands to the guest."""
    initramfs_order: int | None = None
    """Firstlight's own initramfs with its members in another order, drawn with this number; else sorted by name."""

    ready: str | None = None
    """A regular expression on single console lines that ends the recording, instead of the guest's own mark."""
    profile: bool = True
    """Load the plugin."""
    live: bool = False
    """Without instruction counting, by KVM where it works: not exact."""

    timeout_wall_s: float = 600.0
    """Give up after this much time of the host."""
    timeout_virtual_s: float | None = 300.0
    """Give up after this much virtual time of the guest (exact mode)."""

    qemu: Path | None = None
    """The QEMU to use, by default the one in PATH."""
    qemu_options: tuple[str, ...] = ()
    """Further words of QEMU's command line; those that break exactness are refused."""
    dry_run: bool = False
    """Print what would be run and stop."""

"""The kinds of images that a kernel can mount as its root by itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from firstlight.errors import LabError, UsageError
from firstlight.recipe.isa import Architecture
from firstlight.suggest import one_of

#: Bytes of flash that are erased at once, and that images for it come in multiples of.
ERASE_SIZE = 64 << 10

Device = Literal["pmem", "mtd", "ubi", "xip", "ram", "initramfs"]
"""How the guest sees an image: a block device in persistent memory, a memory technology device, volumes (UBI) of one
that is made of persistent memory, one that reports its physical address as well, a RAM disk that the kernel fills, or
an archive that it unpacks."""

SUMMARY = "summary"
"""The option of a JFFS2 each of whose blocks ends with a summary."""


@dataclass(frozen=True)
class RootFormat:
    """A kind of image."""

    name: str
    what: str
    """For people."""
    file_system: str
    """As `rootfstype=` has it; empty for an archive."""
    device: Device
    tools: tuple[tuple[str, str], ...] = ()
    """What makes it of a directory: programs, each with its Debian package."""
    signs: tuple[str, ...] = ()
    """Functions that a kernel with what it takes built in has."""
    magic: tuple[int, bytes] | None = None
    """Where an image says what it is, and what stands there."""
    options: tuple[str, ...] = ()
    """Of the program that makes it."""

    def boots_on(self, architecture: Architecture) -> bool:
        """Whether a kernel of an architecture can have it as its root by itself; an archive takes no driver."""
        return architecture.has_kernel_roots or (self.device == "initramfs" and architecture.has_root_images)

    def whole(self, size: int) -> int:
        """The bytes that its device has for an image of *size* bytes: whole pages, or whole blocks of flash."""
        step = ERASE_SIZE if self.device in ("mtd", "ubi", "xip") else 4096
        return -(-size // step) * step

    def check_image(self, image: Path) -> None:
        """Check that a file is an image of this kind, as far as its magic number shows.

        :raises LabError: when it is not, or cannot be read.
        """
        if self.magic is None:
            return
        offset, expected = self.magic
        try:
            with image.open("rb") as file:
                file.seek(offset)
                found = file.read(len(expected))
        except OSError as error:
            raise LabError(f"cannot read the image: {error.strerror}", where=str(image)) from error
        if found == expected:
            return
        others = [each for each in FORMATS if each.magic is not None and _has(image, each.magic)]
        what = f"it is {others[0].file_system}" if others else "nothing known is there"
        hint = f"give `--root-as {others[0].name}`" if others else "check that the image is complete"
        raise LabError(f"this is not an image of {self.file_system}: {what}", where=str(image), hint=hint)


def _has(image: Path, magic: tuple[int, bytes]) -> bool:
    with image.open("rb") as file:
        file.seek(magic[0])
        return file.read(len(magic[1])) == magic[1]


_FAKETIME = ("libfaketime.so.1", "libfaketime")
_PMEM = ("acpi_nfit_init", "nd_pmem_probe")
_CRAMFS = (0, b"\x45\x3d\xcd\x28")
_EXT = (1080, b"\x53\xef")
#: What `mke2fs -t ext4` has by the configuration that comes with it, and a small journal.
_EXT4 = ("-O", "has_journal,extent,64bit,flex_bg,metadata_csum,huge_file,dir_nlink,extra_isize", "-J", "size=4")
_SQUASHFS = (0, b"hsqs")
_EROFS = (1024, b"\xe2\xe1\xf5\xe0")


def _squashfs(compressor: str, sign: str) -> RootFormat:
    return RootFormat(
        f"squashfs-{compressor}",
        f"squashfs, compressed by {compressor}",
        "squashfs",
        "pmem",
        (("mksquashfs", "squashfs-tools"),),
        (*_PMEM, "squashfs_fill_super", sign),
        _SQUASHFS,
        ("-comp", compressor),
    )


FORMATS = (
    RootFormat("cramfs", "cramfs on a block device", "cramfs", "pmem", (("mkfs.cramfs", "util-linux-extra"),),
               (*_PMEM, "cramfs_blkdev_fill_super"), _CRAMFS),
    RootFormat("cramfs-mtd", "cramfs in memory that it reads directly", "cramfs", "mtd",
               (("mkfs.cramfs", "util-linux-extra"),), ("phram_setup", "cramfs_mtd_fill_super"), _CRAMFS),
    RootFormat("cramfs-xip", "cramfs with programs executed in place", "cramfs", "xip", (),
               ("physmap_flash_probe", "map_rom_probe", "cramfs_mtd_fill_super"), _CRAMFS),
    RootFormat("romfs", "romfs on a block device", "romfs", "pmem", (("genromfs", "genromfs"),),
               (*_PMEM, "romfs_fill_super"), (0, b"-rom1fs-")),
    RootFormat("romfs-mtd", "romfs on flash, which memory stands for", "romfs", "mtd", (("genromfs", "genromfs"),),
               ("phram_setup", "romfs_fill_super"), (0, b"-rom1fs-")),
    RootFormat("jffs2", "JFFS2 on flash, which memory stands for", "jffs2", "mtd", (("mkfs.jffs2", "mtd-utils"),),
               ("phram_setup", "jffs2_fill_super"), (0, b"\x85\x19")),
    RootFormat("jffs2-summary", "JFFS2 with a summary of each block", "jffs2", "mtd",
               (("mkfs.jffs2", "mtd-utils"), ("sumtool", "mtd-utils")),
               ("phram_setup", "jffs2_fill_super", "jffs2_sum_scan_sumnode"), (0, b"\x85\x19"), (SUMMARY,)),
    RootFormat("ubifs", "UBIFS on flash made of a block device", "ubifs", "ubi",
               (("mkfs.ubifs", "mtd-utils"), ("ubinize", "mtd-utils")),
               (*_PMEM, "block2mtd_setup", "ubi_attach", "ubifs_mount"),
               (0, b"UBI#")),
    _squashfs("gzip", "zlib_uncompress"),
    _squashfs("zstd", "zstd_uncompress"),
    _squashfs("lz4", "lz4_uncompress"),
    RootFormat("erofs", "erofs, not compressed", "erofs", "pmem", (("mkfs.erofs", "erofs-utils"),),
               (*_PMEM, "erofs_fc_fill_super"), _EROFS),
    RootFormat("erofs-lz4", "erofs, compressed by lz4", "erofs", "pmem", (("mkfs.erofs", "erofs-utils"),),
               (*_PMEM, "erofs_fc_fill_super", "z_erofs_lz4_decompress"), _EROFS, ("-zlz4hc",)),
    RootFormat("ext2", "ext2 on a block device", "ext2", "pmem", (("mke2fs", "e2fsprogs"),),
               (*_PMEM, "ext2_fill_super"), _EXT),
    RootFormat("ext2-few-inodes", "ext2 with few inodes", "ext2", "pmem", (("mke2fs", "e2fsprogs"),),
               (*_PMEM, "ext2_fill_super"), _EXT, ("-N", "512")),
    RootFormat("ext2-ram", "ext2 on a RAM disk, which the kernel fills", "ext2", "ram", (("mke2fs", "e2fsprogs"),),
               ("rd_load_image", "brd_init", "ext2_fill_super"), _EXT),
    RootFormat("ext3", "ext3, with a journal", "ext3", "pmem", (("mke2fs", "e2fsprogs"),),
               (*_PMEM, "ext4_fill_super"), _EXT, ("-O", "has_journal", "-J", "size=4")),
    RootFormat("ext4", "ext4, with a journal", "ext4", "pmem", (("mke2fs", "e2fsprogs"),),
               (*_PMEM, "ext4_fill_super"), _EXT, _EXT4),
    RootFormat("xfs", "XFS", "xfs", "pmem", (("mkfs.xfs", "xfsprogs"), _FAKETIME), (*_PMEM, "xfs_fs_fill_super"),
               (0, b"XFSB")),
    RootFormat("btrfs", "btrfs", "btrfs", "pmem", (("mkfs.btrfs", "btrfs-progs"), _FAKETIME),
               (*_PMEM, "btrfs_mount_root"), (0x10040, b"_BHRfS_M")),
    RootFormat("f2fs", "F2FS", "f2fs", "pmem",
               (("mkfs.f2fs", "f2fs-tools"), ("sload.f2fs", "f2fs-tools"), _FAKETIME), (*_PMEM, "f2fs_fill_super"),
               (1024, b"\x10\x20\xf5\xf2")),
    RootFormat("initramfs", "an archive that is unpacked into memory", "", "initramfs", magic=(0, b"070701")),
)  # fmt: skip


def find_format(name: str) -> RootFormat:
    """The kind of image of a name.

    :raises UsageError: when there is none; the hint says the nearest, and all.

    >>> find_format("squashfs-zstd").file_system
    'squashfs'
    """
    for each in FORMATS:
        if each.name == name:
            return each
    hint = one_of(name, [each.name for each in FORMATS])
    raise UsageError(f"no root file system is called `{name}`", where="--root-as", hint=hint)

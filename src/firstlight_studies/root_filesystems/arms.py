"""What is booted: the same content in every kind of root, each with and without what was tried then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from firstlight import FirstlightError, RecordOptions
from firstlight.study import (
    DEFAULT,
    FORMATS,
    Architecture,
    KernelRoot,
    MissingValue,
    StudyArm,
    find_format,
    kernel_root,
)  # fmt: skip
from firstlight_studies.root_filesystems.content import COMMANDS

#: The kinds of roots, slow ones of long ago first.
KINDS = (
    "cramfs", "cramfs-mtd", "cramfs-xip", "romfs", "romfs-mtd", "jffs2", "jffs2-summary", "ubifs", "squashfs-gzip",
    "squashfs-zstd", "squashfs-lz4", "erofs", "erofs-lz4", "ext2", "ext2-ram", "ext3", "ext4", "xfs", "btrfs", "f2fs",
    "initramfs",
)  # fmt: skip
assert set(KINDS) <= {each.name for each in FORMATS}

TIMEOUT_WALL_S = 3600.0
"""Of the host: a machine that has much else to do gives the same boot, later."""

#: Those that the old study gave a preset lpj and `quiet`.
TUNED = ("cramfs", "cramfs-xip", "ext4", "initramfs")


@dataclass(frozen=True)
class Way:
    """How a kernel is started."""

    quiet: bool = False
    lpj: int | None = None
    """Loops per jiffy, given instead of measured."""

    @property
    def name(self) -> str:
        """As part of an arm's name; empty for a plain start.

        >>> Way(quiet=True, lpj=4_000_000).name
        'quiet-lpj'
        """
        return "-".join(["quiet"] * self.quiet + ["lpj"] * (self.lpj is not None))

    @property
    def words(self) -> str:
        """Of the kernel's command line."""
        return " ".join(["quiet"] * self.quiet + ([f"lpj={self.lpj}"] if self.lpj is not None else []))


PLAIN = Way()


def arm_name(kind: str, way: Way = PLAIN) -> str:
    """What an arm is called.

    >>> arm_name("cramfs", Way(quiet=True))
    'cramfs-quiet'
    """
    return "-".join(filter(None, (kind, way.name)))


ROOT_BY_ITSELF = MissingValue(
    "the distribution's kernel has its drivers as modules, so it cannot mount such a root by itself"
)
"""Why a kind of root is not booted on an architecture without the lab's kernel."""


@dataclass(frozen=True)
class Roots:
    """What all arms have in common."""

    kernel: Path | MissingValue | None
    """None is the distribution's, on an architecture without the lab's."""
    content: Path
    architecture: Architecture = DEFAULT

    def boots(self, kind: str) -> bool:
        """Whether the kernel can have such a root by itself."""
        return find_format(kind).boots_on(self.architecture)

    def options(self, kind: str, append: str = "") -> RecordOptions:
        """The choices of one boot.

        :raises ValueError: when there is no kernel.
        """
        if isinstance(self.kernel, MissingValue):
            raise ValueError(self.kernel.reason)
        return RecordOptions(
            output=Path("a.boot"),
            kernel=self.kernel,
            root_as=kind,
            overlay=self.content,
            guest_commands=COMMANDS,
            append=append,
            timeout_wall_s=TIMEOUT_WALL_S,
        )

    def arm(self, kind: str, way: Way = PLAIN) -> StudyArm:
        """One arm: a kind of root, and a way to start."""
        if isinstance(self.kernel, MissingValue):
            return StudyArm(arm_name(kind, way), self.kernel)
        return StudyArm(arm_name(kind, way), self.options(kind, way.words))

    def image(self, kind: str) -> KernelRoot | MissingValue:
        """The image of a kind, or why there is none."""
        if isinstance(self.kernel, MissingValue):
            return self.kernel
        try:
            return kernel_root(self.options(kind), self.architecture)
        except FirstlightError as error:
            return MissingValue(error.message)

"""A root file system that the kernel mounts itself: its image, its device, its kernel parameters."""

from __future__ import annotations

import json
import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.cache import digest_of, entry, file_digest
from firstlight.errors import MISSING_INPUT, LabError, UsageError
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.rootfs.build import make_root, tool_versions
from firstlight.lab.rootfs.filesystems import ERASE_SIZE, RootFormat
from firstlight.lab.rootfs.image import as_root
from firstlight.lab.rootfs.initramfs import GuestConfig
from firstlight.lab.rootfs.minimal import HELPER, make_minimal_root
from firstlight.lab.rootfs.tree import tree_digest
from firstlight.recipe.isa import architectures
from firstlight.recipe.recipe import LoadedMemory

_VERSION = "5"
_MIB = 1 << 20
_NAME = "root.image"
#: Below the end of memory, where QEMU and the firmware keep tables.
_SPARED = 32 * _MIB


@dataclass(frozen=True)
class KernelRoot:
    """An image, ready to be the root of a kernel."""

    form: RootFormat
    path: Path
    digest: str
    size: int
    """Bytes of the file."""
    filled: int
    """Bytes of it in pages of 4 KiB that hold anything but zeros."""

    def words(self, memory: int, kernel: Kernel, *, helper: bool) -> str:
        """What the kernel's command line says of it.

        :param memory: of the guest, in bytes.
        :param helper: whether Firstlight's helper is the first process in it.
        :raises LabError: when it does not fit into the memory, or the kernel does not say where it looks for it.
        """
        words = self._place(memory, kernel)
        words += f" rootfstype={self.form.file_system}" if self.form.file_system else ""
        words += f" init={HELPER}" if helper and self.form.device != "initramfs" else ""
        return words.strip()

    def _place(self, memory: int, kernel: Kernel) -> str:
        match self.form.device:
            case "pmem":
                return "root=/dev/pmem0"
            case "ram":
                return f"root=/dev/ram0 ramdisk_size={self.size >> 10}"
            case "mtd":
                return f"{self._flash_words(memory, kernel)} root=mtd:root"
            case "ubi":
                # phram has no write buffer, which UBI asks for.
                return f"block2mtd.block2mtd=/dev/pmem0,{ERASE_SIZE >> 10}KiB ubi.mtd=0 root=ubi0:root"
            case "xip":
                return self._mapped_words(memory, kernel)
        return ""

    def loaded(self, memory: int, kernel: Kernel) -> LoadedMemory | None:
        """Where in memory it lies at power on; nothing for an image that comes in another way.

        :raises LabError: as for :meth:`words`.
        """
        if self.form.device == "mtd":
            return LoadedMemory(self.path, self._flash_address(memory, kernel))
        if self.form.device == "xip":
            return LoadedMemory(self.path, self._mapped(memory, kernel)[0])
        return None

    def _flash_address(self, memory: int, kernel: Kernel) -> int:
        end = min(memory, kernel.architecture.low_memory_end) - _SPARED
        address = (end - self.size) // _MIB * _MIB
        if address < 128 * _MIB:
            hint = f"give more, such as `--memory {(self.size + _SPARED) // _MIB + 256}M`"
            raise LabError("the image leaves the guest too little memory", where=str(self.path), hint=hint)
        return address

    def _flash_words(self, memory: int, kernel: Kernel) -> str:
        address = hex(self._flash_address(memory, kernel))
        flash = f"phram.phram=root,{address},{hex(self.size)},{hex(ERASE_SIZE)}"
        return f"memmap={self.size >> 10}K${address} {flash}"

    def _mapped(self, memory: int, kernel: Kernel) -> tuple[int, int]:
        start, length = mapped_flash(kernel)
        if self.size > length or start + length > min(memory, kernel.architecture.low_memory_end):
            message = (
                f"the kernel maps {length >> 10} KiB of flash at {hex(start)}, but the image has {self.size >> 10} KiB"
            )
            raise LabError(message, where=str(self.path), hint="use a smaller image, or give the guest more memory")
        return start, length

    def _mapped_words(self, memory: int, kernel: Kernel) -> str:
        start, length = self._mapped(memory, kernel)
        return f"memmap={length >> 10}K${hex(start)} root=mtd:physmap-flash.0"


def mapped_flash(kernel: Kernel) -> tuple[int, int]:
    """Where a kernel's driver for mapped flash looks, and how far, in bytes, by the kernel's configuration.

    :raises LabError: when its configuration is not there, or names no place.
    """
    hint = "the lab's kernel has it: `firstlight image build kernel`"
    if kernel.config is None:
        message = "the kernel's configuration is not next to it, so the address of its flash is unknown"
        raise LabError(message, where=str(kernel.path), hint=hint)
    found = dict(re.findall(r"^CONFIG_MTD_PHYSMAP_(START|LEN)=(\w+)$", kernel.config.read_text(), re.MULTILINE))
    start, length = (int(found.get(key, "0"), 0) for key in ("START", "LEN"))
    if not start or not length:
        message = "this kernel maps no flash at a fixed address (CONFIG_MTD_PHYSMAP_START, CONFIG_MTD_PHYSMAP_LEN)"
        raise LabError(message, where=str(kernel.path), hint=hint)
    return start, length


def minimal_root(form: RootFormat, config: GuestConfig, overlay: Path | None, commands: Sequence[str]) -> KernelRoot:
    """The small guest as an image, made or found in the cache.

    :raises LabError: when something that it is made of, or by, is missing.
    """
    with tempfile.TemporaryDirectory(prefix="firstlight-root-") as folder:
        tree = Path(folder) / "tree"
        make_minimal_root(tree, config, overlay, commands)
        return tree_root(form, tree)


def tree_root(form: RootFormat, tree: Path) -> KernelRoot:
    """A directory as an image, made or found in the cache.

    :raises LabError: when it cannot be read, or what makes it is missing or fails.
    """

    def fill(folder: Path) -> None:
        make_root(form, tree, folder / _NAME, as_root(folder))
        (folder / "fakeroot").unlink(missing_ok=True)

    who = "root" if os.geteuid() == 0 else "fakeroot"
    return _kept(form, digest_of(_VERSION, form.name, tree_digest(tree), who, *tool_versions(form)), fill)


def image_root(form: RootFormat, image: Path, *, helper: bool) -> KernelRoot:
    """An image that the user gives; one that does not end on a whole page is copied, and filled up.

    :param helper: whether Firstlight's helper has to be in it.
    :raises LabError: when it is missing, damaged or of another kind, or lacks the helper.
    """
    if not image.is_file():
        what = "not a regular file" if image.exists() else "there is no such image"
        raise LabError(what, where=str(image), hint="give a directory or an image", exit_code=MISSING_INPUT)
    form.check_image(image)
    marks = [each.ready_mark for each in architectures().values()]
    if helper and not any(_holds(image, mark) for mark in marks):
        raise UsageError(
            "this image does not contain Firstlight's helper, so nothing in it reports when it is up",
            where=str(image),
            hint="give the console line that means that it is up: `--ready REGEX`",
        )
    size = image.stat().st_size
    whole = form.whole(size)
    if whole == size:
        return _described(form, image.absolute())

    def fill(folder: Path) -> None:
        shutil.copyfile(image, folder / _NAME)
        os.truncate(folder / _NAME, whole)

    return _kept(form, digest_of(_VERSION, form.name, "padded", file_digest(image)), fill)


def _kept(form: RootFormat, key: str, fill: Callable[[Path], None]) -> KernelRoot:
    def describe(folder: Path) -> None:
        fill(folder)
        root = _described(form, folder / _NAME)
        (folder / "image.json").write_text(json.dumps([root.digest, root.size, root.filled]), encoding="utf-8")

    folder = entry("roots", key, describe)
    return KernelRoot(form, folder / _NAME, *json.loads((folder / "image.json").read_text()))


def _described(form: RootFormat, image: Path) -> KernelRoot:
    zeros = bytes(4096)
    with image.open("rb") as file:
        filled = sum(4096 for page in iter(lambda: file.read(4096), b"") if page != zeros[: len(page)])
    return KernelRoot(form, image, file_digest(image), image.stat().st_size, filled)


def _holds(image: Path, what: bytes) -> bool:
    with image.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(what) >= 0

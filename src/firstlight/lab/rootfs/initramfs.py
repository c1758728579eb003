"""The initramfs of every recording: the guest helper, its configuration, modules, and busybox."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from firstlight.assets import asset_path
from firstlight.cache import entry
from firstlight.errors import LabError
from firstlight.lab.kernel.modules import Module
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.commands import command_script
from firstlight.lab.rootfs.newc import Archive
from firstlight.lab.rootfs.overlay import add_overlay
from firstlight.recipe.isa import DEFAULT, Architecture

_SCRIPT = Path(__file__).with_name("userland.sh")
_SCRIPT_END = "exit 0\n"
_NAME = "initramfs.cpio"
#: At the top of the files that the user adds: run before the root is mounted.
BEFORE_ROOT = "before-root"


@dataclass(frozen=True)
class GuestConfig:
    """The helper's configuration, ``/firstlight.conf``; ``docs/reference/formats/guest-report.md`` explains each key.

    >>> print(GuestConfig(root="/dev/pmem0").text([]), end="")
    action=boot
    root=/dev/pmem0
    root_type=ext4
    init=/sbin/init
    report=/dev/ttyS1
    """

    action: Literal["boot", "symbols"] = "boot"
    root: str | None = None
    """Block device to switch to; without one the initramfs itself is the userspace."""
    root_type: str = "ext4"
    init: str = "/sbin/init"
    before_root: bool = False
    """Whether a shell runs the script of that name before the root is mounted."""
    report: str = f"/dev/{DEFAULT.report_device}"
    unit: bool = True
    """Whether a unit gives the ready mark in a userspace with systemd; no, when something else ends the boot."""
    architecture: Architecture = DEFAULT
    """Of the programs of the guest."""

    @classmethod
    def of(cls, architecture: Architecture, **values: Any) -> GuestConfig:
        """A configuration for guests of an architecture: with its programs and its report port.

        :param values: other fields.

        >>> from firstlight.recipe.isa import architecture_of
        >>> GuestConfig.of(architecture_of("aarch64"), unit=False).report
        '/dev/ttyS0'
        """
        return cls(architecture=architecture, report=f"/dev/{architecture.report_device}", **values)

    @property
    def has_userspace(self) -> bool:
        """Whether the initramfs carries busybox and runs the script of the default recipe."""
        return self.action == "boot" and self.root is None

    def text(self, modules: Sequence[str]) -> str:
        """The configuration as a text.

        :param modules: paths in the initramfs, in the order in which they are loaded.
        :raises LabError: for a value that would break a line.
        """
        pairs = [("action", self.action), *(("module", path) for path in modules)]
        if self.root is not None:
            pairs += [("root", self.root), ("root_type", self.root_type), ("init", self.init)]
            pairs += [] if self.unit else [("unit", "no")]
            pairs += [("before_root", f"/{BEFORE_ROOT}")] if self.before_root else []
        if self.has_userspace:
            pairs.append(("script", f"/{_SCRIPT.name}"))
        pairs.append(("report", self.report))
        for key, value in pairs:
            if not value.isprintable() or value != value.strip():
                raise LabError(f"`{value!r}` cannot be the value of `{key}` in the guest's configuration")
        return "".join(f"{key}={value}\n" for key, value in pairs)


@dataclass(frozen=True)
class Initramfs:
    """A file for QEMU's ``-initrd``."""

    path: Path
    digest: str


def build_initramfs(
    config: GuestConfig,
    modules: Sequence[Module] = (),
    overlay: Path | None = None,
    commands: Sequence[str] = (),
    order: int | None = None,
) -> Initramfs:
    """Build an initramfs, or find it in the cache: the same content has the same bytes and the same path.

    :param config: what the helper shall do.
    :param modules: the modules to carry, in the order in which they are loaded.
    :param overlay: files that it has besides.
    :param commands: what the userspace runs at its end.
    :param order: the members in another order, drawn with this number; the content is the same.
    :raises LabError: when the helper or a static busybox is missing, or the cache cannot be written.
    """
    archive = Archive()
    for directory in ("dev", "proc", "sys", "run", "bin"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    archive.file("init", asset_path(config.architecture.helper_asset).read_bytes(), 0o755)
    paths = [f"firstlight/modules/{index:02}-{module.name}.ko" for index, module in enumerate(modules)]
    for path, module in zip(paths, modules, strict=True):
        archive.file(path, module.content)
    archive.file("firstlight.conf", config.text([f"/{path}" for path in paths]).encode())
    if config.has_userspace or config.before_root:
        archive.file("bin/busybox", static_busybox(config.architecture).read_bytes(), 0o755)
        archive.link("bin/sh", "busybox")
    if config.has_userspace:
        script = _SCRIPT.read_text(encoding="utf-8")
        if commands:
            script = script.removesuffix(_SCRIPT_END) + command_script(commands)
        archive.file(_SCRIPT.name, script.encode())
    if overlay is not None:
        add_overlay(overlay, archive)
    content = archive.bytes(order)
    digest = hashlib.sha256(content).hexdigest()
    folder = entry("initramfs", digest, lambda path: _write(path / _NAME, content))
    return Initramfs(folder / _NAME, digest)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)

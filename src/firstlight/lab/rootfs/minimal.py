"""The minimal guest as a directory, the content of a root file system of any kind."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from firstlight.assets import asset_path
from firstlight.errors import LabError
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.commands import command_script
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.lab.rootfs.initramfs import GuestConfig
from firstlight.lab.rootfs.overlay import apply_overlay

HELPER = "/init"
"""The first process."""
_SCRIPT = Path(__file__).with_name("userland.sh")
_SCRIPT_END = "exit 0\n"
#: In an initramfs busybox makes its links itself; here they are in the image, which may be one that is only read.
_IN_INITRAMFS = "busybox --install -s /bin\n"
_IN_IMAGE = "mount -t tmpfs tmpfs /var\n"
_FOLDERS = ("bin", "dev", "mnt", "proc", "run", "sys", "tmp", "var")


def make_minimal_root(tree: Path, config: GuestConfig, overlay: Path | None, commands: Sequence[str]) -> None:
    """Fill a directory with the small guest: the helper, busybox with its links, the script of the default recipe.

    :param tree: the directory to make.
    :param config: what the helper shall do.
    :param overlay: files that are laid over it.
    :param commands: what the script runs at its end.
    :raises LabError: when the helper or a static busybox is missing, or the overlay does not fit.
    """
    for folder in _FOLDERS:
        (tree / folder).mkdir(parents=True)
    _copy(asset_path(config.architecture.helper_asset), tree / HELPER.removeprefix("/"))
    busybox = static_busybox(config.architecture)
    _copy(busybox, tree / "bin/busybox")
    # Only one for this machine can be asked. The distribution builds the others with the same configuration.
    asked = busybox if config.architecture.name == platform.machine() else static_busybox()
    for applet in _applets(asked):
        (tree / "bin" / applet).symlink_to("busybox")
    (tree / "firstlight.conf").write_text(config.text([]), encoding="utf-8")
    script = _SCRIPT.read_text(encoding="utf-8").replace(_IN_INITRAMFS, _IN_IMAGE)
    if commands:
        script = script.removesuffix(_SCRIPT_END) + command_script(commands)
    (tree / _SCRIPT.name).write_text(script, encoding="utf-8")
    if overlay is not None:
        apply_overlay(overlay, tree)
    for path in (*tree.rglob("*"), tree):
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def _copy(source: Path, destination: Path) -> None:
    shutil.copyfile(source, destination)
    destination.chmod(0o755)


def _applets(busybox: Path) -> list[str]:
    """Names that busybox answers to."""
    run = subprocess.run([busybox, "--list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    names = sorted({name for name in run.stdout.split() if "/" not in name} - {"busybox"})
    if run.returncode != 0 or "sh" not in names:
        raise LabError("this busybox does not say what it can do", where=str(busybox))
    return names

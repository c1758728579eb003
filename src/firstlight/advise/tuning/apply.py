"""Applies remedies to a recipe."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from firstlight.advise.tuning.remedy import Remedy, combined
from firstlight.cache import digest_of, entry
from firstlight.experiment.files import overlay_for
from firstlight.experiment.kernel_build import kernel_for
from firstlight.experiment.plan import Build
from firstlight.lab.host.progress import Progress
from firstlight.lab.rootfs.overlay import settle
from firstlight.lab.rootfs.tree import tree_digest
from firstlight.recipe.options import RecordOptions

_VERSION = "1"


def apply_remedies(
    options: RecordOptions, remedies: Sequence[Remedy], folder: Path, build: Build | None, progress: Progress
) -> RecordOptions:
    """The choices of a recording with remedies applied; a kernel that has to be built is built.

    :param folder: where relative paths of the remedies begin.
    :raises FirstlightError: when a kernel cannot be built, or two remedies are in each other's way.
    """
    change = combined(list(remedies))
    files, of_initramfs = change.files, change.initramfs_files
    if options.rootfs is None:
        # The minimal guest is nothing but its initramfs.
        files, of_initramfs = {**files, **of_initramfs}, {}
    kernel = options.kernel if change.kernel is None else folder / change.kernel
    if change.kconfig is not None:
        kernel = kernel_for(change.kconfig, build, folder, progress)
    return replace(
        options,
        append=" ".join(filter(None, (options.append.strip(), change.append.strip()))),
        kernel=kernel,
        initrd=options.initrd if change.initrd is None else folder / change.initrd,
        rootfs=options.rootfs if change.rootfs is None else change.rootfs,
        overlay=_laid_over(options.overlay, overlay_for(files, folder)),
        initramfs_files=_laid_over(options.initramfs_files, overlay_for(of_initramfs, folder)),
        memory=change.memory or options.memory,
        cpu=change.cpu or options.cpu,
        machine=change.machine or options.machine,
        qemu_options=(*options.qemu_options, *change.qemu_options),
    )


def _laid_over(own: Path | None, added: Path | None) -> Path | None:
    """The files of the recipe with those of the remedies over them."""
    if own is None or added is None:
        return added if own is None else own

    def make(directory: Path) -> None:
        for source in (own, added):
            shutil.copytree(source, directory / "overlay", symlinks=True, dirs_exist_ok=True)
        settle(directory / "overlay")

    return entry("overlays", digest_of(_VERSION, tree_digest(own), tree_digest(added)), make) / "overlay"

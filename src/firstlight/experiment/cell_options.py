"""From a cell of a plan to the choices of its recording."""

from __future__ import annotations

from pathlib import Path

from firstlight.experiment.change import combine
from firstlight.experiment.design import Cell
from firstlight.experiment.files import overlay_for
from firstlight.experiment.kernel_build import kernel_for
from firstlight.experiment.plan import ExperimentPlan
from firstlight.lab.host.progress import Progress
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions

#: A root file system that is not a path.
_RECIPES = ("debian",)


def options_for(plan: ExperimentPlan, cell: Cell, folder: Path, output: Path, progress: Progress) -> RecordOptions:
    """The choices of one cell's recording; a kernel that has to be built is built.

    :param folder: where the plan is: its relative paths begin there.
    :raises FirstlightError: when a kernel cannot be built, or a file cannot be read.
    """
    base = plan.base
    change = combine(base, cell.change)
    kernel = None if change.kconfig is None else kernel_for(change.kconfig, plan.build, folder, progress)
    rootfs = change.rootfs
    if rootfs is not None and rootfs not in _RECIPES:
        rootfs = str(folder / rootfs)
    files, of_initramfs = change.files, change.initramfs_files
    if rootfs is None:
        # The minimal guest is nothing but its initramfs.
        files, of_initramfs = {**files, **of_initramfs}, {}
    return RecordOptions(
        output=output,
        kernel=kernel or _path(folder, change.kernel),
        initrd=_path(folder, change.initrd),
        rootfs=rootfs,
        overlay=overlay_for(files, folder),
        initramfs_files=overlay_for(of_initramfs, folder),
        guest_commands=tuple(filter(None, (change.guest_command,))),
        append=change.append,
        memory=change.memory,
        cpu=change.cpu,
        machine=change.machine,
        shift=base.shift,
        ready=base.ready,
        profile=base.profile and plan.mode == RecordMode.EXACT,
        live=plan.mode == RecordMode.LIVE,
        timeout_wall_s=base.timeout_wall,
        timeout_virtual_s=base.timeout_virtual or None,
        qemu=_path(folder, base.qemu),
        qemu_options=tuple(change.qemu_options),
    )


def _path(folder: Path, text: str | None) -> Path | None:
    return None if text is None else folder / text

"""Recording a boot, booting it again, and finding how far figures vary without a change."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.api.arguments import PathLike, as_path, progress_of
from firstlight.api.write import check_free, directory_of
from firstlight.errors import UsageError
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions

if TYPE_CHECKING:
    from firstlight.api.boot import Boot
    from firstlight.comparison.noise_band import Band
    from firstlight.comparison.statistical.testbed_noise import Calibration
    from firstlight.lab.host.progress import Progress
    from firstlight.lab.run.ask import Answers
    from firstlight.lab.run.verify import Verification


def record(
    output: PathLike,
    *,
    kernel: PathLike | None = None,
    initrd: PathLike | None = None,
    rootfs: PathLike | None = None,
    root_as: str | None = None,
    storage: str | None = None,
    overlay: PathLike | None = None,
    initramfs_files: PathLike | None = None,
    guest_commands: tuple[str, ...] = (),
    append: str = "",
    memory: str | None = None,
    cpu: str | None = None,
    cpus: int = 1,
    machine: str | None = None,
    shift: int = 0,
    seed: int = 1,
    ready: str | None = None,
    profile: bool = True,
    user_functions: bool = False,
    symbols: PathLike | None = None,
    live: bool = False,
    timeout_wall_s: float = 600.0,
    timeout_virtual_s: float | None = 300.0,
    qemu: PathLike | None = None,
    qemu_options: tuple[str, ...] = (),
    force: bool = False,
    progress: bool = False,
) -> Boot:
    """Record a boot in QEMU into a bundle, exactly unless *live*, and open it.

    :param output: the bundle, conventionally `NAME.boot`.
    :param kernel: a bzImage or vmlinuz; by default the distribution's cloud kernel.
    :param initrd: an initramfs; by default Firstlight's minimal one.
    :param rootfs: a directory, image or tar archive with a userspace, or `debian`.
    :param root_as: the kind of file system that the kernel mounts as its root by itself: `ext4`, `squashfs-zstd`, ….
    :param storage: a model of the disk that holds *rootfs*: `emmc`, `sd`, `spi-nor`, `sata` or a file.
    :param overlay: a directory whose files are laid over the guest's; `.wh.NAME` in it removes NAME.
    :param initramfs_files: a directory whose files Firstlight's own initramfs has besides.
    :param guest_commands: run by a shell in the guest, one after another, before it is ready.
    :param append: parameters added to the kernel's command line.
    :param memory: the guest's memory, such as `512M`.
    :param cpu: a named CPU model of QEMU.
    :param cpus: processors of the guest; in exact mode they take turns on one virtual time line.
    :param machine: a versioned machine type of QEMU.
    :param shift: one instruction takes 2^shift ns of virtual time; from 0 to 10.
    :param seed: of the random numbers that QEMU hands to the guest.
    :param ready: a regular expression on console lines that ends the recording; by default the guest's own mark.
    :param profile: profile every function of the kernel.
    :param user_functions: profile user mode, too: by process, file and function.
    :param symbols: a directory with debug files of the guest's programs, which name their functions.
    :param live: record by the host's clock, with KVM where it works; not exact.
    :param timeout_wall_s: give up after this time of the host, in seconds.
    :param timeout_virtual_s: give up after this virtual time, in seconds; none: never.
    :param qemu: the QEMU to use; by default the one in PATH.
    :param qemu_options: further arguments of QEMU.
    :param force: replace a bundle that is there.
    :param progress: show on a terminal how the boot goes on.
    :raises UsageError: for choices that cannot be.
    :raises LabError: for inputs that are missing or damaged, a QEMU that does not start, an output that is taken.
    :raises UnhealthyBootError: when the guest did not come up; the bundle is written, and says why.

    Source: docs/design/exact-mode.md.

    Example: ``firstlight.record("a.boot", append="quiet", memory="1G").phases()``.
    """
    return record_with(
        RecordOptions(
            output=Path(output), force=force, kernel=as_path(kernel), initrd=as_path(initrd),
            rootfs=None if rootfs is None else os.fspath(rootfs), root_as=root_as, storage=storage,
            overlay=as_path(overlay), initramfs_files=as_path(initramfs_files), guest_commands=tuple(guest_commands),
            append=append, memory=memory, cpu=cpu, cpus=cpus, machine=machine, shift=shift, seed=seed, ready=ready,
            profile=profile, user_functions=user_functions, symbols=as_path(symbols), live=live,
            timeout_wall_s=timeout_wall_s, timeout_virtual_s=timeout_virtual_s, qemu=as_path(qemu),
            qemu_options=tuple(qemu_options),
        ),
        progress=progress,
    )  # fmt: skip


def record_with(options: RecordOptions, *, progress: bool = False) -> Boot:
    """Record a boot as :func:`record` does, with its choices as one value.

    :raises FirstlightError: as :func:`record` does.
    """
    from firstlight.lab.run.record import record as record_boot

    bundle = record_boot(options, progress_of(progress))
    from firstlight.api.boot import open

    return open(bundle)


def qemu_command(options: RecordOptions, *, progress: bool = False) -> str:
    """The command line of QEMU that a recording would run; nothing is booted.

    :raises FirstlightError: as :func:`record` does, for choices that cannot be and inputs that are missing.
    """
    from firstlight.lab.run.record import planned_command

    return planned_command(options, progress_of(progress))


def verify(
    boot: PathLike | Boot,
    *,
    qemu: PathLike | None = None,
    given: Mapping[str, Any] | None = None,
    trust: bool = False,
    progress: bool = False,
) -> Verification:
    """Boot the recipe of a bundle again, and compare every table.

    :param boot: an exact recording, or its path.
    :param qemu: another QEMU than the recorded one.
    :param given: inputs in place of those that a bundle names which was recorded elsewhere: `kernel`, `initrd`, ….
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show on a terminal how the boot goes on.
    :returns: its `equal` says whether every table is the same; `differences` and `inputs` say what is not.
    :raises BundleError: when the bundle is damaged, or no recording.
    :raises LabError: when an input is missing.
    """
    from firstlight.lab.run.verify import verify as verify_boot

    return verify_boot(directory_of(boot), progress_of(progress), qemu=as_path(qemu), given=given, trust=trust)


def calibrate(
    boot: PathLike | Boot,
    *,
    pairs: int | None = None,
    seed: int | None = None,
    keep: PathLike | None = None,
    output: PathLike | None = None,
    force: bool = False,
    trust: bool = False,
    progress: bool = False,
) -> Band | Calibration:
    """Find how far figures vary without a real change.

    Of an exact recording: its noise band, by booting the recipe under changes that should not matter. Of a live
    recording, or a directory of boots of one recipe: the noise of the testbed, by comparing equal boots.

    :param boot: a recording, or a directory of boots of one recipe.
    :param pairs: of a live recording: this many pairs of boots, at least 12.
    :param seed: of boots that vary: for the random assignment to two arms; by default a random one.
    :param keep: of a live recording: keep the boots in this directory.
    :param output: also write the result as JSON, for the argument `band` of :func:`compare` and :func:`run_gate`.
    :param force: replace an existing file.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show on a terminal how the boots go on.
    :raises UsageError: for an option that this sort of boot does not take.
    :raises FirstlightError: when a boot cannot be read or made.

    Source: docs/design/statistics.md.
    """
    from firstlight.experiment.calibrate.file import write_band

    if output is not None:
        check_free(Path(output), force=force)
    found = _calibrated(directory_of(boot), pairs, seed, as_path(keep), progress_of(progress), trust=trust)
    if output is not None:
        write_band(found, Path(output))
    return found


def _calibrated(
    path: Path, pairs: int | None, seed: int | None, keep: Path | None, progress: Progress, *, trust: bool
) -> Band | Calibration:
    from firstlight.bundle.open import read_manifest
    from firstlight.experiment.calibrate.perturbations import make_band
    from firstlight.experiment.calibrate.testbed import calibrate_by_boots, calibrate_by_recording

    several = path.is_dir() and not (path / "manifest.json").exists()
    exact = not several and read_manifest(path).mode == RecordMode.EXACT
    for option, value in (("--pairs", pairs), ("--keep", keep)):
        if value is not None and (several or exact):
            raise UsageError(f"`{option}` is for a live recording", where=str(path), hint="leave it out")
    if exact and seed is not None:
        raise UsageError("`--seed` is for arms in random order", where=str(path), hint="leave it out")
    if several:
        return calibrate_by_boots(path, seed=seed)
    if exact:
        return make_band(path, progress, trust=trust)
    return calibrate_by_recording(path, pairs or 12, seed=seed, keep=keep, progress=progress, trust=trust)


def ask(
    boot: PathLike,
    question: str,
    *,
    results: bool = False,
    when: str | None = None,
    trust: bool = False,
    progress: bool = False,
) -> Answers:
    """Boot a recorded boot's recipe again and record the arguments of a kernel function at each call.

    The guest is not changed, and this is checked: console, report, totals and tables have to be those of the boot.

    :param boot: an exact recording with a profile.
    :param question: `FUNCTION(VALUE, …)`: parameters by name, `->MEMBER` behind them, `:KIND` for how to read one.
    :param results: record what the function returns, too.
    :param when: a condition on the columns that a call has to fit, such as `comm == "udevadm"`.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :returns: its `rows` are the calls.
    :raises UsageError: for a question or a condition that is none.
    :raises BundleError: when the boot is not a recording.
    :raises FirstlightError: when it cannot be booted again, or the kernel has no such function, parameter or member.

    Source: docs/design/questions.md.

    Example: ``firstlight.ask("a.boot", "do_sys_openat2(dfd, filename:string)").rows``.
    """
    from firstlight.lab.run.ask import ask as ask_again
    from firstlight.lab.run.question import parse_question

    asked = parse_question(question)
    return ask_again(Path(boot), asked, results=results, when=when, progress=progress_of(progress), trust=trust)

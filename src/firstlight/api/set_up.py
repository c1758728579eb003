"""What this machine can do, the images of the lab, and audits of what it records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, as_path, progress_of
from firstlight.api.write import directory_of

if TYPE_CHECKING:
    from firstlight.api.boot import Boot
    from firstlight.audit.boot import Audit
    from firstlight.audit.matrix.cells import Extent
    from firstlight.audit.matrix.measure import MatrixRow
    from firstlight.lab.doctor import Check
    from firstlight.lab.host.progress import Progress
    from firstlight.lab.images import Image
    from firstlight.recipe.options import RecordOptions


_CELLS_AT_ONCE = 16
"""Cells of the matrix that are asked of workers at a time."""


@dataclass(frozen=True)
class Doctor:
    """What a machine can do."""

    exact: bool
    """Whether it can record in exact mode."""
    install: str | None
    """The command that installs every missing package; none where nothing is missing or there is no apt."""
    checks: tuple[Check, ...]
    """Each with its `name`, `state` (`ok`, `limited` or `missing`), `detail` and `remedy`."""


def doctor(qemu: PathLike | None = None) -> Doctor:
    """Check what this machine can do and what is missing.

    :param qemu: the QEMU to check; by default the one in PATH.

    >>> import firstlight
    >>> {check.state for check in firstlight.doctor().checks} <= {"ok", "limited", "missing"}
    True
    """
    from firstlight.lab.doctor import exact_possible, examine, install_command

    checks = examine(as_path(qemu))
    return Doctor(exact_possible(checks), install_command(checks), tuple(checks))


def images(arch: str | None = None) -> tuple[Image, ...]:
    """List the kernels, root file systems and programs of boot loaders that the lab can build or download.

    :param arch: only those for this architecture of guests, such as `arm64`.
    :raises UsageError: for an unknown architecture.

    >>> import firstlight
    >>> [image.name for image in firstlight.images("amd64")]
    ['kernel', 'debian', 'debian-storage', 'debian-programs']
    """
    from firstlight.lab.images import IMAGES
    from firstlight.recipe.isa import chosen_architecture

    wanted = None if arch is None else chosen_architecture(arch).distribution_name
    return tuple(image for image in IMAGES if wanted in (None, image.architecture))


def image(
    name: str, *, arch: str | None = None, build: bool = False, jobs: int | None = None, progress: bool = False
) -> Image:
    """Find an image of the lab; its `built()` is the path of its file, or nothing.

    :param name: as :func:`images` lists it.
    :param arch: the guest's architecture, by default `amd64`.
    :param build: build the image unless it exists; a kernel takes many minutes.
    :param jobs: number of parallel compilers; by default one per core.
    :param progress: show the progress on a terminal.
    :raises UsageError: for an unknown name or architecture.
    :raises LabError: when the image cannot be built.

    >>> import firstlight
    >>> firstlight.image("kernel").option
    '--kernel'
    """
    from firstlight.lab.images import find_image

    found = find_image(name, arch)
    if build:
        with progress_of(progress) as shown:
            found.build(shown, jobs)
    return found


def image_path(name: str, arch: str | None = None) -> Path:
    """The path of an image that is built.

    :param name: as :func:`images` lists it.
    :param arch: the guest's architecture, by default `amd64`.
    :raises UsageError: for an unknown name or architecture.
    :raises LabError: when the image is not built, or its files were changed.

    Example: ``firstlight.record("a.boot", kernel=firstlight.image_path("kernel"))``.
    """
    from firstlight.cache import check_cached
    from firstlight.errors import MISSING_INPUT, LabError

    built = image(name, arch=arch).built()
    if built is None:
        hint = f"to make it: `firstlight image build {name}{'' if arch is None else f' --arch {arch}'}`"
        raise LabError(f"the image `{name}` does not exist yet", hint=hint, exit_code=MISSING_INPUT)
    check_cached(built)
    return built


def audit_boot(boot: PathLike | Boot, *, trust: bool = False, progress: bool = False) -> Audit:
    """Boot the recipe of a bundle again with a second, independent observer, and compare both profiles.

    :param boot: an exact recording, or its path.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :returns: its `agreement.reached` says whether every share is within its limit; `causes` lists the exceptions.
    :raises BundleError: when the bundle is damaged or has no profile.
    :raises LabError: when an input is missing or the boot differs from the recorded one.

    Source: docs/design/oracle.md.

    Example: ``firstlight.audit_boot("a.boot").agreement.shares``.
    """
    from firstlight.audit.boot import audit

    return audit(directory_of(boot), progress_of(progress), trust=trust)


def audit_matrix(
    extent: Extent | str,
    *,
    kernels: Sequence[PathLike] = (),
    cpus: Sequence[str] = (),
    qemus: Sequence[PathLike] = (),
    fresh: bool = False,
    progress: bool = False,
) -> list[MatrixRow]:
    """Record and audit combinations of kernels, processors, mitigations and QEMUs.

    A combination that was measured with the same digests comes from the cache.

    :param extent: `quick` or `full`.
    :param kernels: audit these kernels instead of Debian's.
    :param cpus: audit these CPU models instead of the matrix's.
    :param qemus: boot with these QEMUs instead of the one in PATH.
    :param fresh: measure every combination again.
    :param progress: show the progress on a terminal.
    :raises LabError: when a kernel is missing or cannot be downloaded.

    Within :func:`boots_by`, workers record the boots of the QEMU in PATH. The second observer always runs on this
    machine, which thus checks what each worker made.

    Example: ``[row.reached for row in firstlight.audit_matrix("quick")]``.
    """
    import threading

    from firstlight.audit.matrix.cells import Extent
    from firstlight.audit.matrix.run import matrix
    from firstlight.experiment import boot_cache
    from firstlight.experiment.parallel import side_by_side
    from firstlight.lab.host.progress import SilentProgress
    from firstlight.lab.run.record import record
    from firstlight.lab.run.resolve import resolve

    files, programs = [Path(path) for path in kernels], [Path(path) for path in qemus]
    if not boot_cache.is_recorded_elsewhere():
        return matrix(
            Extent(extent), lambda: progress_of(progress), kernels=files, processors=cpus, qemus=programs, fresh=fresh
        )

    def make(options: RecordOptions, heard: Progress) -> None:
        if options.qemu is None:
            boot_cache.make(options, resolve(options), heard)
        else:
            record(options, heard)

    return matrix(
        Extent(extent), SilentProgress, kernels=files, processors=cpus, qemus=programs, fresh=fresh, make=make,
        for_each=lambda call, numbers: side_by_side(call, numbers, _CELLS_AT_ONCE, threading.Event()),
    )  # fmt: skip

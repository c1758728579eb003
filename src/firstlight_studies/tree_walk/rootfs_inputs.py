"""What the boots of a walk are made of: the kernel, programs of the distribution, our own."""

from __future__ import annotations

from pathlib import Path

from firstlight import FirstlightError
from firstlight.study import (
    Architecture,
    Lab,
    MissingValue,
    asset_path,
    lacks_driver,
    programs_of,
    settle,
    write_modules,
)
from firstlight_studies.tree_walk.guest import lay_out
from firstlight_studies.tree_walk.plan import DISK_DRIVER, TRAP_DRIVERS, Ground
from firstlight_studies.tree_walk.workload import WALKER, Workload

_PACKAGES = ("coreutils", "findutils", "libc6", "e2fsprogs", "xfsprogs")


def prepare(work: Workload, lab: Lab) -> tuple[Ground, tuple[str, ...]]:
    """Lay out what the guests need.

    :returns: the ground, and the versions of what was taken from the distribution.
    """
    source = lab.image("debian-programs")
    wanted = [name for name in work.programs if name != WALKER]
    folder = lab.scratch / "guest"
    overlay: Path | MissingValue = folder
    missing: dict[str, MissingValue] = {}
    versions: tuple[str, ...] = ()
    architecture = lab.architecture
    # Where the lab's kernel is not made, the distribution's is booted: most of its drivers are modules.
    kernel = lab.image("kernel") if lab.has_own_kernel else None
    drivers = {} if architecture.has_lab_kernel else _drivers(work, kernel, architecture)
    try:
        program, library = _carried(architecture)
        programs = None
        if isinstance(source, MissingValue):
            missing = dict.fromkeys(wanted, source)
        else:
            programs = programs_of(source, wanted, [library])
            missing = {name: MissingValue(f"the root file system has no `{name}`") for name in programs.missing}
            versions = tuple(f"{name} {programs.versions[name]}" for name in _PACKAGES if name in programs.versions)
        lay_out(folder, program, library, programs)
    except (FirstlightError, OSError) as error:
        overlay = MissingValue(error.message if isinstance(error, FirstlightError) else str(error.strerror))
    loads = _add_modules(folder, kernel, drivers, architecture) if overlay is folder else frozenset[str]()
    debian = lab.image("debian") if work.automount_unit else MissingValue("not asked for")
    ground = Ground(
        kernel, overlay, debian, missing, lab.stock and lab.has_own_kernel, architecture, loads,
        {name: gap for name, gap in drivers.items() if gap is not None},
    )  # fmt: skip
    return ground, versions


def _carried(architecture: Architecture) -> tuple[bytes, bytes]:
    """The program of the study and its library, for the guests' processor.

    :raises LabError: when they are not there.
    """
    assert architecture.walk_assets is not None, "the study says which architectures it covers"
    program, library = (asset_path(name).read_bytes() for name in architecture.walk_assets)
    return program, library


def _drivers(
    work: Workload, kernel: Path | MissingValue | None, architecture: Architecture
) -> dict[str, MissingValue | None]:
    """What a kernel has to have for a walk, each with the reason why it has not."""
    if isinstance(kernel, MissingValue):
        return {}
    on_disk = [kind for kind in work.file_systems if kind != "tmpfs"]
    wanted = [*([DISK_DRIVER] if on_disk else []), *on_disk, *(TRAP_DRIVERS if work.audit else ())]
    return {name: lacks_driver(kernel, name, architecture) for name in wanted}


def _add_modules(
    overlay: Path, kernel: Path | MissingValue | None, drivers: dict[str, MissingValue | None],
    architecture: Architecture,
) -> frozenset[str]:  # fmt: skip
    """Add the drivers that are modules, with what they need.

    :returns: their names; none where all that there are is built in.
    """
    there = [name for name, gap in drivers.items() if gap is None]
    if not there or isinstance(write_modules(kernel, there, overlay, architecture=architecture), MissingValue):
        return frozenset()
    settle(overlay)
    return frozenset(path.stem.partition("-")[2] for path in (overlay / "modules").glob("*.ko"))

"""What the boots of a walk are made of: the kernel, programs of the distribution, our own."""

from __future__ import annotations

from firstlight import FirstlightError
from firstlight.study import Lab, MissingValue, asset_path, programs_of
from firstlight_studies.tree_walk.guest import lay_out
from firstlight_studies.tree_walk.plan import Ground
from firstlight_studies.tree_walk.workload import WALKER, Workload

_PACKAGES = ("coreutils", "findutils", "libc6", "e2fsprogs", "xfsprogs")


def prepare(work: Workload, lab: Lab) -> tuple[Ground, tuple[str, ...]]:
    """Lay out what the guests need.

    :returns: the ground, and the versions of what was taken from the distribution.
    """
    debian = lab.image("debian-storage")
    wanted = [name for name in work.programs if name != WALKER]
    overlay = lab.scratch / "guest"
    missing: dict[str, MissingValue] = {}
    versions: tuple[str, ...] = ()
    try:
        programs = None
        if isinstance(debian, MissingValue):
            missing = dict.fromkeys(wanted, debian)
        else:
            programs = programs_of(debian, wanted, [asset_path("firstlight-restat.so").read_bytes()])
            missing = {name: MissingValue(f"the root file system has no `{name}`") for name in programs.missing}
            versions = tuple(f"{name} {programs.versions[name]}" for name in _PACKAGES if name in programs.versions)
        lay_out(overlay, programs)
    except (FirstlightError, OSError) as error:
        why = error.message if isinstance(error, FirstlightError) else str(error.strerror)
        overlay_missing = MissingValue(why)
        return Ground(lab.image("kernel"), overlay_missing, debian, missing, lab.stock), versions
    return Ground(lab.image("kernel"), overlay, debian, missing, lab.stock), versions

"""What could not be measured of arms that were booted: a run that lacks it is not whole."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Boot, MissingArm, MissingValue
from firstlight_studies.kernel_hotspots.arms import Booted
from firstlight_studies.kernel_hotspots.boot_observations import Seen
from firstlight_studies.kernel_hotspots.coverage import Coverage
from firstlight_studies.kernel_hotspots.guest import AddedMemory
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import PLAIN, KernelName
from firstlight_studies.kernel_hotspots.timing_methods import ALL


def unmeasured(
    booted: Booted,
    measured: Mapping[KernelName, Mapping[str, HotspotTimings | MissingValue]],
    covered: Mapping[KernelName, Coverage | MissingValue],
    seen: Mapping[str, Seen] | MissingValue,
    added: AddedMemory | MissingValue,
) -> list[MissingArm]:
    """Name each with its reason; arms that were not booted are named by the lab."""

    def there(kernel: KernelName, name: str) -> bool:
        return isinstance(booted.boot(kernel, name), Boot)

    found = [
        MissingArm(f"{kernel}-{name}", each.reason)
        for kernel, arms in measured.items()
        for name, each in arms.items()
        if isinstance(each, MissingValue) and there(kernel, name)
    ]
    found += [
        MissingArm(f"how much of the {kernel} kernel runs", each.reason)
        for kernel, each in covered.items()
        if isinstance(each, MissingValue) and there(kernel, PLAIN)
    ]
    if isinstance(seen, MissingValue) and there(booted.ways_kernel, ALL):
        found.append(MissingArm("four ways of timing the same boot", seen.reason))
    if isinstance(added, MissingValue) and there(booted.main, "memory-added"):
        found.append(MissingArm("memory added later", added.reason))
    return found

"""What could not be measured of arms that were booted: a run that lacks it is not whole."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Boot, Hole, Missing
from firstlight_studies.kernel_hotspots.arms import Booted
from firstlight_studies.kernel_hotspots.coverage import Coverage
from firstlight_studies.kernel_hotspots.guest import AddedMemory
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import PLAIN, KernelName
from firstlight_studies.kernel_hotspots.seen import Seen
from firstlight_studies.kernel_hotspots.ways import ALL


def unmeasured(
    booted: Booted,
    measured: Mapping[KernelName, Mapping[str, HotspotTimings | Hole]],
    covered: Mapping[KernelName, Coverage | Hole],
    seen: Mapping[str, Seen] | Hole,
    added: AddedMemory | str,
) -> list[Missing]:
    """Name each with its reason; arms that were not booted are named by the laboratory."""

    def there(kernel: KernelName, name: str) -> bool:
        return isinstance(booted.boot(kernel, name), Boot)

    found = [
        Missing(f"{kernel}-{name}", each.reason)
        for kernel, arms in measured.items()
        for name, each in arms.items()
        if isinstance(each, Hole) and there(kernel, name)
    ]
    found += [
        Missing(f"how much of the {kernel} kernel runs", each.reason)
        for kernel, each in covered.items()
        if isinstance(each, Hole) and there(kernel, PLAIN)
    ]
    if isinstance(seen, Hole) and there(booted.ways_kernel, ALL):
        found.append(Missing("four ways of timing the same boot", seen.reason))
    if isinstance(added, str) and there("laboratory", "memory-added"):
        found.append(Missing("memory added later", added))
    return found

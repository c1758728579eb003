"""What was concluded of failures that remedies open, held against the facts of the arms."""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.study import Finding
from firstlight_studies.kernel_hotspots.differences import PASSING, differences
from firstlight_studies.kernel_hotspots.evidence import Evidence, finding
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import KERNELS, Remedy

#: Of fewer remedies nothing is said about most of them.
MANY = 12
#: Of fewer wrong values it is not said that all are harmless.
SEVERAL = 2

_UNKNOWN = "not measured in this run"


def subtle(evidence: Evidence) -> Iterator[Finding]:
    """Whether most remedies change what they are not meant to, and nobody says so."""
    claim, then = "most optimisations open subtle failure modes", "has to be assessed for each"
    booted, silent, loud = set(), set(), set()
    for remedy, arm, beside in _pairs(evidence, wrong=False):
        booted.add(remedy.name)
        if _warned(arm, beside):
            loud.add(remedy.name)
        elif _harm(remedy, arm, beside):
            silent.add(remedy.name)
    said = (
        f"{len(silent)} of {len(booted)} remedies change a fact that they are not meant to without a new warning, "
        f"{len(loud - silent)} more bring a warning"
    )
    why = (
        f"most: more than half of at least {MANY} remedies; the table of what each remedy breaks names the facts; no "
        f"others were examined"
    )
    holds = len(silent) * 2 > len(booted) if len(booted) >= MANY else None
    yield finding(claim, then, said if booted else _UNKNOWN, holds, why)


def sanity(evidence: Evidence) -> Iterator[Finding]:
    """Whether a boot with a wrong calibration comes up, with more wrong than the value itself."""
    claim, then = "a hard-coded calibration needs a sanity check", "a warning of the study"
    pairs = list(_pairs(evidence, wrong=True))
    harmed = [(arm, beside) for remedy, arm, beside in pairs if _harm(remedy, arm, beside)]
    warned = sum(_warned(arm, beside) for arm, beside in harmed)
    said = (
        f"{len(harmed)} of {len(pairs)} wrong values boot and change another fact of the system, "
        f"{warned} of these with a new warning"
    )
    why = "the check is needed if a wrong value boots and something else is then wrong; a warning does not fix that"
    holds = True if harmed else False if len(pairs) >= SEVERAL else None
    yield finding(claim, then, said if pairs else _UNKNOWN, holds, why)


def _pairs(evidence: Evidence, wrong: bool) -> Iterator[tuple[Remedy, HotspotTimings, HotspotTimings]]:
    """Remedies with their arms and what they are held beside; *wrong* ones are preset with a wrong value."""
    for kernel in KERNELS:
        for remedy in evidence.remedies.get(kernel, ()):
            arm, beside = evidence.get(kernel, remedy.name), evidence.get(kernel, remedy.against)
            if remedy.remedy and remedy.wrong == wrong and arm is not None and beside is not None:
                yield remedy, arm, beside


def _harm(remedy: Remedy, arm: HotspotTimings, beside: HotspotTimings) -> bool:
    apart = remedy.meant | PASSING | {"warnings"}
    return any(each.fact not in apart for each in differences(arm.health, beside.health))


def _warned(arm: HotspotTimings, beside: HotspotTimings) -> bool:
    return bool(arm.health.warnings - beside.health.warnings)

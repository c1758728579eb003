"""What the findings are computed from, and how a figure becomes a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from firstlight.study import Finding, MissingValue, verdict
from firstlight_studies.kernel_hotspots.guest import AddedMemory
from firstlight_studies.kernel_hotspots.hotspots import HotSpot
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import KernelName, Remedy

#: A part of the window from here on is a hot spot.
HOT = 0.1
#: What saves less than this part of the window saves nothing that anybody would look for.
WORTH = 0.001

Arms = Mapping[KernelName, Mapping[str, HotspotTimings | MissingValue]]


@dataclass(frozen=True)
class Evidence:
    """All that the findings are computed from."""

    arms: Arms
    remedies: Mapping[KernelName, list[Remedy]]
    spots: tuple[HotSpot, ...]
    added: AddedMemory | str
    """Memory that came later; a text says why there is none."""
    way_costs: Mapping[str, tuple[int, int] | None]
    """By way of timing: the boot without it, and what it adds, in nanoseconds."""

    def get(self, kernel: KernelName, name: str) -> HotspotTimings | None:
        """One arm, if it could be measured."""
        found = self.arms.get(kernel, {}).get(name)
        return None if isinstance(found, MissingValue) else found

    def either(self, name: str) -> HotspotTimings | None:
        """One arm of the lab's kernel, or else of the stock one."""
        return self.get("lab", name) or self.get("stock", name)


def finding(claim: str, then: str, now: str, holds: bool | None, why: str = "") -> Finding:
    """A conclusion with its verdict; `None` is one that cannot be tested.

    >>> finding("it is slow", "84 ms", "1 ms", False).verdict
    'no longer holds'
    """
    return Finding(claim, then, now, verdict(holds), why)


def saves(
    evidence: Evidence, name: str, claim: str, then: str, why: Callable[[HotspotTimings, HotspotTimings], str]
) -> Finding:
    """Whether a remedy saves what anybody would look for, on the lab's kernel or else on the stock one.

    :param why: what its arm and the one beside it tell of the reason, whichever way the verdict falls.
    """
    kernels: tuple[KernelName, ...] = ("lab", "stock")
    for kernel in kernels:
        remedy = next((each for each in evidence.remedies.get(kernel, ()) if each.name == name), None)
        if remedy is None:
            continue
        arm, beside = evidence.get(kernel, name), evidence.get(kernel, remedy.against)
        if arm is None or beside is None:
            continue
        whole = beside.window.length_ns
        saved = whole - arm.window.length_ns
        said = f"{ms(saved)} of {ms(whole)} ({percent(saved / whole)}), {kernel} kernel"
        return finding(claim, then, said, saved >= WORTH * whole, why(arm, beside))
    return finding(claim, then, "not measured in this run", None)


def ms(ns: int) -> str:
    """Nanoseconds as milliseconds.

    >>> ms(1_234_567_890)
    '1,234.568 ms'
    """
    return f"{ns / 1e6:,.3f} ms"


def span(ns: int) -> str:
    """Nanoseconds in the unit that shows them.

    >>> span(424), span(434_513), span(23_972_000)
    ('424 ns', '434.513 µs', '23.972 ms')
    """
    return f"{ns} ns" if ns < 1_000 else f"{ns / 1e3:.3f} µs" if ns < 1_000_000 else ms(ns)


def percent(part: float) -> str:
    """A part from 0 to 1 in percent.

    >>> percent(0.0534)
    '5.34 %'
    """
    return f"{part * 100:.2f} %"

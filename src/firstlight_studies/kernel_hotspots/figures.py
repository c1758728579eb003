"""The figures that decide the claims of 2005 and 2006."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from firstlight.study import BAUD, Figure, MissingValue, derived, on_the_line_ns, relative, value_text
from firstlight_studies.kernel_hotspots.differences import PASSING, differences
from firstlight_studies.kernel_hotspots.guest import AddedMemory
from firstlight_studies.kernel_hotspots.hotspots import HotSpot
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import KERNELS, PLAIN, KernelName, Remedy, remedies

Arms = Mapping[KernelName, Mapping[str, HotspotTimings | MissingValue]]

_NOT_BOOTED = MissingValue("not measured in this run")
_NOT_QUICK = MissingValue("a quick run leaves this arm out")
#: What the lab's kernel has for the studies, and the distribution's for its own: left out of shares and ranks.
_LEFT_OUT = ("self-tests", "tracing")
_NAMES: Mapping[KernelName, str] = {"stock": "stock", "lab": "lab's kernel"}
_SD_CARD = 10 * 2**20
"""Bytes of a second."""


@dataclass(frozen=True)
class HotspotEvidence:
    """All that the figures are computed from."""

    arms: Arms
    remedies: Mapping[KernelName, list[Remedy]]
    spots: tuple[HotSpot, ...]
    added: AddedMemory | MissingValue
    """Memory that came later."""
    way_costs: Mapping[str, tuple[int, int] | None]
    """By way of timing: the boot without it, and what it adds, in nanoseconds."""
    band: float | MissingValue
    loaded_bytes: int | MissingValue
    """Kernel and initramfs, which are in memory at power on."""
    absent: Mapping[KernelName, MissingValue] = field(default_factory=dict)
    """Kernels that are not booted at all, and why."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Remedies that are not tried on this architecture, by name, each with the reason."""

    def arm(self, kernel: KernelName, name: str) -> HotspotTimings | MissingValue:
        """What was measured of an arm."""
        return self.arms.get(kernel, {}).get(name) or self.nothing(kernel, name)

    def nothing(self, kernel: KernelName, name: str) -> MissingValue:
        """Why an arm was not booted."""
        if name in self.left_out:
            return MissingValue(self.left_out[name])
        return self.absent.get(kernel, _NOT_BOOTED)

    def either(self, name: str) -> HotspotTimings | MissingValue:
        """An arm of the first kernel that has it: the distribution's own, or else the lab's."""
        arms = [self.arm(kernel, name) for kernel in KERNELS]
        return next((arm for arm in arms if isinstance(arm, HotspotTimings)), arms[-1])

    def pairs(self) -> Iterator[tuple[Remedy, HotspotTimings | MissingValue, HotspotTimings | MissingValue]]:
        """Remedies with their arms and what they are compared with, the lab's kernel first."""
        for kernel in reversed(KERNELS):
            for remedy in self.remedies.get(kernel, ()):
                yield remedy, self.arm(kernel, remedy.name), self.arm(kernel, remedy.against)


def figures_of(evidence: HotspotEvidence) -> dict[str, Figure]:
    """Every figure by its name in `claims.toml`."""
    return {
        "band": evidence.band,
        **_spots(evidence),
        **_savings(evidence),
        **_calibration(evidence),
        **_memory(evidence),
        **_roots(evidence),
        **_failures(evidence),
        **_ways(evidence),
        **_stages(evidence),
    }


def _spots(evidence: HotspotEvidence) -> dict[str, Figure]:
    """Time, share and rank of each hot spot, without self tests and tracing."""
    ranked = [spot.key for spot in evidence.spots if spot.key not in _LEFT_OUT]
    figures: dict[str, Figure] = {"rank-of": len(ranked)}
    for kernel in KERNELS:
        arm = evidence.arm(kernel, PLAIN)
        parts = derived(lambda each: each.parts.spots_ns, arm)
        base = derived(lambda each, spots: each.window.length_ns - sum(spots[key] for key in _LEFT_OUT), arm, parts)
        for key in ranked:
            own = derived(lambda spots, key=key: spots[key], parts)
            figures[f"{key}-time-{kernel}"] = own
            figures[f"{key}-share-{kernel}"] = derived(lambda part, of: part / of, own, base)
            figures[f"{key}-rank-{kernel}"] = derived(
                lambda spots, part: 1 + sum(spots[other] > part for other in ranked), parts, own
            )
    for key in ranked:
        stock, lab = (figures[f"{key}-share-{kernel}"] for kernel in KERNELS)
        figures[f"{key}-share"] = lab if isinstance(stock, MissingValue) else stock
        figures[f"{key}-here"] = _here(evidence, key, figures)
    return figures


def _name(evidence: HotspotEvidence, kernel: KernelName) -> str:
    return "the kernel asked for" if "stock" in evidence.absent else _NAMES[kernel]


def _here(evidence: HotspotEvidence, key: str, figures: Mapping[str, Figure]) -> Figure:
    """Time, share and rank of a hot spot with each kernel that was booted."""
    texts = []
    for kernel in KERNELS:
        time, share, rank = (figures[f"{key}-{what}-{kernel}"] for what in ("time", "share", "rank"))
        if isinstance(share, MissingValue):
            continue
        parts = [value_text(time, "time")] if kernel == "stock" else []
        texts.append(f"{_name(evidence, kernel)} {', '.join([*parts, value_text(share, 'share')])}, rank {rank}")
    return "; ".join(texts) or figures[f"{key}-share"]


def _savings(evidence: HotspotEvidence) -> dict[str, Figure]:
    """What each remedy saves, and what a serial line would add to it."""
    kinds = ("saved", "saved-share", "mount-saved", "line")
    figures: dict[str, Figure] = {
        f"{each.name}-{kind}": evidence.nothing("lab", each.name) for each in remedies() for kind in kinds
    }
    untried = {each.name for each in remedies()}
    for remedy, arm, beside in evidence.pairs():
        saved = derived(lambda one, other: one.window.length_ns - other.window.length_ns, beside, arm)
        known = figures[f"{remedy.name}-saved"]
        if remedy.name in untried or (isinstance(known, MissingValue) and not isinstance(saved, MissingValue)):
            untried.discard(remedy.name)
            figures[f"{remedy.name}-saved"] = saved
            figures[f"{remedy.name}-saved-share"] = derived(lambda ns, of: ns / of.window.length_ns, saved, beside)
            figures[f"{remedy.name}-mount-saved"] = derived(
                lambda one, other: one.root_mount_ns - other.root_mount_ns, beside, arm
            )
            figures[f"{remedy.name}-line"] = derived(
                lambda one, other: on_the_line_ns(one.printed.size - other.printed.size, BAUD), beside, arm
            )
    return figures


def _calls(arm: HotspotTimings | MissingValue, function: str) -> Figure:
    return derived(lambda each: each.parts.functions[function].calls if function in each.parts.functions else 0, arm)


def _total(arm: HotspotTimings | MissingValue, function: str) -> Figure:
    return derived(lambda each: each.parts.functions[function].total_ns if function in each.parts.functions else 0, arm)


def _calibration(evidence: HotspotEvidence) -> dict[str, Figure]:
    plain = evidence.either(PLAIN)
    cmos = _total(plain, "mach_get_cmos_time")
    return {
        "calibrate-delay": _total(plain, "calibrate_delay"),
        "cmos": cmos,
        "cmos-calls": _calls(plain, "mach_get_cmos_time"),
        "cmos-share": derived(lambda ns, of: ns / of.window.length_ns, cmos, plain),
        "devices-plain": _calls(evidence.arm("lab", PLAIN), "device_add"),
        "devices-few": _calls(evidence.arm("lab", "few-devices"), "device_add"),
        "proc-mount": derived(lambda each: each.mounts_ns, plain),
        "proc-mount-share": derived(
            lambda each: (
                each.mounts_ns / (each.window.length_ns + each.after_ns)
                if each.after_ns is not None
                else MissingValue("the guest was not ready")
            ),
            plain,
        ),
    }


def _memory(evidence: HotspotEvidence) -> dict[str, Figure]:
    much = evidence.either("much-memory")
    full, hidden = (derived(lambda each: each.parts.spots_ns["memory"], arm)
                    for arm in (much, evidence.either("memory-limited")))  # fmt: skip
    added = evidence.added
    return {
        "memory-full": full,
        "memory-hidden": hidden,
        "memory-thread": _total(much, "deferred_init_memmap"),
        "hidden-change": relative(hidden, full),
        "blocks-added": derived(lambda each: each.blocks, added),
        "blocks-refused": derived(lambda each: each.refused, added),
        "bytes-added": derived(lambda each: each.blocks * each.block_size, added),
        "adding": derived(lambda each: each.adding_ns + each.online_ns, added),
    }


def _roots(evidence: HotspotEvidence) -> dict[str, Figure]:
    full, hidden = (derived(lambda each: each.root_mount_ns, evidence.arm("lab", name))
                    for name in ("ext2-root", "ext2-root-limited"))  # fmt: skip
    layered = evidence.arm("lab", "layered-root")

    def stamped(first: str, last: str, arm: HotspotTimings | MissingValue) -> Figure:
        return derived(
            lambda each: (
                each.stamps[last] - each.stamps[first]
                if {first, last} <= each.stamps.keys()
                else MissingValue(f"the guest did not come to `{last}`")
            ),
            arm,
        )

    built_in, module = (_total(evidence.arm("lab", PLAIN), "loop_init"),
                        stamped("module", "loaded", evidence.arm("stock", "loop-module")))  # fmt: skip
    return {
        "ext2-mount-full": full,
        "ext2-mount-hidden": hidden,
        "ext2-mount-more": derived(lambda one, other: other - one, full, hidden),
        "cramfs-mount": derived(lambda each: each.root_mount_ns, layered),
        "overlay": stamped("layers", "layered", layered),
        "late-flash": stamped("late", "flash", layered),
        "loop-built-in": built_in,
        "loop-module": module,
        "module-moved": derived(lambda one, _: one, built_in, module),
    }


def _failures(evidence: HotspotEvidence) -> dict[str, Figure]:
    """How many remedies changed a fact that they are not meant to: a count, of the facts that were examined."""
    assessed, silent, loud, wrong, harmed, warned = set(), set(), set(), 0, 0, 0
    for remedy, arm, beside in evidence.pairs():
        if not remedy.remedy or isinstance(arm, MissingValue) or isinstance(beside, MissingValue):
            continue
        apart = remedy.meant | PASSING | {"warnings"}
        harm = any(each.fact not in apart for each in differences(arm.health, beside.health))
        warns = bool(arm.health.warnings - beside.health.warnings)
        if remedy.wrong:
            wrong, harmed, warned = wrong + 1, harmed + harm, warned + (harm and warns)
            continue
        assessed.add(remedy.name)
        if warns:
            loud.add(remedy.name)
        elif harm:
            silent.add(remedy.name)
    return {
        "assessed": len(assessed) or _NOT_BOOTED,
        "silent": len(silent) if assessed else _NOT_BOOTED,
        "loud": len(loud - silent),
        "wrong": wrong or _NOT_BOOTED,
        "harmed": harmed if wrong else _NOT_BOOTED,
        "harmed-warned": warned,
    }


def _ways(evidence: HotspotEvidence) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for way in ("graph-all", "no-profile"):
        cost = evidence.way_costs.get(way, _NOT_QUICK)
        figures[f"{way}-cost"] = _NOT_BOOTED if cost is None else derived(lambda each: each[1] / each[0], cost)
    return figures


def _windows(evidence: HotspotEvidence) -> Figure:
    arms = {kernel: evidence.arm(kernel, PLAIN) for kernel in KERNELS}
    texts = [
        f"{_name(evidence, kernel)} {value_text(arm.window.length_ns, 'time')}"
        for kernel, arm in arms.items()
        if isinstance(arm, HotspotTimings)
    ]
    return ", ".join(texts) or _NOT_BOOTED


def _stages(evidence: HotspotEvidence) -> dict[str, Figure]:
    """The boot as a whole: what is before the kernel, the kernel, and user mode."""
    plain = evidence.either(PLAIN)
    return {
        "window": derived(lambda each: each.window.length_ns, plain),
        **{
            f"window-{kernel}": derived(lambda each: each.window.length_ns, evidence.arm(kernel, PLAIN))
            for kernel in KERNELS
        },
        "window-here": _windows(evidence),
        "user-start-up": derived(
            lambda each: each.after_ns if each.after_ns is not None else MissingValue("the guest was not ready"), plain
        ),
        "boot-loader": derived(lambda each: each.window.start_ns, plain),
        "loaded": evidence.loaded_bytes,
        "loaded-sd": derived(lambda size: size * 1_000_000_000 // _SD_CARD, evidence.loaded_bytes),
    }

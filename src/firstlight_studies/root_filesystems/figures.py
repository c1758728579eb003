"""The figures that decide the claims of about 2004."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from firstlight.study import BAUD, Figure, KernelRoot, Mark, MissingValue, derived, missing_in, on_the_line_ns, relative
from firstlight_studies.root_filesystems.arms import Way, arm_name
from firstlight_studies.root_filesystems.content import SYNCED
from firstlight_studies.root_filesystems.journal import Tried
from firstlight_studies.root_filesystems.measures import FilesystemTimings
from firstlight_studies.root_filesystems.probes import Probed, Section
from firstlight_studies.root_filesystems.storage import Stored

#: Roots that are started in other ways than the plain one, the old study's own first.
_STARTED = ("cramfs-xip", "cramfs", "initramfs")
_COMPARED = (
    "cramfs", "cramfs-xip", "romfs", "jffs2", "squashfs-gzip", "squashfs-zstd", "squashfs-lz4", "erofs", "ext2",
    "ext4", "xfs", "btrfs", "f2fs", "initramfs",
)  # fmt: skip
_NOT_BOOTED = MissingValue("not booted")

Time = int | MissingValue


@dataclass(frozen=True)
class RootEvidence:
    """All that the figures are computed from."""

    arms: Mapping[str, FilesystemTimings | MissingValue]
    lpj: Time = _NOT_BOOTED
    replays: Mapping[str, dict[str, Tried] | MissingValue] = field(default_factory=dict)
    probes: Mapping[str, Probed | MissingValue] = field(default_factory=dict)
    sections: Mapping[str, Section | MissingValue] = field(default_factory=dict)
    unprofiled: Time = _NOT_BOOTED
    """From power on to ready, without a profile."""
    stored: tuple[str, Stored] = ("", MappingProxyType({}))
    """A storage that takes time, and what each kind takes from it."""
    flash: Stored = field(default_factory=dict)
    """What each file system takes from the same flash."""
    images: Mapping[str, KernelRoot | MissingValue] = field(default_factory=dict)
    band: float | MissingValue = _NOT_BOOTED
    """Relative: what a perturbation without meaning changes."""
    nothing: MissingValue = _NOT_BOOTED
    """Why an arm was not booted."""

    def arm(self, name: str) -> FilesystemTimings | MissingValue:
        """What was measured of an arm."""
        nothing = MissingValue(f"`{name}` was not booted") if self.nothing is _NOT_BOOTED else self.nothing
        return self.arms.get(name, nothing)

    def start(self, name: str) -> Time:
        """From `start_kernel` to the first program, without finding persistent memory, which is the machine's."""
        arm = self.arm(name)
        return derived(lambda each, start: start - each.device, arm, derived(lambda each: each.from_start_kernel, arm))

    def power_on(self, name: str) -> Time:
        """The same from power on."""
        arm = self.arm(name)
        return derived(lambda each, start: start - each.device, arm, derived(lambda each: each.from_power_on, arm))


def figures_of(evidence: RootEvidence) -> dict[str, Figure]:
    """Every figure by its name in `claims.toml`."""
    return {
        "band": evidence.band,
        **_ways(evidence),
        **_kinds(evidence),
        **_journals(evidence),
        **_kernel(evidence),
        **_drivers(evidence),
        **_loading(evidence),
    }


def _ways(evidence: RootEvidence) -> dict[str, Figure]:
    """Other ways to start one root."""

    def started(way: Way) -> str:
        return next((kind for kind in _STARTED if isinstance(evidence.start(arm_name(kind, way)), int)), _STARTED[0])

    preset = Way(lpj=evidence.lpj if isinstance(evidence.lpj, int) else 0)
    kind, quiet_kind = started(preset), started(Way(quiet=True))
    plain, quiet = evidence.arm(quiet_kind), evidence.arm(arm_name(quiet_kind, Way(quiet=True)))
    times = evidence.start(quiet_kind), evidence.start(arm_name(quiet_kind, Way(quiet=True)))
    fewer = derived(lambda one, other: one.console_bytes - other.console_bytes, plain, quiet)
    line = derived(lambda count: on_the_line_ns(count, BAUD), fewer)
    change = relative(evidence.start(arm_name(kind, preset)), evidence.start(kind))
    return {
        "lpj-change": derived(lambda _, change: change, evidence.lpj, change),
        "calibrate-delay": derived(lambda each: each.total("calibrate_delay"), evidence.arm(kind)),
        "quiet-change": relative(times[1], times[0]),
        "quiet-bytes": fewer,
        "quiet-line": line,
        "quiet-share": derived(lambda one, other, line: (one - other + line) / (one + line), *times, line),
    }


def _kinds(evidence: RootEvidence) -> dict[str, Figure]:
    """Roots beside one another, in memory and from storage."""
    what, stored = evidence.stored
    ram = evidence.start("ext2-ram")
    others = [start for kind in _COMPARED if isinstance(start := evidence.start(kind), int)]

    def had(kind: str, found: Stored) -> Figure:
        own = MissingValue(f"`{kind}` was not read from storage")
        nothing = own if evidence.nothing is _NOT_BOOTED else evidence.nothing
        return derived(lambda each: each.total, found.get(kind, nothing))

    def mount(kind: str) -> Figure:
        return derived(lambda each: each.mount, evidence.flash.get(kind, MissingValue(f"no `{kind}` on flash")))

    slower = derived(max, had("cramfs-flash", evidence.flash), had("romfs-flash", evidence.flash))
    return {
        "xip-change": relative(evidence.power_on("cramfs-xip"), evidence.power_on("cramfs")),
        "xip-kernel-change": relative(evidence.start("cramfs-xip"), evidence.start("cramfs")),
        "romfs-change": relative(evidence.start("romfs"), evidence.start("cramfs")),
        "storage": what or MissingValue("no storage was modelled"),
        "romfs-stored": had("romfs", stored),
        "cramfs-stored": had("cramfs", stored),
        "jffs2-flash-change": relative(had("jffs2-flash", evidence.flash), slower),
        "jffs2-flash-mount": mount("jffs2-flash"),
        "jffs2-summary-mount": mount("jffs2-summary"),
        "ubifs-mount": mount("ubifs"),
        "ram-disk": ram,
        "slower-than-ram-disk": derived(lambda own: sum(start > own for start in others), ram),
    }


def _journals(evidence: RootEvidence) -> dict[str, Figure]:
    none, clean, dirty = (evidence.start(name) for name in ("ext2", "ext4", "ext4-dirty"))
    deferred: dict[str, tuple[bool, str]] = {}
    for kind, steps in evidence.replays.items():
        if isinstance(steps, MissingValue) or not {"remount", "next"} <= steps.keys():
            continue
        done = steps["remount"].code == 0
        complete = steps["next"].synced
        text = (
            f"{kind}: the remount is {'done' if done else 'rejected'}, {complete} of {SYNCED} synced files are complete"
        )
        deferred[kind] = done and complete == SYNCED, text
    gap = missing_in(*evidence.replays.values()) or evidence.nothing
    return {
        "replay-change": relative(evidence.start("ext3-dirty"), none),
        "ext4-replay-change": relative(dirty, none),
        "replay-alone": relative(dirty, clean),
        "deferred": int(all(held for held, _ in deferred.values())) if deferred else gap,
        "deferred-text": "; ".join(text for _, text in deferred.values()) or gap,
    }


def _kernel(evidence: RootEvidence) -> dict[str, Figure]:
    """A boot as plain as that of the old study."""
    cramfs = evidence.arm("cramfs")
    plain = evidence.arm("initramfs") if isinstance(cramfs, MissingValue) else cramfs
    start = derived(lambda each: each.from_start_kernel, plain)
    recorded = derived(lambda each: each.between(Mark.POWER_ON, Mark.READY), evidence.arm("initramfs"))

    def total(function: str) -> Time:
        return derived(lambda each: each.total(function), plain)

    def calls(function: str) -> Time:
        return derived(lambda each: each.count(function), plain)

    pages, sysctl, devices = map(total, ("memblock_free_all", "__register_sysctl_table", "device_register"))
    return {
        "instrumented": derived(abs, relative(recorded, evidence.unprofiled)),
        "instrumented-ns": derived(lambda one, other: one - other, recorded, evidence.unprofiled),
        "pages": pages,
        "pages-share": derived(lambda part, of: part / of, pages, start),
        "sysctl": sysctl,
        "sysctl-calls": calls("__register_sysctl_table"),
        "devices": devices,
        "devices-calls": calls("device_register"),
        "tables-share": derived(lambda one, other, of: (one + other) / of, sysctl, devices, start),
    }


def _drivers(evidence: RootEvidence) -> dict[str, Figure]:
    found = {name: each for name, each in evidence.probes.items() if isinstance(each, Probed) and each.partitions}
    gap = missing_in(*evidence.probes.values()) or evidence.nothing
    name = next(iter(found), None)
    probe = found[name] if name is not None else gap
    with_empty, without = (evidence.probes.get(arm, evidence.nothing) for arm in ("ata_piix", "ata_piix-port-off"))
    sections = [each for name, each in evidence.sections.items() if name != "boot" and isinstance(each, Section)]
    untraced = missing_in(*evidence.sections.values()) or evidence.nothing
    longest = max(sections, key=lambda each: each.longest_ns, default=untraced)
    return {
        "probe-name": name or gap,
        "probe": derived(lambda each: each.probing, probe),
        "probe-spinning": derived(lambda each: min(1.0, each.busy / each.probing) if each.probing else 0.0, probe),
        "empty-port": derived(lambda each: each.probing, with_empty),
        "empty-port-saved": derived(lambda one, other: one.probing - other.probing, with_empty, without),
        "longest-section": derived(lambda each: each.longest_ns, longest),
        "longest-task": derived(lambda each: each.task or "a process without a name", longest),
    }


def _loading(evidence: RootEvidence) -> dict[str, Figure]:
    """Loading a larger image takes its bytes over the bandwidth; unpacking a smaller one takes instructions."""
    packed, plain = (
        evidence.images.get(kind, MissingValue(f"no image of `{kind}`")) for kind in ("erofs-lz4", "erofs")
    )
    if isinstance(packed, MissingValue):
        packed, kind = evidence.images.get("squashfs-zstd", MissingValue("no compressed image")), "squashfs-zstd"
    else:
        kind = "erofs-lz4"
    more = derived(lambda one, other: one.filled - other.filled, plain, packed)

    def until_read(kind: str) -> Time:
        return derived(
            lambda start, each: start + each, evidence.start(kind), derived(lambda arm: arm.reading, evidence.arm(kind))
        )

    unpacking = derived(lambda one, other: max(0, one - other), until_read(kind), until_read("erofs"))
    nothing = MissingValue("unpacking costs nothing")
    return {
        "extra-bytes": more,
        "unpacking": unpacking,
        "break-even": derived(
            lambda count, ns: round(count / 2**20 / (ns / 1e9), 1) if ns > 0 else nothing,
            more, unpacking,
        ),
    }  # fmt: skip

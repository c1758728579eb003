"""The study of root file systems, run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from firstlight import FirstlightError, LabError, RecordOptions
from firstlight.study import (
    Boot,
    Chart,
    KernelRoot,
    Lab,
    Mark,
    MissingValue,
    NoiseBand,
    Outcome,
    StudyArm,
    Table,
    lacks_driver,
    noise_band,
    write_modules,
)
from firstlight_studies.catalogue import ROOT_FILESYSTEMS
from firstlight_studies.root_filesystems import delayed, flash, journal, probes, storage, tables
from firstlight_studies.root_filesystems.arms import KINDS, PLAIN, ROOT_BY_ITSELF, TUNED, Roots, Way
from firstlight_studies.root_filesystems.content import FILES, write_content, write_tools
from firstlight_studies.root_filesystems.figures import RootEvidence, figures_of
from firstlight_studies.root_filesystems.measures import FilesystemTimings, Measured, lpj_of

#: Left out of a quick run: near relatives of what is in it.
_NOT_QUICK = ("cramfs-mtd", "romfs-mtd", "squashfs-gzip", "squashfs-lz4", "erofs-lz4", "btrfs", "f2fs")
_QUICK_JOURNALS = ("ext3", "ext4")
_QUICK_TUNED = ("cramfs-xip",)
_UNPROFILED, _BASELINE = "initramfs-unprofiled", "cramfs"


def run(lab: Lab) -> Outcome:
    """Boot every arm, and return what they show.

    :raises FirstlightError: when not even one arm can be booted.
    """
    session = _Session(lab)
    session.boot()
    return session.outcome()


@dataclass
class _Session:
    """One run, and what it has come to know."""

    lab: Lab
    boots: dict[str, Boot | MissingValue] = field(default_factory=dict)
    ways: tuple[Way, ...] = (PLAIN,)
    lpj: int | MissingValue = field(default_factory=lambda: MissingValue("no root was booted"))
    band: NoiseBand = field(default_factory=lambda: NoiseBand(_BASELINE, {"": MissingValue("not booted")}))

    def __post_init__(self) -> None:
        quick = self.lab.quick
        lab = self.lab
        # Where the lab's kernel is not made, the distribution's is booted: its drivers are modules.
        kernel = lab.image("kernel") if lab.has_own_kernel else None
        self.roots = Roots(kernel, write_content(lab.scratch), lab.architecture)
        self.kinds = tuple(kind for kind in KINDS if not (quick and kind in _NOT_QUICK))
        self.booted = tuple(kind for kind in self.kinds if self.roots.boots(kind))
        self.baseline = _BASELINE if self.roots.boots(_BASELINE) else self.booted[-1]
        self.images = {kind: self.roots.image(kind) for kind in self.kinds}
        self.journals = [each for each in journal.JOURNALS if not quick or each.kind in _QUICK_JOURNALS]
        self.drivers = probes.DRIVERS[:3] if quick else probes.DRIVERS
        self.models = storage.MODELS[:1] if quick else storage.MODELS

    @property
    def _stored(self) -> dict[str, KernelRoot | MissingValue]:
        found = {kind: self.images[kind] for kind in storage.KINDS if kind in self.images}
        if self.has_roots:
            return found
        return {kind: self._without_driver(kind) or image for kind, image in found.items()}

    def _without_driver(self, kind: str) -> MissingValue | None:
        driver = storage.driver_of(kind)
        return self._lacks(driver) if driver else None

    def _lacks(self, driver: str) -> MissingValue | None:
        kernel = self.roots.kernel
        if isinstance(kernel, MissingValue):
            return kernel
        return lacks_driver(kernel, driver, self.roots.architecture)

    @property
    def has_roots(self) -> bool:
        """The kernel mounts every kind of root by itself: its drivers are built in."""
        return self.roots.architecture.has_kernel_roots

    def boot(self) -> None:
        """Boot every arm: first those whose results decide how the others are booted."""
        arms = [self.roots.arm(kind) for kind in self.booted]
        plain = arms[-1].options
        arms.append(StudyArm(_UNPROFILED, replace(plain, profile=False) if isinstance(plain, RecordOptions) else plain))
        arms += self._on_persistent_memory() if self.has_roots else self._of_modules()
        self.boots = self.lab.boot_all(arms)
        if all(isinstance(boot, MissingValue) for boot in self.boots.values()):
            reasons = sorted({boot.reason for boot in self.boots.values() if isinstance(boot, MissingValue)})
            raise LabError(f"not one arm can be booted: {'; '.join(reasons)}")
        found = (boot for kind in self.booted if isinstance(boot := self.boots[kind], Boot))
        self.lpj = lpj_of(next(found, MissingValue("no root was booted")))
        self.ways = (PLAIN, Way(quiet=True))
        if isinstance(self.lpj, int):
            self.ways += (Way(lpj=self.lpj), Way(quiet=True, lpj=self.lpj))
        self.boots |= self.lab.boot_all(
            self.roots.arm(kind, way) for kind in self._started for way in self.ways[1:] if self._is_tuned(kind, way)
        )

        base = self.roots.arm(self.baseline)
        self.band = noise_band(
            self.lab, base, self.boots[self.baseline], lambda boot: FilesystemTimings(boot).from_start_kernel
        )

    def _on_persistent_memory(self) -> list[StudyArm]:
        """Everything that the guest finds in persistent memory."""
        arms = list[StudyArm]()
        dirty = journal.dirty_images(self.roots, self.lab, self.journals)
        for each in self.journals:
            arms += journal.root_arms(self.roots, each, dirty[each.kind])
            arms.append(journal.replay_arm(self.roots, each, dirty[each.kind]))
        arms += [delayed.delayed_arm(self.roots, kind, self.images[kind]) for kind in self._delayed]
        arms += [storage.storage_arm(self.roots, model, self._stored) for model in self.models]
        arms.append(flash.flash_arm(self.roots, self.images | self._flash_images(), self._flash_tools()))
        return arms + self._probing()

    def _of_modules(self) -> list[StudyArm]:
        """What a kernel with its drivers as modules can have from storage."""
        overlay = storage.bundle(self.roots, self._stored, self.lab.scratch / "bundled")
        return [storage.bundled_arm(self.roots, model, self._stored, overlay) for model in self.models]

    @property
    def _delayed(self) -> tuple[str, ...]:
        return delayed.QUICK_KINDS if self.lab.quick else delayed.KINDS

    @property
    def _started(self) -> tuple[str, ...]:
        """Kinds that are started in other ways than the plain one."""
        if not self.has_roots:
            return self.booted
        return _QUICK_TUNED if self.lab.quick else self.kinds

    def _is_tuned(self, kind: str, way: Way) -> bool:
        return way.lpj is None or self.lab.full or kind in TUNED

    def _probing(self) -> list[StudyArm]:
        kernel, arms = self.roots.kernel, list[StudyArm]()
        for driver in self.drivers:
            overlay = write_modules(
                kernel, driver.module, self.lab.scratch / f"modules-{driver.name}", dict(driver.parameters)
            )
            arms += [
                probes.probe_arm(kernel, driver, overlay),
                probes.probe_arm(kernel, driver, overlay, traced=True),
            ]
            if driver.machine is not None and not driver.variant:
                arms.append(probes.base_arm(kernel, driver))
        return arms

    def _flash_images(self) -> dict[str, KernelRoot | MissingValue]:
        """Images of kinds that a quick run does not boot from."""
        kinds = {each.kind for each in flash.MOUNTED} - self.images.keys()
        return {kind: self.roots.image(kind) for kind in sorted(kinds)}

    def _flash_tools(self) -> Path | MissingValue:
        try:
            return write_tools(self.roots.content, self.lab.scratch / "flash-tools", ["ubiattach"])
        except FirstlightError as error:
            return MissingValue(error.message)

    def outcome(self) -> Outcome:
        """What the boots show."""
        found = {name: FilesystemTimings(boot) if isinstance(boot, Boot) else boot for name, boot in self.boots.items()}
        measured = Measured(found, MissingValue("not booted in this run") if self.has_roots else ROOT_BY_ITSELF)
        stored = [(model, storage.stored(self.boots[f"storage-{model.name}"], self._stored)) for model in self.models]
        more, evidence = self._more(measured) if self.has_roots else self._nothing_more(measured)
        evidence = replace(
            evidence, lpj=self.lpj, unprofiled=self._ready_unprofiled(), stored=(self.models[0].what, stored[0][1]),
            images=self.images, band=self.band.relative,
        )  # fmt: skip
        shown: list[Table] = [
            tables.start_table(measured, self.booted),
            tables.image_table(measured, self.images, self.kinds),
            tables.ways_table(measured, self._started, self.ways),
            *more[:2],
            *(storage.storage_table(model, found) for model, found in stored),
            *more[2:],
            *tables.kd_tables(measured, self.booted),
            self.band.table(),
        ]
        charts: list[Chart] = [
            tables.start_chart(measured, self.booted),
            *(storage.storage_chart(model, found) for model, found in stored),
        ]
        return ROOT_FILESYSTEMS.outcome(
            self.lab,
            recipe=self._recipe(),
            tables=shown,
            figures=figures_of(evidence),
            charts=charts,
            notes=_NOTES if self.has_roots else _NOTES_OF_MODULES,
        )

    def _nothing_more(self, measured: Measured) -> tuple[list[Table], RootEvidence]:
        """Of a kernel without these drivers there is only the reason."""
        drivers = {each.name: self._lacks(each.module) or measured.nothing for each in self.drivers}
        untraced = MissingValue(f"the distribution's kernel has no tracer `{probes.TRACER}`")
        return [], RootEvidence(
            measured, probes=drivers, sections={"loading": untraced}, nothing=measured.nothing
        )  # fmt: skip

    def _more(self, measured: Measured) -> tuple[list[Table], RootEvidence]:
        """Tables and figures of the journals, the flash, the delays and the drivers, in this order."""
        base = measured["initramfs"]
        probed = {
            driver.name: self._probed(driver, measured.get(f"probe-{driver.module}-without", base))
            for driver in self.drivers
        }
        sections = self._sections()
        replays = {each.kind: self._replayed(each) for each in self.journals}
        on_flash = flash.flash_times(self.boots["flash"])
        shown = [
            journal.root_table(measured),
            journal.replay_table(replays),
            flash.flash_table(on_flash),
            delayed.delayed_table(measured, self._delayed),
            probes.probe_table(probed, self.drivers),
            probes.section_table(sections),
        ]
        evidence = RootEvidence(
            measured, replays=replays, probes=probed, sections=sections, flash=flash.firsts(on_flash)
        )  # fmt: skip
        return shown, evidence

    def _probed(self, driver: probes.Driver, base: FilesystemTimings | MissingValue) -> probes.Probed | MissingValue:
        boot = self.boots[f"probe-{driver.name}"]
        return boot if isinstance(boot, MissingValue) else probes.probed(boot, driver, base)

    def _sections(self) -> dict[str, probes.Section | MissingValue]:
        found: dict[str, probes.Section | MissingValue] = {}
        for driver in self.drivers:
            boot = self.boots[f"probe-{driver.name}-traced"]
            if isinstance(boot, Boot) and "boot" not in found:
                found["boot"] = probes.section(boot, "boot")
            found[f"loading {driver.name}"] = boot if isinstance(boot, MissingValue) else probes.section(boot, "load")
        return found

    def _replayed(self, each: journal.Journal) -> dict[str, journal.Tried] | MissingValue:
        boot = self.boots[f"{each.kind}-replay"]
        return boot if isinstance(boot, MissingValue) else journal.tried(boot, each)

    def _ready_unprofiled(self) -> int | MissingValue:
        boot = self.boots[_UNPROFILED]
        return boot if isinstance(boot, MissingValue) else FilesystemTimings(boot).between(Mark.POWER_ON, Mark.READY)

    def _recipe(self) -> tuple[str, ...]:
        version = next((boot.manifest.versions for boot in self.boots.values() if isinstance(boot, Boot)), {})
        return (
            f"Kernel {version.get('kernel')}, {version.get('qemu')}.",
            "Every root holds the minimal guest (Firstlight's helper as /init, busybox) and "
            f"{FILES} texts; the kernel mounts it by itself, read-only: `firstlight record --root-as KIND`.",
            "One instruction takes one nanosecond of virtual time, and memory takes none. Only the tables that name a "
            "storage have its time.",
        )


_NOTES = (
    "The lab's kernel contains tracers for the studies. Their work at boot is the same in every arm and a large part "
    "of each; the note below the first table states how much.",
    "Persistent memory answers at once. The tables of the storages show the time of storage, which image size and "
    "seeks determine.",
    "cramfs executes in place only from flash with a known physical address. phram and slram do not provide it, so "
    "the image is where the kernel's driver for mapped flash (MTD_PHYSMAP) was built to look.",
    "No tool of Debian's writes a cramfs that can be executed in place: Firstlight writes that one itself.",
)

_NOTES_OF_MODULES = (
    f"The only root here is the archive: {ROOT_BY_ITSELF.reason}. The other kinds are read from storage, in a running "
    "guest that has loaded their drivers.",
    "Journals, flash, delayed requests and drivers of disks are left out: they take persistent memory, flash or "
    "drivers that the guest does not have.",
    "The images come to the guest in its initramfs, and are laid onto the storage before anything is timed. The "
    "tables of the storages show the time of storage, which image size and seeks determine.",
)

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
    noise_band,
    write_modules,
)
from firstlight_studies.catalogue import ROOT_FILESYSTEMS
from firstlight_studies.root_filesystems import delayed, flash, journal, probes, storage, tables
from firstlight_studies.root_filesystems.arms import KINDS, PLAIN, TUNED, Roots, Way
from firstlight_studies.root_filesystems.content import FILES, write_content, write_tools
from firstlight_studies.root_filesystems.figures import RootEvidence, figures_of
from firstlight_studies.root_filesystems.measures import FilesystemTimings, lpj_of

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
        self.roots = Roots(self.lab.image("kernel"), write_content(self.lab.scratch))
        self.kinds = tuple(kind for kind in KINDS if not (quick and kind in _NOT_QUICK))
        self.images = {kind: self.roots.image(kind) for kind in self.kinds}
        self.journals = [each for each in journal.JOURNALS if not quick or each.kind in _QUICK_JOURNALS]
        self.drivers = probes.DRIVERS[:3] if quick else probes.DRIVERS
        self.models = storage.MODELS[:1] if quick else storage.MODELS

    @property
    def _stored(self) -> dict[str, KernelRoot | MissingValue]:
        return {kind: self.images[kind] for kind in storage.KINDS if kind in self.images}

    def boot(self) -> None:
        """Boot every arm: first those whose results decide how the others are booted."""
        arms = [self.roots.arm(kind) for kind in self.kinds]
        plain = arms[-1].options
        arms.append(StudyArm(_UNPROFILED, replace(plain, profile=False) if isinstance(plain, RecordOptions) else plain))
        dirty = journal.dirty_images(self.roots, self.lab, self.journals)
        for each in self.journals:
            arms += journal.root_arms(self.roots, each, dirty[each.kind])
            arms.append(journal.replay_arm(self.roots, each, dirty[each.kind]))
        arms += [delayed.delayed_arm(self.roots, kind, self.images[kind]) for kind in self._delayed]
        arms += [storage.storage_arm(self.roots, model, self._stored) for model in self.models]
        arms.append(flash.flash_arm(self.roots, self.images | self._flash_images(), self._flash_tools()))
        arms += self._probing()
        self.boots = self.lab.boot_all(arms)
        if all(isinstance(boot, MissingValue) for boot in self.boots.values()):
            reasons = sorted({boot.reason for boot in self.boots.values() if isinstance(boot, MissingValue)})
            raise LabError(f"not one arm can be booted: {'; '.join(reasons)}")
        found = (boot for kind in self.kinds if isinstance(boot := self.boots[kind], Boot))
        self.lpj = lpj_of(next(found, MissingValue("no root was booted")))
        self.ways = (PLAIN, Way(quiet=True))
        if isinstance(self.lpj, int):
            self.ways += (Way(lpj=self.lpj), Way(quiet=True, lpj=self.lpj))
        self.boots |= self.lab.boot_all(
            self.roots.arm(kind, way) for kind in self._started for way in self.ways[1:] if self._is_tuned(kind, way)
        )

        base = self.roots.arm(_BASELINE)
        self.band = noise_band(
            self.lab, base, self.boots[_BASELINE], lambda boot: FilesystemTimings(boot).from_start_kernel
        )

    @property
    def _delayed(self) -> tuple[str, ...]:
        return delayed.QUICK_KINDS if self.lab.quick else delayed.KINDS

    @property
    def _started(self) -> tuple[str, ...]:
        """Kinds that are started in other ways than the plain one."""
        return _QUICK_TUNED if self.lab.quick else self.kinds

    def _is_tuned(self, kind: str, way: Way) -> bool:
        return way.lpj is None or self.lab.full or kind in TUNED

    def _probing(self) -> list[StudyArm]:
        kernel, arms = self.roots.kernel, []
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
        measured = {
            name: FilesystemTimings(boot) if isinstance(boot, Boot) else boot for name, boot in self.boots.items()
        }
        base = measured["initramfs"]
        probed = {
            driver.name: self._probed(driver, measured.get(f"probe-{driver.module}-without", base))
            for driver in self.drivers
        }
        sections = self._sections()
        replays = {each.kind: self._replayed(each) for each in self.journals}
        stored = [(model, storage.stored(self.boots[f"storage-{model.name}"], self._stored)) for model in self.models]
        on_flash = flash.flash_times(self.boots["flash"])
        evidence = RootEvidence(
            measured, self.lpj, replays, probed, sections, self._ready_unprofiled(),
            (self.models[0].what, stored[0][1]), flash.firsts(on_flash), self.images, self.band.relative,
        )  # fmt: skip
        shown: list[Table] = [
            tables.start_table(measured, self.kinds),
            tables.image_table(measured, self.images, self.kinds),
            tables.ways_table(measured, self._started, self.ways),
            journal.root_table(measured),
            journal.replay_table(replays),
            *(storage.storage_table(model, found) for model, found in stored),
            flash.flash_table(on_flash),
            delayed.delayed_table(measured, self._delayed),
            probes.probe_table(probed, self.drivers),
            probes.section_table(sections),
            *tables.kd_tables(measured, self.kinds),
            self.band.table(),
        ]
        charts: list[Chart] = [
            tables.start_chart(measured, self.kinds),
            *(storage.storage_chart(model, found) for model, found in stored),
        ]
        return ROOT_FILESYSTEMS.outcome(
            self.lab,
            recipe=self._recipe(),
            tables=shown,
            figures=figures_of(evidence),
            charts=charts,
            notes=_NOTES,
        )

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

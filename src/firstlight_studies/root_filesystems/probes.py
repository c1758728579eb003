"""Drivers of disks, loaded in a running guest: what they wait for, and how long nothing else can run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight import RecordOptions
from firstlight.study import (
    LOAD_MODULES,
    Boot,
    Field,
    MissingValue,
    StudyArm,
    Table,
    Value,
    first_missing,
    kept_number,
    kept_text,
    stamps_of,
)
from firstlight_studies.root_filesystems.arms import TIMEOUT_WALL_S
from firstlight_studies.root_filesystems.content import KEEP
from firstlight_studies.root_filesystems.measures import FilesystemTimings

TRACER = "preemptirqsoff"
_TRACING = "/sys/kernel/tracing"
_MARK = "study probe"
_SETTLE_S = 3


@dataclass(frozen=True)
class Driver:
    """A driver that looks for disks."""

    module: str
    what: str
    said: str
    """Lines of the kernel's by which it states what it found."""
    machine: str | None = None
    """Of QEMU, that has what it drives."""
    variant: str = ""
    """What distinguishes it from the same driver with other parameters."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Of modules, by their names."""
    partitions: bool = False
    """It finds a disk, and reads its partition table."""

    @property
    def name(self) -> str:
        """Of its arms.

        >>> Driver("ata_piix", "", "", variant="port-off").name
        'ata_piix-port-off'
        """
        return "-".join(filter(None, (self.module, self.variant)))


_IDE_MACHINE = "pc-i440fx-7.2"
#: A disk in memory that answers after a tick, with two partitions.
_DISK = (("scsi_debug", "dev_size_mb=16 num_parts=2 delay=1"),)
DRIVERS = (
    Driver("scsi_debug", "SCSI, a disk with a partition table", r"scsi|sd \d+:|sd[a-z]", None, "", _DISK, True),
    Driver("ata_piix", "IDE, two channels, both empty", r"ata_piix|ata\d+", _IDE_MACHINE),
    Driver("ata_piix", "IDE, the second channel not probed", r"ata_piix|ata\d+", _IDE_MACHINE, "port-off",
           (("libata", "force=2:disable"),)),
    Driver("ahci", "AHCI, six empty ports", r"ahci|ata\d+"),
)  # fmt: skip


def _load(before: str = "", after: str = "") -> str:
    """Load the modules, with what is to be done directly before and after it."""
    return (
        f"echo '{_MARK}' >/dev/kmsg; /init stamp begin; {before} "
        f"{LOAD_MODULES}; {after} "
        f"/init stamp loaded; sleep {_SETTLE_S}; /init stamp settled"
    )


def base_arm(kernel: Path | MissingValue | None, driver: Driver) -> StudyArm:
    """A boot of the driver's own machine without the driver, where that is another than the usual one."""
    name = f"probe-{driver.module}-without"
    if isinstance(kernel, MissingValue):
        return StudyArm(name, kernel)
    options = RecordOptions(output=Path("a.boot"), kernel=kernel, machine=driver.machine, timeout_wall_s=TIMEOUT_WALL_S)
    return StudyArm(name, options)


def probe_arm(
    kernel: Path | MissingValue | None, driver: Driver, overlay: Path | MissingValue, *, traced: bool = False
) -> StudyArm:
    """One boot that loads a driver; with the kernel's tracer of sections without preemption, in an arm of its own."""
    name = f"probe-{driver.name}{'-traced' if traced else ''}"
    if isinstance(kernel, MissingValue) or isinstance(overlay, MissingValue):
        return StudyArm(name, first_missing(overlay, kernel))
    commands = [f"mkdir -p {KEEP}", _load()]
    if traced:
        keep = "cp {0}/tracing_max_latency {1}/latency-{2}; grep '^#' {0}/trace >{1}/trace-{2} || true"
        # The shell itself does both, so that no program of ours is started in between.
        zero, stop = f"echo 0 >{_TRACING}/tracing_max_latency;", f"echo 0 >{_TRACING}/tracing_on;"
        commands = [
            f"mkdir -p {KEEP}; mount -t tracefs tracefs {_TRACING} 2>/dev/null; {keep.format(_TRACING, KEEP, 'boot')}",
            f"{_load(zero, stop)}; {keep.format(_TRACING, KEEP, 'load')}",
        ]
    options = RecordOptions(
        output=Path("a.boot"),
        kernel=kernel,
        machine=driver.machine,
        overlay=overlay,
        guest_commands=tuple(commands),
        append=f"ftrace={TRACER} trace_options=nofunction-trace" if traced else "",
        profile=not traced,
        timeout_wall_s=TIMEOUT_WALL_S,
    )
    return StudyArm(name, options)


@dataclass(frozen=True)
class Probed:
    """What loading a driver took, in nanoseconds."""

    loading: int
    """Until insmod came back."""
    probing: int
    """Until the driver said the last thing of what it found."""
    busy: int
    """Of the whole boot, in the kernel's delays that spin, beyond what a boot without the driver has."""
    said: str
    partitions: bool = False


def probed(boot: Boot, driver: Driver, base: FilesystemTimings | MissingValue) -> Probed | MissingValue:
    """What a boot shows of a driver."""
    stamps = stamps_of(boot)
    if "begin" not in stamps or "settled" not in stamps:
        return MissingValue("the guest could not load the driver")
    lines = boot.log().select("time_ns", "text").drop_nulls().rows()
    last, said = stamps["loaded"], ""
    for time_ns, text in lines:
        if stamps["begin"] <= time_ns <= stamps["settled"] and re.search(driver.said, text):
            last, said = max(last, time_ns), re.sub(r"^\[ *\d+\.\d+\] ", "", text)
    busy = FilesystemTimings(boot).total("delay_tsc") - (
        0 if isinstance(base, MissingValue) else base.total("delay_tsc")
    )
    return Probed(stamps["loaded"] - stamps["begin"], last - stamps["begin"], max(0, busy), said, driver.partitions)


@dataclass(frozen=True)
class Section:
    """A stretch in which nothing else could run."""

    longest_ns: int
    began: str
    ended: str
    task: str
    """The process that ran, without its number."""


def section(boot: Boot, name: str) -> Section | MissingValue:
    """The longest section that the kernel's tracer saw."""
    latency = kept_number(boot, f"latency-{name}")
    if isinstance(latency, MissingValue):
        return MissingValue(f"the kernel's tracer `{TRACER}` left nothing")
    return read_section(latency, kept_text(boot, f"trace-{name}"))


def read_section(microseconds: int, header: str) -> Section:
    """A section from the tracer's figure and the head of its trace.

    >>> read_section(214, "#    | task: insmod-71 (uid:0)\\n#  => started at: f\\n#  => ended at:   g\\n")
    Section(longest_ns=214000, began='f', ended='g', task='insmod')
    """
    began, ended = (re.search(rf"=> {what} at:\s+(\S+)", header) for what in ("started", "ended"))
    task = re.search(r"\| task: (\S+)-\d+ ", header)
    return Section(microseconds * 1000, *(found[1] if found else "" for found in (began, ended, task)))


def probe_table(found: Mapping[str, Probed | MissingValue], drivers: Sequence[Driver]) -> Table:
    """What each driver waits for."""
    rows: list[tuple[Value, ...]] = []
    for driver in drivers:
        match found[driver.name]:
            case MissingValue() as gap:
                rows.append((driver.name, driver.what, *[gap] * 4))
            case each:
                rows.append((driver.name, driver.what, each.loading, each.probing, each.busy, each.said or None))
    return Table(
        "probes",
        "Drivers that look for disks, loaded as modules",
        (
            Field("Driver"), Field("What it finds"), Field("Loading", "time"), Field("Until its last line", "time"),
            Field("Busy waiting", "time"), Field("Its last line"),
        ),
        tuple(rows),
        ("Busy waiting: delay_tsc, beyond what a boot without the driver spins.",),
    )  # fmt: skip


def section_table(found: Mapping[str, Section | MissingValue]) -> Table:
    """The longest stretches in which nothing else could run."""
    rows: list[tuple[Value, ...]] = []
    for name, each in found.items():
        rows.append(
            (name, *[each] * 4)
            if isinstance(each, MissingValue)
            else (name, each.longest_ns, each.task, each.began, each.ended)
        )
    return Table(
        "preemption",
        "Longest section with preemption or interrupts off",
        (Field("While"), Field("Longest", "time"), Field("Process"), Field("Begins in"), Field("Ends in")),
        tuple(rows),
        (f"By the kernel's tracer {TRACER}, in a boot of its own; the tracer itself takes part of it.",),
    )

"""The study itself: disks first, then every arm, then what they say."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from firstlight import RecordOptions
from firstlight.study import (
    Extent,
    Lab,
    MissingArm,
    MissingValue,
    NoiseBand,
    Outcome,
    derived,
    memory_available,
    noise_band,
)
from firstlight_studies.catalogue import LVM_ACTIVATION
from firstlight_studies.lvm_activation.arms import MEMORY, ActivationPlan, Cell, Mode, Row, arm, guest_options, plan
from firstlight_studies.lvm_activation.changes import change_table, tracing_table
from firstlight_studies.lvm_activation.charts import charts
from firstlight_studies.lvm_activation.counted import counts_table
from firstlight_studies.lvm_activation.figures import figures_of
from firstlight_studies.lvm_activation.growth import growth_table
from firstlight_studies.lvm_activation.measured import row_title
from firstlight_studies.lvm_activation.measures import ActivationFigures, figures, versions
from firstlight_studies.lvm_activation.models import laws
from firstlight_studies.lvm_activation.tables import commands_table, measured_table, missing_rows
from firstlight_studies.lvm_activation.userspace import write_overlay
from firstlight_studies.lvm_activation.volumes import MIB_EACH, PER_DISK, Volumes, prepared_disks

#: Volumes of one boot.
_MOST = 10_000


def check(extent: Extent) -> None:
    """Refuse sizes that are not numbers of volumes.

    :raises UsageError: naming the size.
    """
    extent.counts(_MOST)


def run(lab: Lab) -> Outcome:
    """Boot every arm, and return what they show.

    :raises KeyboardInterrupt: when the user interrupts.
    """
    mode = _mode(lab)
    wanted = plan(mode, lab.extent.counts(_MOST))
    memory = lab.extent.memory or MEMORY[mode]
    guest = _guest(lab, memory)
    disks = _prepare(wanted, guest, lab)
    cells = {cell.name: cell for cell in wanted.cells()}
    available = memory_available()
    arms = {cell: arm(cell, guest, disks[cell.volumes], available) for cell in cells.values()}
    boots = lab.boot_all(arms.values())
    found: dict[Cell, ActivationFigures | MissingValue] = {}
    for name, boot in boots.items():
        found[cells[name]] = boot if isinstance(boot, MissingValue) else figures(cells[name], boot)
    came_up = (versions(boot) for boot in boots.values() if not isinstance(boot, MissingValue))
    base = _baseline(wanted)
    band = noise_band(lab, arms[base], boots[base.name], lambda boot: _active(figures(base, boot)))
    return _outcome(lab, wanted, found, next(came_up, "none came up"), memory, band)


def _baseline(wanted: ActivationPlan) -> Cell:
    """Events, groups of one, at the middle size: perturbed for the noise band."""
    row: Row = ("event", "groups")
    sizes = wanted.rows[row]
    return Cell(row[0], Volumes(sizes[len(sizes) // 2], row[1]))


def _active(found: ActivationFigures | MissingValue) -> int | MissingValue:
    return derived(lambda each: each.active_ns, found)


def _mode(lab: Lab) -> Mode:
    return "quick" if lab.quick else "full" if lab.full else "ordinary"


def _guest(lab: Lab, memory: str) -> RecordOptions | MissingValue:
    kernel, rootfs = lab.image("kernel"), lab.image("debian-storage")
    if isinstance(kernel, MissingValue):
        return kernel
    if isinstance(rootfs, MissingValue):
        return rootfs
    return guest_options(kernel, rootfs, write_overlay(lab.scratch / "overlay"), memory)


def _prepare(
    wanted: ActivationPlan, guest: RecordOptions | MissingValue, lab: Lab
) -> dict[Volumes, tuple[Path, ...] | MissingValue]:
    """The disks of every number and layout, made by as many guests at once as there is room for."""
    if isinstance(guest, MissingValue):
        return dict.fromkeys(wanted.volumes(), guest)
    fresh = lab.fresh
    names = {f"disks-{volumes.layout}-{volumes.count}": volumes for volumes in wanted.volumes()}
    makers = {name: partial(prepared_disks, volumes, guest, fresh=fresh) for name, volumes in names.items()}
    made = lab.prepare_all(makers, guest)
    return {volumes: made[name] for name, volumes in names.items()}


def _outcome(
    lab: Lab,
    wanted: ActivationPlan,
    found: dict[Cell, ActivationFigures | MissingValue],
    booted: str,
    memory: str,
    band: NoiseBand,
) -> Outcome:
    measured: dict[Row, dict[int, ActivationFigures | MissingValue]] = {}
    for (setting, layout), sizes in wanted.rows.items():
        measured[setting, layout] = {size: found[Cell(setting, Volumes(size, layout))] for size in sizes}
    grown = {
        row: laws({size: each for size, each in by_size.items() if isinstance(each, ActivationFigures)})
        for row, by_size in measured.items()
    }
    known = {missing.reason for missing in lab.missing}
    lab.missing += [MissingArm(what, reason) for what, reason in missing_rows(measured) if reason not in known]
    return LVM_ACTIVATION.outcome(
        lab,
        recipe=_recipe(wanted, booted, memory),
        tables=(
            measured_table(measured, "times"),
            measured_table(measured, "files"),
            measured_table(measured, "memory"),
            commands_table(measured),
            replace(change_table(measured), band_ns=band.width_ns),
            band.table(),
            counts_table(measured),
            growth_table(grown),
            *([tracing_table({cell: found[cell] for cell in wanted.untraced}, measured)] if wanted.untraced else []),
        ),
        figures={**figures_of(measured), "band": band.relative},
        charts=charts(measured),
        notes=_NOTES,
    )


def _recipe(wanted: ActivationPlan, booted: str, memory: str) -> tuple[str, ...]:
    return (
        f"The lab's kernel and a small Debian ({booted}), exact mode, one processor, {memory} of memory.",
        *(f"N = {sizes}: {'; '.join(settings)}." for sizes, settings in _by_sizes(wanted).items()),
        f"A physical volume is a partition of {MIB_EACH} MiB (GPT, at most {PER_DISK} on a disk) of a disk in "
        "persistent memory; lvm2 itself made them in a preparing boot without udev and lvm2-monitor.service, so they "
        "exist before the measured boot.",
        "Each physical volume has one logical volume of one extent (64 KiB), so N of them become active in both "
        "layouts. A unit that needs the devices of all of them notes the instant at which it starts.",
        "Userspace of the measured boot consists of udev (with events for existing block devices), the journal, lvm2 "
        "with lvm2-monitor.service, and few other programs. Rules and units are those of the distribution, but no "
        "unit has a timeout, and most of systemd's generators are left out. lvm2's settings are in lvmlocal.conf and "
        "in its devices file.",
    )


def _by_sizes(wanted: ActivationPlan) -> dict[str, list[str]]:
    """What is booted, by its sizes."""
    found: dict[str, list[str]] = {}
    for row, sizes in wanted.rows.items():
        found.setdefault(", ".join(f"{size:,}" for size in sizes), []).append(row_title(row))
    return {sizes: [title.replace("; ", ", ") for title in titles] for sizes, titles in found.items()}


_NOTES = (
    "lvm2 2.03.16 no longer has a static activation of its own. The study's static unit is `vgchange -aay` after "
    "systemd-udev-settle.service, with global/event_activation=0, like those that the generator of lvm2 wrote up "
    "to 2.03.14.",
    "The versions of lvm2 in the study of 2021 are gone with their distributions. The comparison covers the direction "
    "and the form, not seconds.",
    "With one processor, processes that would run in parallel on several run in turns here.",
    "lvm2-monitor.service, which the distribution starts early, examines all devices in every arm, also in that of "
    "events. Its process and its memory are counted, but not the files that it opens.",
)

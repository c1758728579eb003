"""The facts of each arm, and what each remedy breaks of them."""

from __future__ import annotations

from firstlight.study import Field, MissingValue, Table, Value, missing_row
from firstlight_studies.kernel_hotspots.differences import differences
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import KERNELS
from firstlight_studies.kernel_hotspots.remedy_tables import Arms, Remedies, tried

_FIELDS = (
    Field("Remedy"), Field("Kernel"), Field("Loops per jiffy", "count"), Field("Clock source"),
    Field("Clock event device"), Field("High resolution"), Field("Memory", "bytes"),
    Field("Devices on a bus", "count"), Field("Block devices", "count"), Field("Terminals", "count"),
    Field("Warnings", "count"), Field("Mounts", "count"), Field("Hash entries", "count"),
    Field("Sleep of 100 ms", "time"), Field("Mean short delay", "time"), Field("Differs as meant"),
    Field("Differs besides"),
)  # fmt: skip
#: A remedy may break what none of the columns shows.
NOTHING = "nothing of these facts"


def health_table(arms: Arms, remedies: Remedies) -> Table:
    """The facts of each arm, and which of them differ from those of the arm beside it."""
    rows: list[tuple[Value, ...]] = []
    for kernel in (each for each in KERNELS if arms[each]):
        plain = arms[kernel].get("plain", MissingValue("not booted in this run"))
        rows.append(_row("none", kernel, plain, "", ""))
    for kernel, remedy, found, beside in tried(arms, remedies):
        as_meant: Value
        besides: Value
        if isinstance(found, MissingValue):
            as_meant, besides = None, found
        elif isinstance(beside, MissingValue):
            as_meant, besides = None, beside
        else:
            all_of_them = differences(found.health, beside.health)
            as_meant = "; ".join(each.said for each in all_of_them if each.fact in remedy.meant)
            besides = "; ".join(each.said for each in all_of_them if each.fact not in remedy.meant) or NOTHING
        rows.append(_row(remedy.title, kernel, found, as_meant, besides))
    below = (
        "Facts of the bundle at ready. A sleep and the mean of the kernel's short delays (udelay) are measured in "
        "virtual time from outside, so a wrong clock or calibration is visible there.",
        "Block devices and terminals: entries of /sys/class/block and /sys/class/tty. Clock event device: the source "
        "of the first processor's ticks. High resolution: whether timers end between two ticks. A kernel switches to "
        "that some time after its start, and a guest may be ready earlier, so the column is shown but no finding uses "
        "it.",
        "Differs as meant: the change that the remedy is meant to make. Facts without a column are not examined.",
        "Loops per jiffy differ when they change by more than a hundredth, memory by more than a two-hundredth, "
        "sleep and delays by more than a twentieth.",
    )
    return Table("health", "What each remedy breaks", _FIELDS, tuple(rows), below)


def _row(
    title: str, kernel: str, found: HotspotTimings | MissingValue, as_meant: Value, besides: Value
) -> tuple[Value, ...]:
    if isinstance(found, MissingValue):
        return (title, kernel, *missing_row(found, len(_FIELDS) - 2))
    health, probed = found.health, found.health.probed
    delay = round(health.delay[1] / health.delay[0]) if health.delay and health.delay[0] else None
    high = None if probed.high_resolution is None else "on" if probed.high_resolution else "off"
    return (
        title, kernel, _known(health.lpj), _known(health.clock_source), _known(probed.clock_event), _known(high),
        _known(health.memory), len(health.devices), _known(probed.block_devices), _known(probed.terminals),
        len(health.warnings), len(health.mounts), _known(health.hash_entries), _known(probed.slept_ns), _known(delay),
        as_meant, besides,
    )  # fmt: skip


def _known(value: str | int | None) -> Value:
    return MissingValue("the guest did not report it") if value is None else value

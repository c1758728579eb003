"""How much there is to initialise: memory that comes later, and devices that were not asked for."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Boot, Field, MissingValue, Table, Value, first_missing, missing_row
from firstlight_studies.kernel_hotspots.devices import POPULATIONS
from firstlight_studies.kernel_hotspots.guest import added_memory
from firstlight_studies.kernel_hotspots.measured import HotspotTimings

#: The arms of the table of memory, as the remedies name them.
MEMORY_ARMS = ("plain", "much-memory", "memory-limited", "memory-added")

_MEMORY_FIELDS = (
    Field("Arm"), Field("Memory at ready", "bytes"), Field("Memory's part", "time"), Field("Window", "time"),
    Field("Blocks added", "count"), Field("Blocks rejected", "count"), Field("Adding", "time"),
    Field("Onlining", "time"), Field("Window and adding", "time"),
)  # fmt: skip


def memory_table(
    arms: Mapping[str, HotspotTimings | MissingValue], titles: Mapping[str, str], added: Boot | MissingValue
) -> Table:
    """What memory costs at the start, and what it costs to let it come later.

    :param added: the boot whose guest added the rest.
    """
    later = added if isinstance(added, MissingValue) else added_memory(added)
    rows: list[tuple[Value, ...]] = []
    for name in MEMORY_ARMS:
        if name not in arms:
            continue
        found, title = arms[name], titles.get(name, name)
        if isinstance(found, MissingValue):
            rows.append((title, *missing_row(found, 8)))
            continue
        window, memory = found.window.length_ns, found.health.memory
        total: Value = memory if memory is not None else MissingValue("the guest did not report it")
        row: tuple[Value, ...] = (title, total, found.parts.spots_ns["memory"], window)
        if name != "memory-added":
            rows.append((*row, None, None, None, None, window))
        elif isinstance(later, MissingValue):
            rows.append((*row, *missing_row(later, 5)))
        else:
            cost = later.adding_ns + later.online_ns
            rows.append((*row, later.blocks, later.refused, later.adding_ns, later.online_ns, window + cost))
    below = (
        "`mem=` withholds the rest from the kernel. When user mode runs, the guest adds each block of it and brings "
        "it online. A block with memory that the firmware reserves is rejected or not added.",
    )
    return Table("memory", "Memory at the start, and later", _MEMORY_FIELDS, tuple(rows), below)


_DEVICE_FIELDS = (
    Field("Devices"), Field("Number", "count"), Field("Word"), Field("Window", "time"), Field("Change", "change"),
    Field("Each", "change"), Field("Change in resource initialisation", "change"),
    Field("Devices registered", "count"), Field("Until ready", "change"),
)  # fmt: skip


def device_table(arms: Mapping[str, HotspotTimings | MissingValue], *, quick: bool) -> Table:
    """What a kernel takes for devices that it makes ahead of any need."""
    plain = arms.get("plain", MissingValue("not booted in this run"))
    rows: list[tuple[Value, ...]] = []
    for population in POPULATIONS:
        for count in sorted({population.usual, *population.chosen(quick=quick)}):
            usual = count == population.usual
            found = plain if usual else arms.get(population.arm(count), MissingValue("not booted in this run"))
            head = (population.title, count, "as it is" if usual else f"{population.word}={count}")
            if isinstance(found, MissingValue) or isinstance(plain, MissingValue):
                gap = first_missing(found, plain)
                rows.append((*head, *missing_row(gap, 6)))
                continue
            rows.append((*head, *_device_row(found, plain, count - population.usual)))
    below = (
        "Each: the change divided by the difference in their number. Registered: calls of device_add in the window.",
    )
    return Table("devices", "The cost of unrequested devices", _DEVICE_FIELDS, tuple(rows), below)


def _device_row(found: HotspotTimings, plain: HotspotTimings, more: int) -> tuple[Value, ...]:
    registered = found.parts.functions.get("device_add")
    change = found.window.length_ns - plain.window.length_ns
    after = None if found.after_ns is None or plain.after_ns is None else change + found.after_ns - plain.after_ns
    return (
        found.window.length_ns,
        change if more else None,
        round(change / more) if more else None,
        found.parts.spots_ns["resources"] - plain.parts.spots_ns["resources"] if more else None,
        registered.calls if registered is not None else 0,
        after if more else None,
    )

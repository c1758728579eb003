"""The tables of what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.study import Field, MissingValue, Table, Value, missing_row
from firstlight_studies.lvm_activation.measured import Measured, programs_by_size, row_title
from firstlight_studies.lvm_activation.models import QUANTITIES, Where
from firstlight_studies.lvm_activation.programs import Command

_TITLES: dict[Where, str] = {
    "times": "Activation by the number of physical volumes N: time and processes",
    "files": "Activation by the number of physical volumes N: files opened",
    "memory": "Activation by the number of physical volumes N: memory",
}
_BELOW: dict[Where, tuple[str, ...]] = {
    "times": (
        "Times are virtual time from power on. Own computing is the time of the program and its libraries in user "
        "mode, without the kernel's work for it; all processes called lvm, or systemd, together.",
        "Processes: all of lvm2, including that of lvm2-monitor.service. One processor; udev runs as many workers at "
        "once as its defaults allow with this memory.",
    ),
    "files": (
        "Files that processes of lvm2 opened, without that of lvm2-monitor.service, which examines all devices in "
        "every arm: all files; lvm2's own notes of arrived volumes (/run/lvm/pvs_online), udev's database "
        "(/run/udev/data) and sysfs, on average and by the process that opened most.",
    ),
    "memory": (
        "Memory of lvm2: the anonymous pages of all its processes together, at the instant of the maximum. All "
        "services, and udev's: the memory that the kernel charged to their control groups, with page cache.",
    ),
}


def measured_table(measured: Measured, where: Where) -> Table:
    """Everything of one kind that was measured."""
    quantities = [each for each in QUANTITIES if each.where == where]
    fields = (Field("Setting"), Field("N", "count"), *(Field(each.title, each.kind) for each in quantities))
    rows: list[tuple[Value, ...]] = []
    for row, by_size in measured.items():
        for size, figures in sorted(by_size.items()):
            head = (row_title(row), size)
            if isinstance(figures, MissingValue):
                rows.append((*head, *missing_row(figures, len(quantities))))
            else:
                rows.append((*head, *(_value(each.of(figures)) for each in quantities)))
    return Table(f"measured-{where}", _TITLES[where], fields, tuple(rows), _BELOW[where])


def _value(value: float | MissingValue | None) -> Value:
    return round(value, 3) if isinstance(value, float) else value


def commands_table(measured: Measured) -> Table:
    """What processes that were asked to do the same did, at the largest size of each setting."""
    fields = (
        Field("Setting"), Field("N", "count"), Field("Asked to do"), Field("Processes", "count"),
        Field("Files opened by each", "number"), Field("of lvm2's notes", "number"),
        Field("of udev's database", "number"), Field("in sysfs", "number"), Field("Memory of the largest", "bytes"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for row in measured:
        by_size = programs_by_size(measured, row)
        for size in list(by_size)[-1:]:
            rows += [(row_title(row), size, *_command(each)) for each in by_size[size].commands]
    below = (
        "`pvscan` examines the new volume, within udev's rules. `vgchange -aay` activates: one group for events, all "
        "for the static unit. `vgchange --monitor` is lvm2-monitor.service. Files: on average.",
    )
    return Table("commands", "What a process of lvm2 does at the largest N", fields, tuple(rows), below)


def _command(command: Command) -> tuple[Value, ...]:
    counts = (command.opened, command.online, command.udev_database, command.sysfs)
    return (
        command.words,
        command.count,
        *(round(each / command.count, 3) for each in counts),
        command.memory_most,
    )


def missing_rows(measured: Measured) -> Sequence[tuple[str, str]]:
    """What has no figures, and why."""
    return [
        (f"{row_title(row)}, N = {size:,}", figures.reason)
        for row, by_size in measured.items()
        for size, figures in sorted(by_size.items())
        if isinstance(figures, MissingValue)
    ]

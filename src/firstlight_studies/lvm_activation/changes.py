"""Tables of two arms side by side: what a setting changes, and what the kernel's notes cost."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Field, MissingValue, Table, Value
from firstlight_studies.lvm_activation.arms import BY_KEY, Cell, Row
from firstlight_studies.lvm_activation.measured import Measured, largest, row_title
from firstlight_studies.lvm_activation.measures import ActivationFigures


def change_table(measured: Measured) -> Table:
    """What each setting changes against the one that it alters, at the largest size that both came up with."""
    fields = (
        Field("Setting"), Field("Against"), Field("N", "count"), Field("Last volume active", "change"),
        Field("Relative", "percent"), Field("Settled", "change"), Field("Settled, relative", "percent"),
        Field("Memory of lvm2", "percent"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for row, by_size in measured.items():
        setting = BY_KEY[row[0]]
        other = (setting.against if setting.against != setting.key else "event", row[1])
        if setting.key == "event" or other not in measured:
            continue
        size = largest(by_size, measured[other])
        if size is None:
            rows.append(
                (row_title(row), row_title(other), *(MissingValue("no size came up with both") for _ in fields[2:]))
            )
            continue
        rows.append((row_title(row), row_title(other), size, *_changes(by_size[size], measured[other][size])))
    return Table("change", "What a setting changes at the largest N", fields, tuple(rows))


def _changes(now: ActivationFigures | MissingValue, then: ActivationFigures | MissingValue) -> tuple[Value, ...]:
    assert isinstance(now, ActivationFigures)
    assert isinstance(then, ActivationFigures)
    active: tuple[Value, Value] = (None, None)
    if now.active_ns is not None and then.active_ns:
        active = (now.active_ns - then.active_ns, now.active_ns / then.active_ns - 1)
    memory: Value = None
    if not isinstance(now.programs, MissingValue) and not isinstance(then.programs, MissingValue):
        memory = now.programs.memory / max(1, then.programs.memory) - 1
    settled = (now.settled_ns - then.settled_ns, now.settled_ns / then.settled_ns - 1)
    return (*active, *settled, memory)


def tracing_table(untraced: Mapping[Cell, ActivationFigures | MissingValue], measured: Measured) -> Table:
    """What it costs a boot that the kernel notes what lvm2's programs do."""
    fields = (
        Field("Setting"), Field("N", "count"), Field("Without notes", "time"), Field("With notes", "time"),
        Field("Notes cost", "change"), Field("Relative", "percent"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for cell, plain in untraced.items():
        row: Row = (cell.setting, cell.volumes.layout)
        noted = measured[row][cell.volumes.count]
        values: tuple[Value, ...]
        if (
            isinstance(plain, MissingValue)
            or isinstance(noted, MissingValue)
            or not plain.active_ns
            or not noted.active_ns
        ):
            gap = (
                plain
                if isinstance(plain, MissingValue)
                else noted
                if isinstance(noted, MissingValue)
                else MissingValue("nothing active")
            )
            values = (gap,) * 4
        else:
            extra = noted.active_ns - plain.active_ns
            values = (plain.active_ns, noted.active_ns, extra, extra / plain.active_ns)
        rows.append((row_title(row), cell.volumes.count, *values))
    below = (
        "The counts of files and processes and the memory of each come from the kernel's own trace (a probe at "
        "vfs_open, and its events of memory and processes). It is on in every arm except these.",
    )
    return Table("notes", "What the kernel's notes cost: until the last volume is active", fields, tuple(rows), below)

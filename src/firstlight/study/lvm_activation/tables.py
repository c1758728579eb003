"""The study's tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstlight.study.lvm_activation.arms import BY_KEY, LAYOUT_TITLES, Cell, Row
from firstlight.study.lvm_activation.laws import FAR, QUANTITIES, Law
from firstlight.study.lvm_activation.measures import Figures
from firstlight.study.table import Chart, Field, Hole, Series, Table, Value

Measured = Mapping[Row, Mapping[int, Figures | Hole]]
"""By setting and layout, by the number of physical volumes."""

_MEASURED_BELOW = (
    "Times are virtual time from power on. One processor; udev runs as many workers at once as its defaults allow with "
    "this memory.",
    "Memory of lvm2: what its processes had for themselves (anonymous pages), all together, at the instant when that "
    "was most; udev's service and all services: what the kernel charged their control groups with, with page cache.",
    "Files: what processes of lvm2 opened of udev's database (/run/udev/data) and in sysfs, on average and by the one "
    "that opened most.",
)


def row_title(row: Row) -> str:
    """A setting and a layout, for people.

    >>> row_title(("event", "group"))
    'events; one group of N'
    """
    return f"{BY_KEY[row[0]].title}; {LAYOUT_TITLES[row[1]]}"


def measured_table(measured: Measured) -> Table:
    """Everything that was measured."""
    fields = (
        Field("Setting"), Field("N", "count"), *(Field(each.title, each.kind) for each in QUANTITIES),
        Field("udev's service, peak", "bytes"),
    )  # fmt: skip
    rows = []
    for row, by_size in measured.items():
        for size, figures in sorted(by_size.items()):
            head: tuple[Value, ...] = (row_title(row), size)
            if isinstance(figures, Hole):
                rows.append((*head, *(figures for _ in fields[2:])))
            else:
                rows.append((*head, *(each.of(figures) for each in QUANTITIES), figures.udev_memory))
    return Table("measured", "Activation by the number of physical volumes N", fields, tuple(rows), _MEASURED_BELOW)


def law_tables(found: Mapping[Row, Mapping[str, Law | Hole | None]]) -> tuple[Table, ...]:
    """One table for each quantity: the law of each setting, its exponent, its check and what it predicts."""
    return tuple(_law_table(number, found) for number in range(len(QUANTITIES)))


def _law_table(number: int, found: Mapping[Row, Mapping[str, Law | Hole | None]]) -> Table:
    quantity = QUANTITIES[number]
    kind = quantity.kind
    fields = (
        Field("Setting"), Field("Law"), Field("Certainty"), Field("Exponent", "number"),
        Field("Exponent of the growth", "number"), Field("least", "number"), Field("most", "number"),
        Field("Largest N", "count"), Field("Measured there", kind), Field("Predicted from the others", kind),
        Field("Error", "percent"), Field(f"At {FAR:,}, from", kind), Field("to", kind),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for row, by_key in found.items():
        law = by_key[quantity.key]
        if law is None:
            continue
        if isinstance(law, Hole):
            rows.append((row_title(row), law, *(None for _ in fields[2:])))
        else:
            rows.append((row_title(row), *_law_values(law)))
    below = (
        "Exponent: that of the whole over the larger half of the sizes; of the growth: of what lies above the smallest "
        "size, over what the size is above it, with the least and the most between neighbouring sizes. Every figure is "
        "exact: what the law leaves over is no noise.",
        f"The check: the largest N left out, the same law fitted to the others, and asked for it. {FAR:,} is far "
        "beyond what is measured: the band is that of all laws that the figures leave open, no single one is promised.",
    )
    return Table(f"law-{quantity.key}", f"How it grows: {quantity.title}", fields, tuple(rows), below)


def _law_values(law: Law) -> tuple[Value, ...]:
    study, left, growth, far = law.study, law.study.left_out, law.study.growth_exponent, law.far
    whole = law.quantity.kind in ("time", "count", "bytes")

    def figure(value: float) -> Value:
        return round(value) if whole else round(value, 6)

    exponents: tuple[Value, ...] = (
        round(study.exponent.value, 4) if study.exponent else None,
        *((round(each, 4) for each in (growth.value, growth.low, growth.high)) if growth else (None, None, None)),
    )
    check: tuple[Value, ...] = (round(study.sizes[-1]), figure(study.costs[-1]), None, None)
    if left is not None:
        check = (*check[:2], figure(left.predicted), round(left.error, 6))
    beyond: tuple[Value, ...] = (None, None) if far is None else (figure(far.low), figure(far.high))
    return (study.law, study.certainty, *exponents, *check, *beyond)


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
            rows.append((row_title(row), row_title(other), *(Hole("no size came up with both") for _ in fields[2:])))
            continue
        rows.append((row_title(row), row_title(other), size, *_changes(by_size[size], measured[other][size])))
    return Table("change", "What a setting changes at the largest N", fields, tuple(rows))


def largest(one: Mapping[int, Figures | Hole], other: Mapping[int, Figures | Hole]) -> int | None:
    """The largest size that came up with both."""
    came_up = [size for size in one if not isinstance(one[size], Hole) and not isinstance(other.get(size), Hole | None)]
    return max(came_up, default=None)


def _changes(now: Figures | Hole, then: Figures | Hole) -> tuple[Value, ...]:
    assert isinstance(now, Figures)
    assert isinstance(then, Figures)
    active: tuple[Value, Value] = (None, None)
    if now.active_ns is not None and then.active_ns:
        active = (now.active_ns - then.active_ns, now.active_ns / then.active_ns - 1)
    memory: Value = None
    if not isinstance(now.programs, Hole) and not isinstance(then.programs, Hole):
        memory = now.programs.memory / max(1, then.programs.memory) - 1
    settled = (now.settled_ns - then.settled_ns, now.settled_ns / then.settled_ns - 1)
    return (*active, *settled, memory)


def tracing_table(untraced: Mapping[Cell, Figures | Hole], measured: Measured) -> Table:
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
        if isinstance(plain, Hole) or isinstance(noted, Hole) or not plain.active_ns or not noted.active_ns:
            hole = plain if isinstance(plain, Hole) else noted if isinstance(noted, Hole) else Hole("nothing active")
            values = (hole,) * 4
        else:
            extra = noted.active_ns - plain.active_ns
            values = (plain.active_ns, noted.active_ns, extra, extra / plain.active_ns)
        rows.append((row_title(row), cell.volumes.count, *values))
    below = (
        "The counts of files and processes and the memory of each come from the kernel's own notes (a probe at "
        "vfs_open, and its events of memory and processes), which are on in every arm but these.",
    )
    return Table("notes", "What the kernel's notes cost: until the last volume is active", fields, tuple(rows), below)


def charts(measured: Measured) -> tuple[Chart, ...]:
    """Time and memory over the number of volumes."""
    return (
        _chart("active", "Until the last volume is active", "time", measured, QUANTITIES[0].key),
        _chart("memory", "Memory of lvm2's processes at most", "bytes", measured, "memory"),
    )


def _chart(key: str, title: str, kind: str, measured: Measured, quantity: str) -> Chart:
    (chosen,) = [each for each in QUANTITIES if each.key == quantity]
    series = []
    for row, by_size in measured.items():
        values = [(size, chosen.of(each)) for size, each in sorted(by_size.items()) if not isinstance(each, Hole)]
        points = tuple((float(size), float(value)) for size, value in values if isinstance(value, int | float))
        if points:
            series.append(Series(row_title(row), points))
    return Chart(key, title, "lines", "Physical volumes", title, chosen.kind, tuple(series), logarithmic=True)


def missing_rows(measured: Measured) -> Sequence[tuple[str, str]]:
    """What has no figures, and why."""
    return [
        (f"{row_title(row)}, N = {size:,}", figures.reason)
        for row, by_size in measured.items()
        for size, figures in sorted(by_size.items())
        if isinstance(figures, Hole)
    ]

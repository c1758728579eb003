"""What each remedy saves, and what it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstlight.study import (
    BAUD,
    SLOW_BAUD,
    Chart,
    Field,
    MissingValue,
    Series,
    Table,
    Value,
    first_missing,
    missing_row,
    on_the_line_ns,
)
from firstlight_studies.kernel_hotspots.hotspots import HotSpot
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import KERNELS, KernelName, Remedy

Arms = Mapping[KernelName, Mapping[str, HotspotTimings | MissingValue]]
Remedies = Mapping[KernelName, list[Remedy]]

_FIELDS = (
    Field("Remedy"), Field("Kernel"), Field("Hot spot"), Field("Words"), Field("Beside"), Field("Window", "time"),
    Field("Change", "change"), Field("Change, share", "percent"), Field("Of it in its hot spot", "change"),
    Field("Until ready", "change"),
)  # fmt: skip


def tried(
    arms: Arms, remedies: Remedies
) -> Iterator[tuple[KernelName, Remedy, HotspotTimings | MissingValue, HotspotTimings | MissingValue]]:
    """Every arm with what it is held beside."""
    for kernel in KERNELS:
        for remedy in remedies[kernel]:
            nothing = MissingValue("not booted in this run")
            found = arms[kernel].get(remedy.name, nothing)
            yield kernel, remedy, found, arms[kernel].get(remedy.against, nothing)


def remedy_table(arms: Arms, remedies: Remedies, spots: tuple[HotSpot, ...]) -> Table:
    """What each remedy changes between the two marks, and until ready."""
    titles = {spot.key: spot.title for spot in spots}
    rows: list[tuple[Value, ...]] = []
    for kernel, remedy, found, beside in tried(arms, remedies):
        words = " ".join(filter(None, (remedy.words, remedy.cpu and f"cpu {remedy.cpu}", remedy.memory)))
        head = (remedy.title, kernel, titles[remedy.spot], words, remedy.against)
        if isinstance(found, MissingValue) or isinstance(beside, MissingValue):
            gap = first_missing(found, beside)
            rows.append((*head, *missing_row(gap, 5)))
            continue
        change = found.window.length_ns - beside.window.length_ns
        spot = found.parts.spots_ns[remedy.spot] - beside.parts.spots_ns[remedy.spot]
        rows.append(
            (*head, found.window.length_ns, change, change / beside.window.length_ns, spot, _until_ready(found, beside))
        )
    below = (
        "`{lpj}`: the loops per jiffy that the compared arm measured; `{khz}`: the true rate of the time stamp "
        "counter; a figure after a colon is a factor.",
        "Until ready: the change from start_kernel until the guest was ready. Without proc busybox does not find its "
        "own programs (it makes its links by /proc/self/exe), and does less until then.",
    )
    return Table("remedies", "What each remedy changes", _FIELDS, tuple(rows), below)


def _until_ready(found: HotspotTimings, beside: HotspotTimings) -> Value:
    if found.after_ns is None or beside.after_ns is None:
        return MissingValue("the guest was not ready")
    return found.window.length_ns + found.after_ns - beside.window.length_ns - beside.after_ns


def serial_table(arms: Arms, names: Mapping[str, str]) -> Table:
    """What a serial line of a stated rate would add, for the arms that print more and less.

    :param names: titles by arm.
    """
    fields = (
        Field("Arm"), Field("Kernel"), Field("Lines", "count"), Field("Bytes", "count"), Field("Window", "time"),
        Field(f"Line at {BAUD:,} baud", "time"), Field(f"Window with the line at {BAUD:,}", "time"),
        Field("Share of the line", "share"), Field(f"Line at {SLOW_BAUD:,} baud", "time"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for kernel in KERNELS:
        for name, title in names.items():
            found = arms[kernel].get(name)
            if found is None:
                continue
            if isinstance(found, MissingValue):
                rows.append((title, kernel, *missing_row(found, 7)))
                continue
            size, window = found.printed.size, found.window.length_ns
            line = on_the_line_ns(size, BAUD)
            rows.append(
                (title, kernel, found.printed.lines, size, window, line, window + line, line / (window + line),
                 on_the_line_ns(size, SLOW_BAUD))
            )  # fmt: skip
    below = (
        "Computed: bytes x 10 bits / rate, for the bytes that left the port in the window. The emulated port takes "
        "them at once. With a real port, the kernel waits while it prints.",
    )
    return Table("serial", "What a serial line would add", fields, tuple(rows), below)


def remedy_chart(arms: Arms, remedies: Remedies) -> Chart:
    """What the remedies of the lab's kernel save."""
    series = []
    for kernel in KERNELS:
        points = [
            (remedy.title, float(beside.window.length_ns - found.window.length_ns))
            for name, remedy, found, beside in tried(arms, remedies)
            if name == kernel
            and remedy.remedy
            and not isinstance(found, MissingValue)
            and not isinstance(beside, MissingValue)
        ]
        if points:
            series.append(Series(kernel, tuple(points)))
    return Chart("remedies", "What each remedy saves", "bars", "Remedy", "Saved", "time", tuple(series))
